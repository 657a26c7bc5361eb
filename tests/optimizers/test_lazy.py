"""Adam and AdaGrad against NumPy, on dense and on row-sparse gradients."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.reference import optimizers as reference
from tf_charagram.errors import ConfigError
from tf_charagram.optimizers import LazyAdagrad, LazyAdam, MomentumSgd
from tf_charagram.optimizers.registry import make_optimizer

KINDS = [
    (LazyAdam, reference.Adam, reference.LazyAdam),
    (LazyAdagrad, reference.Adagrad, reference.LazyAdagrad),
]
kinds = pytest.mark.parametrize(("optimizer_class", "dense_class", "lazy_class"), KINDS)
SHAPE = (6, 3)


def slices(rows, gradients, num_rows=SHAPE[0]):
    gradients = np.asarray(gradients, np.float32)
    shape = tf.constant([num_rows, *gradients.shape[1:]])
    return tf.IndexedSlices(tf.constant(gradients), tf.constant(rows, tf.int32), shape)


def built(optimizer, *values):
    variables = [keras.Variable(value.astype(np.float32)) for value in values]
    optimizer.build(variables)
    return variables


def every_row(rng, with_repeats):
    rows = np.arange(SHAPE[0])
    if with_repeats:
        rows = np.concatenate([rows, rng.integers(0, SHAPE[0], size=5)])
    rows = rng.permutation(rows)
    return rows, rng.normal(size=(len(rows), SHAPE[1]))


@kinds
@pytest.mark.parametrize("in_graph", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_equals_lazy_numpy_on_some_rows(optimizer_class, dense_class, lazy_class, in_graph, seed):
    """Rows are named several times, once or never; some steps name no rows."""
    rng = np.random.default_rng(seed)
    optimizer, expected = optimizer_class(0.1), lazy_class(0.1)
    w = rng.normal(size=SHAPE)
    (table,) = built(optimizer, w)

    def step(gradients, rows):
        optimizer.apply([tf.IndexedSlices(gradients, rows, tf.constant(SHAPE))], [table])

    if in_graph:
        specs = [tf.TensorSpec([None, SHAPE[1]]), tf.TensorSpec([None], tf.int32)]
        step = tf.function(step, input_signature=specs)
    for size in (3, 1, 0, 7, 2):
        rows, gradients = rng.integers(0, 5, size=size), rng.normal(size=(size, SHAPE[1]))
        w = expected.step(w, rows, gradients)
        step(tf.constant(gradients, tf.float32), tf.constant(rows, tf.int32))
        assert_allclose(table, w, rtol=1e-4, atol=1e-5)
    assert_array_equal(table.numpy()[5], w.astype(np.float32)[5])
    assert int(optimizer.iterations) == 5


@pytest.mark.parametrize(
    "options",
    [{"clipnorm": 0.5}, {"global_clipnorm": 0.5}, {"clipvalue": 0.2},
     {"gradient_accumulation_steps": 2}],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("optimizer_class", [LazyAdam, LazyAdagrad, MomentumSgd])
def test_options_of_keras_see_the_sums_of_equal_rows(optimizer_class, options):
    rng = np.random.default_rng(0)
    optimizers = [optimizer_class(0.1, **options) for _ in range(2)]
    sparse, dense = (built(optimizer, np.ones(SHAPE))[0] for optimizer in optimizers)
    for _ in range(4):
        gradient = slices(*every_row(rng, with_repeats=True))
        optimizers[0].apply([gradient], [sparse])
        optimizers[1].apply([tf.convert_to_tensor(gradient)], [dense])
    assert_allclose(sparse, dense, rtol=1e-5)


@kinds
def test_dense_gradients(optimizer_class, dense_class, lazy_class):
    rng = np.random.default_rng(0)
    optimizer, expected, w = optimizer_class(0.1), dense_class(0.1), rng.normal(size=SHAPE)
    (variable,) = built(optimizer, w)
    for _ in range(4):
        gradient = rng.normal(size=SHAPE)
        w = expected.step(w, gradient)
        optimizer.apply([tf.constant(gradient, tf.float32)], [variable])
        assert_allclose(variable, w, rtol=1e-4, atol=1e-5)


@kinds
def test_several_variables(optimizer_class, dense_class, lazy_class):
    """Two tables of one width, one of another, a bias and a kernel, each with its own state."""
    rng = np.random.default_rng(0)
    values = [rng.normal(size=shape) for shape in ((6, 3), (4, 3), (6, 2), (3,), (3, 3))]
    optimizer = optimizer_class(0.1)
    variables = built(optimizer, *values)
    expected = [lazy_class(0.1) for _ in range(3)] + [dense_class(0.1) for _ in range(2)]
    for _ in range(4):
        gradients = []
        for i, (twin, value) in enumerate(zip(expected, values, strict=True)):
            if i < 3:
                rows = rng.integers(0, len(value), size=4)
                gradient = rng.normal(size=(4, value.shape[1]))
                values[i] = twin.step(value, rows, gradient)
                gradients.append(slices(rows, gradient, len(value)))
            else:
                gradient = rng.normal(size=value.shape)
                values[i] = twin.step(value, gradient)
                gradients.append(tf.constant(gradient, tf.float32))
        optimizer.apply(gradients, variables)
        for variable, value in zip(variables, values, strict=True):
            assert_allclose(variable, value, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (0, {"beta_1": 0.7, "beta_2": 0.9, "epsilon": 0.01}),
        (1, {"initial_accumulator_value": 0.5, "epsilon": 0.01}),
    ],
)
def test_settings(kind, settings):
    optimizer_class, _, lazy_class = KINDS[kind]
    rng = np.random.default_rng(0)
    optimizer, expected = optimizer_class(0.1, **settings), lazy_class(0.1, **settings)
    w = rng.normal(size=SHAPE)
    (table,) = built(optimizer, w)
    for _ in range(3):
        rows, gradients = rng.integers(0, 6, size=4), rng.normal(size=(4, 3))
        w = expected.step(w, rows, gradients)
        optimizer.apply([slices(rows, gradients)], [table])
    assert_allclose(table, w, rtol=1e-4, atol=1e-5)


@kinds
def test_learning_rate_can_be_changed_and_config_restored(optimizer_class, dense_class, lazy_class):
    optimizer = optimizer_class(0.1)
    restored = optimizer_class.from_config(optimizer.get_config())
    assert restored.get_config() == optimizer.get_config()
    (table,) = built(optimizer, np.ones(SHAPE))
    optimizer.learning_rate = 0.0
    optimizer.apply([slices([1], np.ones((1, 3)))], [table])
    assert_array_equal(table, np.ones(SHAPE))


def test_start_of_adagrad():
    """The first step is rate * g / sqrt(start + g^2), with a start close to 0."""
    optimizer = make_optimizer("adagrad", 0.1)
    (table,) = built(optimizer, np.ones(SHAPE))
    optimizer.apply([slices([1], np.full((1, 3), 0.4))], [table])
    assert_allclose(table[1], 1.0 - 0.1, rtol=1e-5)
    assert_array_equal(table[0], 1.0)


@pytest.mark.parametrize("learning_rate", [0.0, -1.0, float("nan")])
def test_learning_rate(learning_rate):
    with pytest.raises(ConfigError, match=f"be above 0. Received: {learning_rate}"):
        make_optimizer("adam", learning_rate)


@pytest.mark.parametrize("optimizer_class", [LazyAdam, LazyAdagrad, MomentumSgd])
@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_variables_of_other_layers(optimizer_class, dtype):
    """Those of a dense layer with another policy."""
    found = []
    for kind in (dtype, "float32"):
        variable = keras.Variable(np.full((2, 2), 0.5), dtype=kind)
        optimizer = optimizer_class(0.125)
        for _ in range(2):
            optimizer.apply([tf.ones([2, 2], kind)], [variable])
        found.append(variable.numpy())
    assert found[0].dtype == dtype
    assert_allclose(*found, rtol=2e-2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"distinct_rows": "no"}, "`distinct_rows` must be True or False"),
        ({"amsgrad": True}, "LazyAdam does not support amsgrad=True"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ConfigError, match=message):
        LazyAdam(**arguments)
