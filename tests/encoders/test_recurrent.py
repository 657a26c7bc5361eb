"""Recurrent encoders over words against the slow reference."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.contracts import CONTRACTS, ragged
from tests.encoders.agreement import NUM_ROWS, ROWS, check_against_reference, check_export
from tests.reference import words as reference
from tf_charagram.encoders.averaging import WordAverage
from tf_charagram.encoders.recurrent import IdentityRnn, Lstm, Rnn
from tf_charagram.errors import ConfigError


def rnn_weights(encoder):
    cell = encoder.rnn.cell
    return {
        "W": encoder.table.table, "Wx": cell.kernel, "Wh": cell.recurrent_kernel, "b": cell.bias,
    }  # fmt: skip


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_rnn_equals_reference(activation):
    encoder = Rnn(num_rows=NUM_ROWS, dim=4, activation=activation)
    check_against_reference(encoder, rnn_weights(encoder), reference.rnn(activation))


def test_identity_rnn_equals_reference():
    encoder = IdentityRnn(num_rows=NUM_ROWS, dim=4)
    check_against_reference(encoder, rnn_weights(encoder), reference.rnn("linear", True))


@pytest.mark.parametrize("use_peepholes", [False, True])
@pytest.mark.parametrize("use_output_gate", [False, True])
def test_lstm_equals_reference(use_output_gate, use_peepholes):
    encoder = Lstm(
        num_rows=NUM_ROWS, dim=3, use_output_gate=use_output_gate, use_peepholes=use_peepholes
    )
    cell = encoder.lstm.cell
    weights = {
        "W": encoder.table.table, "Wx": cell.kernel, "Wh": cell.recurrent_kernel, "b": cell.bias,
    }  # fmt: skip
    if use_peepholes:
        weights["P"] = cell.peepholes
    check_against_reference(encoder, weights, reference.lstm(use_output_gate))


def test_identity_rnn_starts_as_the_average():
    """With the same seed, of the same word vectors."""
    embedded = [cls(num_rows=NUM_ROWS, dim=4, seed=7)(ragged(ROWS)) for cls in (IdentityRnn, WordAverage)]  # noqa: E501  # fmt: skip
    assert_allclose(*embedded, rtol=1e-5, atol=1e-8)


def test_pull_back_targets_are_the_initial_weights():
    """Of all weights but the word vectors."""
    encoder = IdentityRnn(num_rows=NUM_ROWS, dim=4)
    targets = encoder.pull_back_targets()
    weights = {weight.path: weight for weight in encoder.trainable_weights}
    assert weights.keys() - targets.keys() == {encoder.table.table.path}
    for path, target in targets.items():
        assert_array_equal(weights[path], target)
    assert sorted(np.sum(target) for target in targets.values()) == [0, 4, 4]


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(
            lambda: Rnn(num_rows=9, dim=5, activation="relu", seed=3),
            id="rnn", marks=pytest.mark.variant,
        ),
        pytest.param(
            lambda: Lstm(num_rows=9, dim=5, use_output_gate=False, seed=3),
            id="lstm", marks=pytest.mark.variant,
        ),
        pytest.param(
            lambda: Lstm(num_rows=9, dim=5, use_peepholes=False, seed=3),
            id="lstm without peepholes",
            marks=pytest.mark.variant,
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("check", CONTRACTS, ids=lambda check: check.__name__)
def test_contract_with_other_settings(make, check, tmp_path):
    check(make, 9, tmp_path)


@pytest.mark.parametrize(
    ("cls", "arguments"),
    [
        (Rnn, {}),
        pytest.param(IdentityRnn, {}, marks=pytest.mark.variant),
        pytest.param(Lstm, {}, marks=pytest.mark.variant),
        (Lstm, {"use_peepholes": False}),
    ],
)
def test_export(cls, arguments, tmp_path):
    check_export(lambda num_rows: cls(num_rows=num_rows, dim=4, **arguments), tmp_path)


@pytest.mark.parametrize(
    ("cls", "arguments", "message"),
    [
        (IdentityRnn, {"dim": 0}, "`dim` must be at least 1. Received: dim=0"),
        (Lstm, {"dim": -1}, "`dim` must be at least 1. Received: dim=-1"),
        (Rnn, {"activation": "tahn"}, r"Unknown activation 'tahn'. Did you mean 'tanh'\?"),
    ],
)
def test_errors(cls, arguments, message):
    with pytest.raises(ConfigError, match=message):
        cls(num_rows=3, **arguments)
