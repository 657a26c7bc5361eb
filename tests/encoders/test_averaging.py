"""Averages of word vectors against the slow reference."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.contracts import CONTRACTS, ragged, some_now
from tests.encoders.agreement import NUM_ROWS, check_against_reference, check_export
from tests.reference import words as reference
from tf_charagram.encoders.averaging import Dan, Projection, WordAverage
from tf_charagram.errors import ConfigError


def test_word_average_equals_reference():
    encoder = WordAverage(num_rows=NUM_ROWS, dim=4)
    check_against_reference(encoder, {"W": encoder.table.table}, reference.word_average)


@pytest.mark.parametrize("word_dim", [None, 3])
def test_projection_equals_reference(word_dim):
    encoder = Projection(num_rows=NUM_ROWS, dim=4, word_dim=word_dim)
    weights = {"W": encoder.table.table, "K1": encoder.dense.kernel, "b1": encoder.dense.bias}
    check_against_reference(encoder, weights, reference.dense_layers("linear", 1))


@pytest.mark.parametrize("word_dim", [None, 3])
@pytest.mark.parametrize("num_layers", [1, 2])
@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_dan_equals_reference(activation, num_layers, word_dim):
    encoder = Dan(
        num_rows=NUM_ROWS, dim=4, word_dim=word_dim, activation=activation, num_layers=num_layers
    )
    weights = {"W": encoder.table.table}
    for number, dense in enumerate(encoder.dense, start=1):
        weights |= {f"K{number}": dense.kernel, f"b{number}": dense.bias}
    check_against_reference(encoder, weights, reference.dense_layers(activation, num_layers))


def test_text_without_words():
    """Zeros before the affine map."""
    for cls, expected in ((WordAverage, 0.0), (Projection, 0.5), (Dan, np.tanh(0.5))):
        encoder = cls(num_rows=3, dim=2)
        if cls is not WordAverage:
            dense = encoder.dense if cls is Projection else encoder.dense[0]
            dense.bias.assign([0.5, 0.5])
        assert_allclose(encoder(ragged([[]])), np.full((1, 2), expected), rtol=1e-6)


@pytest.mark.parametrize("check", CONTRACTS, ids=lambda check: check.__name__)
def test_contract_with_two_layers(check, tmp_path):
    options = {"word_dim": 4, "activation": "relu", "num_layers": 2}
    check(lambda: Dan(num_rows=9, dim=5, seed=3, **options), 9, tmp_path)


@pytest.mark.parametrize("check", CONTRACTS, ids=lambda check: check.__name__)
def test_contract_of_a_wide_projection(check, tmp_path):
    check(lambda: Projection(num_rows=9, dim=5, word_dim=2, seed=3), 9, tmp_path)


@pytest.mark.parametrize("cls", some_now([WordAverage, Projection, Dan], Dan))
def test_export(cls, tmp_path):
    check_export(lambda num_rows: cls(num_rows=num_rows, dim=4), tmp_path)


def test_initial_weights_come_from_the_seed():
    encoders = [Dan(num_rows=5, dim=4, num_layers=2, seed=seed) for seed in (0, 0, 1)]
    for one, same, other in zip(*(encoder.weights for encoder in encoders), strict=True):
        assert_array_equal(one, same)
        assert "bias" in one.path or (one.numpy() != other.numpy()).all()
    kernels = [dense.kernel.numpy() for dense in encoders[0].dense]
    assert (kernels[0] != kernels[1]).all()


@pytest.mark.parametrize(
    ("cls", "arguments", "message"),
    [
        (WordAverage, {"dim": 0}, "`dim` must be at least 1. Received: dim=0"),
        (WordAverage, {"num_rows": 0}, "`num_rows` must be at least 1. Received: num_rows=0"),
        (Dan, {"num_layers": 3}, "`num_layers` must be 1 or 2. Received: num_layers=3"),
        (Dan, {"activation": "rleu"}, r"Unknown activation 'rleu'. Did you mean 'relu'\?"),
    ],
)
def test_errors(cls, arguments, message):
    with pytest.raises(ConfigError, match=message):
        cls(**{"num_rows": 3, **arguments})
