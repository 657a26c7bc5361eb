"""The LSTM in both directions: against the slow reference, and free of padding."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose

from tests.reference import lstm as reference
from tf_charagram.layers.bilstm import BiLstm

DIM, UNITS = 3, 2
BATCHES = {"plain": (4, 1, 5), "empty rows": (0, 4, 0, 2), "only empty": (0, 0), "none": ()}


def make(use_peepholes=False):
    layer = BiLstm(UNITS, use_peepholes=use_peepholes)
    layer.build((None, None, DIM))
    rng = np.random.default_rng(0)
    for weight in layer.weights:
        weight.assign(rng.normal(size=weight.shape))
    return layer


def batch(lengths, time=5, noise=0.0):
    """Returns inputs, with large numbers behind their ends if `noise` is, and the mask."""
    rng = np.random.default_rng(1)
    inputs = np.full((len(lengths), time, DIM), noise)
    for row, length in zip(inputs, lengths, strict=True):
        row[:length] = rng.normal(size=(length, DIM))
    mask = np.arange(time) < np.array(lengths, int)[:, None]
    return tf.constant(inputs, tf.float32), tf.constant(mask)


@pytest.mark.parametrize("use_peepholes", [False, True])
@pytest.mark.parametrize("lengths", BATCHES.values(), ids=BATCHES)
@pytest.mark.parametrize("in_graph", [False, True])
def test_equals_reference(lengths, use_peepholes, in_graph):
    layer, (inputs, mask) = make(use_peepholes), batch(lengths)
    weights = [weight.numpy() for weight in layer.weights]
    half = len(weights) // 2
    expected = np.zeros((*mask.shape, 2 * UNITS))
    for row, own, length in zip(expected, inputs.numpy(), lengths, strict=True):
        if length:
            row[:length, :UNITS] = reference.states(own[:length], *weights[:half])
            row[:length, UNITS:] = reference.states(own[:length][::-1], *weights[half:])[::-1]
    function = layer.__call__
    if in_graph:
        specs = [tf.TensorSpec([None, None, DIM]), tf.TensorSpec([None, None], tf.bool)]
        function = tf.function(layer.__call__, input_signature=specs)
    found = function(inputs, mask)
    assert found.shape == expected.shape
    assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("use_peepholes", [False, True])
@pytest.mark.parametrize("training", [False, True])
def test_padding_changes_neither_values_nor_gradients(use_peepholes, training):
    """Numbers in the padding, more padding, and other sequences in the batch."""
    layer, lengths = make(use_peepholes), (4, 0, 2)
    results = []
    for time, noise, others in ((4, 0.0, ()), (4, 50.0, ()), (9, -50.0, (9, 1))):
        inputs, mask = batch((*lengths, *others), time, noise)
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            states = layer(inputs, mask=mask, training=training)[:3, :4]
            loss = tf.reduce_sum(states**2)
        sources = [inputs, *(weight.value for weight in layer.weights)]
        slope, *others = map(tf.convert_to_tensor, tape.gradient(loss, sources))
        assert not slope[:, 4:].numpy().any()
        results.append([states, slope[:3, :4], *others])
    assert results[0][1].numpy().any()
    for found in results[1:]:
        for one, other in zip(found, results[0], strict=True):
            assert_allclose(one, other, rtol=1e-4, atol=1e-5)
