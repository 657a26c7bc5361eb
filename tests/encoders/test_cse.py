"""The convolutional sentence encoder against the slow reference."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.contracts import CONTRACTS, ragged
from tests.encoders.agreement import NUM_ROWS, check_against_reference, check_export
from tests.reference import words as reference
from tf_charagram.encoders.cse import Cse
from tf_charagram.errors import ConfigError


@pytest.mark.parametrize("widths", [(1, 2, 3), (4, 2)])
@pytest.mark.parametrize("activation", ["linear", "tanh"])
def test_equals_reference(activation, widths):
    encoder = Cse(num_rows=NUM_ROWS, dim=6, word_dim=3, activation=activation, widths=widths)
    weights = {"W": encoder.table.table}
    for width, convolution in zip(widths, encoder.filters.convolutions, strict=True):
        weights |= {f"K{width}": convolution.kernel, f"b{width}": convolution.bias}
    check_against_reference(encoder, weights, reference.cse(activation, widths))


def test_number_of_windows():
    """With all inputs zero each window gives the bias: n - h + 1 of them, at least one."""
    encoder = Cse(num_rows=2, dim=3)
    encoder.table.table.assign(np.zeros((2, 3)))
    for convolution in encoder.filters.convolutions:
        convolution.bias.assign([1.0])
    found = encoder(ragged([[], [1], [1] * 2, [1] * 3, [1] * 5]))
    assert_allclose(found, [[0, 0, 0], [1, 1, 1], [2, 1, 1], [3, 2, 1], [5, 4, 3]])


@pytest.mark.parametrize("check", CONTRACTS, ids=lambda check: check.__name__)
def test_contract_with_other_settings(check, tmp_path):
    check(
        lambda: Cse(num_rows=9, dim=4, word_dim=5, widths=(2, 5), activation="tanh", seed=3),
        9, tmp_path,
    )  # fmt: skip


def test_export(tmp_path):
    check_export(lambda num_rows: Cse(num_rows=num_rows, dim=6), tmp_path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dim": 100}, "`dim` must be a multiple of the number of filter widths, 3. Rec.*dim=100"),
        ({"word_dim": 0}, "`word_dim` must be at least 1. Received: word_dim=0"),
        ({"widths": (0, 1)}, r"`widths` must be distinct and at least 1. Received: \[0, 1\]"),
        ({"widths": (2, 2)}, r"`widths` must be distinct and at least 1. Received: \[2, 2\]"),
        ({"activation": "liner"}, r"Unknown activation 'liner'. Did you mean 'linear'\?"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ConfigError, match=message):
        Cse(num_rows=3, **arguments)
