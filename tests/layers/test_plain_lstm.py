"""The usual LSTM: as the one of this package without peepholes, and free of cuDNN's traps."""

from __future__ import annotations

import functools
import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose

from tests.variants import some_now
from tf_charagram.layers.peephole_lstm import PeepholeLSTM
from tf_charagram.layers.plain_lstm import PlainLSTM, make_lstm

DIM, UNITS = 3, 2
BATCHES = {"plain": (4, 1, 3), "empty rows": (0, 4, 0, 2), "only empty": (0, 0), "none": ()}


def layers(seed=0, **arguments):
    """Returns both layers with the same random weights, and the weights by name."""
    rng = np.random.default_rng(seed)
    found = PlainLSTM(UNITS, **arguments), PeepholeLSTM(UNITS, use_peepholes=False, **arguments)
    for layer in found:
        layer.build((None, None, DIM))
    weights = [rng.normal(size=weight.shape) for weight in found[0].weights]
    for layer in found:
        layer.set_weights(weights)
    return found


def batch(lengths, time=5, seed=1):
    """Returns inputs with noise behind their ends, and the mask."""
    inputs = np.random.default_rng(seed).normal(size=(len(lengths), time, DIM))
    mask = np.arange(time) < np.array(lengths, int)[:, None]
    return tf.constant(inputs, tf.float32), tf.constant(mask)


@functools.cache
def values_and_gradients(return_sequences, training):
    """Returns functions to the outputs of each layer and their gradients, and their graphs."""
    functions = []
    for layer in layers(return_sequences=return_sequences):

        def run(inputs, mask, layer=layer):
            with tf.GradientTape() as tape:
                tape.watch(inputs)
                outputs = layer(inputs, mask=mask, training=training)
                loss = tf.reduce_sum(outputs**2)
            sources = [inputs, *(weight.value for weight in layer.weights)]
            return [outputs, *map(tf.convert_to_tensor, tape.gradient(loss, sources))]

        specs = [tf.TensorSpec([None, None, DIM]), tf.TensorSpec([None, None], tf.bool)]
        functions += [run, tf.function(run, input_signature=specs)]
    return functions


@pytest.mark.parametrize("lengths", BATCHES.values(), ids=BATCHES)
@pytest.mark.parametrize(
    ("return_sequences", "training"),
    some_now([*itertools.product([False, True], repeat=2)], (False, False), (True, True)),
)
def test_equals_the_other_without_peepholes(lengths, return_sequences, training):
    """Values and gradients, zeros at masked steps among them, in eager mode and in a graph."""
    results = [run(*batch(lengths)) for run in values_and_gradients(return_sequences, training)]
    for found in results[:-1]:
        for one, other in zip(found, results[-1], strict=True):
            assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_cudnn_is_for_training_with_real_steps_only(monkeypatch):
    """What `keras.layers.LSTM` gets, which may take cuDNN, has a real step in every sequence."""
    seen, original = [], keras.layers.LSTM.inner_loop

    def inner_loop(self, sequences, initial_state, mask, training=False):
        seen.append(mask.numpy().tolist())
        return original(self, sequences, initial_state, mask, training)

    monkeypatch.setattr(keras.layers.LSTM, "inner_loop", inner_loop)
    layer, _ = layers()
    inputs, mask = batch((2, 0), time=3)
    assert_allclose(layer(inputs, mask=mask), layer(inputs, mask=mask, training=True), rtol=1e-6)
    assert seen == [[[True, True, False], [True, False, False]]]


@pytest.mark.parametrize("use_output_gate", [False, True])
@pytest.mark.parametrize("use_peepholes", [False, True])
def test_is_made_where_it_can_be(use_output_gate, use_peepholes):
    layer = make_lstm(4, use_output_gate=use_output_gate, use_peepholes=use_peepholes)
    assert isinstance(layer, PlainLSTM) == (use_output_gate and not use_peepholes)
