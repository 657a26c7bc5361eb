"""Convolution and pooling against the slow reference: values, gradients, masks."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose

from tests.reference import cnn as reference
from tests.reference.lstm import numerical_gradients
from tf_charagram.errors import ConfigError
from tf_charagram.layers._ops.ragged import to_padded
from tf_charagram.layers.conv_pooling import ACTIVATIONS, POOLINGS, ConvPooling

DIM = 3
WIDTHS = {3: 2, 1: 4, 2: 3}
LENGTHS = (5, 1, 0, 2, 3)


def randomized(**arguments):
    layer, rng = ConvPooling(WIDTHS, **arguments), np.random.default_rng(0)
    layer.build((None, None, DIM))
    for weight in layer.weights:
        weight.assign(rng.normal(size=weight.shape))
    return layer


def batch(lengths=LENGTHS, seed=1):
    """Returns inputs with noise behind their ends, and the mask."""
    inputs = np.random.default_rng(seed).normal(size=(len(lengths), max(lengths), DIM))
    return inputs.astype(np.float32), np.arange(max(lengths)) < np.array(lengths)[:, None]


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("in_graph", [False, True])
def test_equals_reference(pooling, activation, in_graph):
    layer = randomized(activation=activation, pooling=pooling)
    inputs, mask = batch()
    variables = [weight.value for weight in layer.weights]
    assert len(variables) == 2 * len(WIDTHS)

    def run(inputs, mask, upstream):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            outputs = layer(inputs, mask=mask)
        return outputs, tape.gradient(outputs, [inputs, *variables], output_gradients=upstream)

    def function(inputs, **weights):
        values = [*weights.values()]
        filters = [*zip(values[::2], values[1::2], strict=True)]
        return np.array(
            [
                reference.pooled(row[real], filters, activation, pooling)
                for row, real in zip(inputs, mask, strict=True)
            ]
        )

    arguments = {"inputs": inputs} | {f"w{i}": v.numpy() for i, v in enumerate(variables)}
    expected = function(**arguments)
    assert expected.shape == (len(LENGTHS), layer.num_filters)
    upstream = np.random.default_rng(2).normal(size=expected.shape)
    run = tf.function(run) if in_graph else run
    outputs, gradients = run(
        tf.constant(inputs), tf.constant(mask), tf.constant(upstream, tf.float32)
    )
    assert_allclose(outputs, expected, rtol=1e-5, atol=1e-5)
    slopes = numerical_gradients(function, arguments, upstream)
    for found, (name, slope) in zip(gradients, slopes.items(), strict=True):
        assert_allclose(found, slope, rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("lengths", [LENGTHS, (0,), ()])
def test_call_rows_equals_call(pooling, lengths):
    layer, rng = randomized(activation="tanh", pooling=pooling), np.random.default_rng(0)
    ids = tf.constant(rng.integers(1, 4, sum(lengths)), tf.int64)
    ids = tf.RaggedTensor.from_row_lengths(ids, tf.constant(lengths, tf.int64))
    padded, mask = to_padded(ids)
    rows = tf.Variable(np.pad(rng.normal(size=(3, DIM)), [(1, 0), (0, 0)]), dtype=tf.float32)
    watched = [rows, *(weight.value for weight in layer.weights)]
    found = []
    for pooled in (
        lambda: layer.call_rows(rows, padded, mask),
        lambda: layer(tf.gather(rows, padded), mask=mask),
    ):
        with tf.GradientTape() as tape:
            outputs = pooled()
        assert outputs.shape == (len(lengths), layer.num_filters)
        gradients = map(tf.convert_to_tensor, tape.gradient(outputs, watched))
        # Row 0 is the padding.
        found.append([outputs, *(g[1:] if i == 0 else g for i, g in enumerate(gradients))])
    for one, other in zip(*found, strict=True):
        assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("pooling", "expected"), [("max", [5.0, 0.0]), ("sum", [6.0, -3.0])])
def test_by_hand(pooling, expected):
    """The text -1, 2, 3 under two filters of width 2, x_t + x_{t+1} and -x_t - 1.

    The two positions give -1 + 2 = 1, 2 + 3 = 5 and 1 - 1 = 0, -2 - 1 = -3.
    """
    layer = ConvPooling([(2, 2)], pooling=pooling)
    layer.build((None, None, 1))
    layer.set_weights([np.array([[[1.0, -1.0]], [[1.0, 0.0]]]), np.array([0.0, -1.0])])
    assert_allclose(layer(tf.constant([[[-1.0], [2.0], [3.0]]])), [expected])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"widths": {}}, r"`widths` must be one or more different widths. Received: \[\]"),
        ({"widths": {0: 3}}, "`widths` must be at least 1. Received: widths=0"),
        ({"widths": {3: 0}}, "`num_filters` must be at least 1. Received: num_filters=0"),
        ({"widths": [(2, 1), (2, 1)]}, "`widths` must be one or more different widths"),
        ({"activation": "rleu"}, r"Unknown activation 'rleu'. Did you mean 'relu'\?"),
        ({"pooling": "mox"}, r"Unknown pooling 'mox'. Did you mean 'max'\? Available: max, sum."),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ConfigError, match=message):
        ConvPooling(**{"widths": WIDTHS, **arguments})
