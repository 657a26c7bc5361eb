"""charCNN and charLSTM against the slow reference, and as SavedModels."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.contracts import ragged, randomized, row_sparse
from tests.reference import cnn, lstm
from tests.reference.charagram import ACTIVATIONS as FUNCTIONS
from tf_charagram.encoders.characters import CharCnn, CharLstm
from tf_charagram.encoders.options import filter_widths
from tf_charagram.errors import ConfigError

ROWS = [[1, 3, 4, 1], [], [2], [1, 5, 5, 5, 3, 4, 1]]
NUM_ROWS = 6


def check(encoder, function, training):
    """Compares values and gradients with a function of the weights, in order."""
    arguments = {f"w{i}": weight.numpy() for i, weight in enumerate(encoder.weights)}
    expected = function(**arguments)
    upstream = np.random.default_rng(2).normal(size=expected.shape)
    _optimizer = row_sparse(encoder)
    with tf.GradientTape() as tape:
        embedded = encoder(ragged(ROWS), training=training)
    gradients = tape.gradient(
        embedded,
        [weight.value for weight in encoder.weights],
        output_gradients=tf.constant(upstream, tf.float32),
    )
    assert embedded.shape == (len(ROWS), encoder.dim)
    assert_allclose(embedded, expected, rtol=1e-5, atol=1e-6)
    assert sorted(gradients[0].indices.numpy().tolist()) == [1, 2, 3, 4, 5]
    slopes = lstm.numerical_gradients(function, arguments, upstream)
    for found, (name, slope) in zip(gradients, slopes.items(), strict=True):
        found = tf.convert_to_tensor(found)
        assert_allclose(found, slope, rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("filters", ["2:3,3:2", "1:2,5:3"])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("dense", ["tanh", "relu", "linear", "none"])
def test_char_cnn_equals_reference(filters, activation, dense):
    settings = {"filters": filters, "activation": activation, "dense": dense}
    encoder = randomized(lambda: CharCnn(num_rows=NUM_ROWS, dim=4, input_dim=3, **settings))
    assert len(encoder.weights) == (5 if dense == "none" else 7)

    def function(**weights):
        table, *values = weights.values()
        pooled = [cnn.pooled(table[row], [values[:2], values[2:4]], activation) for row in ROWS]
        if dense == "none":
            return np.array(pooled)
        return FUNCTIONS[dense][0](np.array(pooled) @ values[4] + values[5])

    check(encoder, function, training=True)


@pytest.mark.parametrize("use_output_gate", [False, True])
@pytest.mark.parametrize("use_peepholes", [False, True])
@pytest.mark.parametrize("training", [False, True])
def test_char_lstm_equals_reference(use_output_gate, use_peepholes, training):
    settings = {"use_output_gate": use_output_gate, "use_peepholes": use_peepholes}
    encoder = randomized(lambda: CharLstm(num_rows=NUM_ROWS, dim=2, input_dim=3, **settings))
    names = ["table", "kernel", "recurrent_kernel", "bias", *["peepholes"] * use_peepholes]
    assert [weight.name for weight in encoder.weights] == names

    def function(**weights):
        table, *cell = weights.values()
        cell = dict(zip(names[1:], cell, strict=True), output_gate=use_output_gate)
        return np.array(
            [lstm.states(table[row], **cell)[-1] if row else np.zeros(2) for row in ROWS]
        )

    check(encoder, function, training)


def test_filter_sets_are_the_papers():
    assert filter_widths("small") == {2: 175, 3: 175, 4: 175}
    assert filter_widths("kim") == {1: 25, 2: 50, 3: 75, 4: 100, 5: 125, 6: 150}
    assert CharCnn(num_rows=3, input_dim=2, dense="none").dim == 525


@pytest.mark.parametrize("filters", ["", "large", "3", "3:0", "0:3", "3:1,3:2", "3:1,", "3:-1"])
def test_filters_that_are_no_set(filters):
    with pytest.raises(ConfigError, match=r"`filters` must be small, kim, or width:number"):
        CharCnn(num_rows=3, filters=filters)


def test_dropout():
    """Only in training, with the expectation kept, and from the seed."""
    settings = {"filters": "2:3,3:2", "dense": "none", "dropout": 0.5}
    make = lambda: CharCnn(num_rows=NUM_ROWS, input_dim=3, **settings)  # noqa: E731
    encoder, ids = randomized(make), ragged([[1, 3, 4, 1]] * 2_000)
    plain, dropped = encoder(ids).numpy(), encoder(ids, training=True).numpy()
    assert_array_equal(plain, encoder(ids))
    kept = dropped != 0
    assert_allclose(dropped[kept], 2.0 * plain[kept], rtol=1e-6)
    assert kept[:, plain[0] > 0].mean() == pytest.approx(0.5, abs=0.05)
    assert_array_equal(randomized(make)(ids, training=True), dropped)
    assert len(encoder.weights) == 5


@pytest.mark.parametrize(
    ("cls", "arguments", "message"),
    [
        (CharCnn, {"dense": "none "}, r"Unknown dense 'none '. Did you mean 'none'\?"),
        (CharCnn, {"dropout": 1.0}, r"`dropout` must be in \[0, 1\). Received: dropout=1.0"),
        (CharLstm, {"input_dim": 0}, "`input_dim` must be at least 1. Received: input_dim=0"),
    ],
)
def test_errors(cls, arguments, message):
    with pytest.raises(ConfigError, match=message):
        cls(num_rows=3, **arguments)
