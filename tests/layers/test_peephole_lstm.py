"""The LSTM against the slow reference: values, gradients, masks."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.reference import lstm as reference
from tf_charagram.layers.peephole_lstm import PeepholeLSTM

DIM, UNITS = 3, 2
LENGTHS = (4, 1, 0, 3)
KINDS = {
    "full": {},
    "no output gate": {"use_output_gate": False},
    "no peepholes": {"use_peepholes": False},
    "neither": {"use_output_gate": False, "use_peepholes": False},
}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def kind(request):
    return request.param


def randomized(seed=0, **arguments):
    layer, rng = PeepholeLSTM(UNITS, **arguments), np.random.default_rng(seed)
    layer.build((None, None, DIM))
    for weight in layer.weights:
        weight.assign(rng.normal(size=weight.shape))
    return layer


def batch(lengths=LENGTHS, time=None, seed=1):
    """Returns inputs with noise behind their ends, and the mask."""
    time = time or max(lengths)
    inputs = np.random.default_rng(seed).normal(size=(len(lengths), time, DIM))
    return inputs.astype(np.float32), np.arange(time) < np.array(lengths)[:, None]


def reference_of(layer, mask):
    """Returns the reference as a function of inputs and weights."""
    flags = {"output_gate": layer.use_output_gate}

    def function(inputs, **weights):
        result = np.zeros((*mask.shape, UNITS))
        for row, (steps, is_real) in enumerate(zip(inputs, mask, strict=True)):
            result[row][is_real] = reference.states(steps[is_real], **weights, **flags)
        if layer.return_sequences:
            return result
        padded = np.pad(result, [(0, 0), (1, 0), (0, 0)])
        last = np.where(mask, np.arange(1, mask.shape[1] + 1), 0).max(axis=1)
        return padded[np.arange(len(padded)), last]

    return function


@pytest.mark.parametrize("return_sequences", [False, True])
@pytest.mark.parametrize("in_graph", [False, True])
def test_equals_reference(kind, return_sequences, in_graph):
    layer = randomized(return_sequences=return_sequences, **kind)
    inputs, mask = batch()
    mask[0, 1] = False  # A hole is skipped.
    variables = {weight.name: weight.value for weight in layer.weights}
    assert len(variables) == (4 if layer.use_peepholes else 3)

    def run(inputs, mask, upstream):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            outputs = layer(inputs, mask=mask)
        sources = {"inputs": inputs, **variables}
        return outputs, tape.gradient(outputs, sources, output_gradients=upstream)

    function = reference_of(layer, mask)
    arguments = {"inputs": inputs, **{name: v.numpy() for name, v in variables.items()}}
    expected = function(**arguments)
    upstream = np.random.default_rng(2).normal(size=expected.shape)
    run = tf.function(run) if in_graph else run
    outputs, gradients = run(
        tf.constant(inputs), tf.constant(mask), tf.constant(upstream, tf.float32)
    )
    assert_allclose(outputs, expected, rtol=1e-5, atol=1e-6)
    slopes = reference.numerical_gradients(function, arguments, upstream)
    for name, slope in slopes.items():
        assert_allclose(gradients[name], slope, rtol=1e-4, atol=1e-5, err_msg=name)


def test_one_step_by_hand():
    """All weights of i and f zero, so i = f = 0.5; g = 2, p_o = 4, h_0 = c_0 = 0.

    c = 0.5 * tanh(2) = 0.482014, o = sigmoid(4 c) = 0.873034, h = o * tanh(c) = 0.390993.
    """
    layer = PeepholeLSTM(1)
    layer.build((None, None, 1))
    kernel, peepholes = np.array([[0.0, 0.0, 2.0, 0.0]]), np.array([[7.0], [7.0], [4.0]])
    layer.set_weights([kernel, np.ones((1, 4)), np.zeros(4), peepholes])
    assert_allclose(layer(tf.ones([1, 1, 1])), [[0.390993]], rtol=1e-5)


def test_large_inputs_stay_finite():
    layer = randomized()
    inputs = tf.constant([[[1e30] * DIM, [-1e30] * DIM]])
    with tf.GradientTape() as tape:
        outputs = layer(inputs)
    assert np.isfinite(outputs).all()
    gradients = tape.gradient(outputs, [weight.value for weight in layer.weights])
    assert all(np.isfinite(gradient).all() for gradient in gradients)


def test_initial_weights(kind):
    """The forget gate starts open; the rest of the bias and the peepholes start at zero."""
    layers = [PeepholeLSTM(UNITS, seed=seed, **kind) for seed in (0, 0, 1)]
    for layer in layers:
        layer.build((None, None, DIM))
    layer = layers[0]
    bias = layer.bias.numpy().reshape(layer.num_blocks, UNITS)
    assert_array_equal(bias[1], 1.0)
    assert_array_equal(np.delete(bias, 1, axis=0), 0.0)
    if layer.use_peepholes:
        assert_array_equal(layer.peepholes, np.zeros((layer.num_blocks - 1, UNITS)))
    one, same, other = (layer.get_weights() for layer in layers)
    for place in (0, 1):
        assert_array_equal(one[place], same[place])
        assert (one[place] != other[place]).all()
