"""Lazy optimizers in models of Keras' own layers, in all ways in which Keras trains."""

from __future__ import annotations

import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.commands import assert_same_training, environment
from tests.reference import optimizers as reference
from tf_charagram.errors import ConfigError
from tf_charagram.optimizers import LazyAdagrad, LazyAdam

ROWS = 7
KINDS = {
    LazyAdam: (reference.LazyAdam, reference.Adam, keras.optimizers.Adam),
    LazyAdagrad: (reference.LazyAdagrad, reference.Adagrad, keras.optimizers.Adagrad),
}
variant = pytest.mark.variant
GRAPH, XLA = {"jit_compile": False}, {"jit_compile": True}


@keras.saving.register_keras_serializable(package="tests")
class OneHotEmbedding(keras.layers.Embedding):
    """An embedding with a dense gradient: Keras' optimizers are wrong about repeated rows."""

    def call(self, inputs):
        one_hot = keras.ops.one_hot(inputs, self.input_dim, dtype=self.variable_dtype)
        return keras.ops.cast(keras.ops.matmul(one_hot, self.embeddings), self.compute_dtype)


def make_model(embedding=keras.layers.Embedding, dtype=None):
    """Returns a model of two tables; two inputs, int32 and int64, share the first of them."""
    left = keras.Input((4,), dtype="int32")
    right = keras.Input((2,), dtype="int64")
    shared = embedding(ROWS, 3, mask_zero=True, dtype=dtype)
    other = embedding(ROWS, 2, dtype=dtype)
    pool = keras.layers.GlobalAveragePooling1D(dtype=dtype)
    parts = [pool(shared(left)), pool(shared(right)), pool(other(left))]
    answers = keras.layers.Dense(1, dtype=dtype)(keras.layers.Concatenate(dtype=dtype)(parts))
    model = keras.Model([left, right], answers)
    rng = np.random.default_rng(1)
    model.set_weights([rng.normal(size=variable.shape) for variable in model.weights])
    return model


def make_data(size=21, names_every_row=False):
    """Returns inputs and targets, by default for batches of 8, 8 and 5 examples."""
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, ROWS - 1, (21, 4)), rng.integers(0, ROWS - 1, (21, 2))
    left[8:16] %= 3
    right[8:16] %= 3
    # With all ids masked, a mean is not a number.
    left[:, 0], right[:, 0] = 1, 2
    if names_every_row:
        for start in (0, 8, 16):
            left[start : start + 2, :] = [[1, 2, 3, 4], [5, 6, 0, 6]]
    inputs = [left.astype(np.int32), right.astype(np.int64)]
    targets = rng.normal(size=(21, 1)).astype(np.float32)
    return [side[:size] for side in inputs], targets[:size]


def batches(data):
    inputs, targets = data
    for start in (0, 8, 16):
        rows = slice(start, start + 8)
        yield [tf.constant(side[rows]) for side in inputs], tf.constant(targets[rows])


def gradients_of(model, inputs, targets):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(inputs, training=True) - targets))
    return tape.gradient(loss, model.trainable_weights)


def slow_weights(optimizer_class, epochs=1):
    """Returns the weights after training in NumPy, which knows no graph and no slots."""
    lazy_class, dense_class, _ = KINDS[optimizer_class]
    model = make_model()
    weights = model.get_weights()
    optimizers = [lazy_class(0.1) if i < 2 else dense_class(0.1) for i in range(len(weights))]
    for inputs, targets in [*batches(make_data())] * epochs:
        gradients = gradients_of(model, inputs, targets)
        for i, gradient in enumerate(gradients):
            if isinstance(gradient, tf.IndexedSlices):
                named = gradient.indices.numpy(), gradient.values.numpy()
                weights[i] = optimizers[i].step(weights[i], *named)
            else:
                weights[i] = optimizers[i].step(weights[i], gradient.numpy())
        model.set_weights(weights)
    return weights


def fit(model, optimizer, data, how, epochs=1):
    model.compile(optimizer, "mse", **how)
    model.fit(*data, batch_size=8, epochs=epochs, shuffle=False, verbose=0)
    return model


def assert_same_weights(model, expected, rtol=1e-4, atol=2e-5):
    for found, other in zip(model.get_weights(), expected, strict=True):
        assert_allclose(found, other, rtol=rtol, atol=atol)


@pytest.mark.parametrize(
    ("optimizer_class", "how"),
    [
        (LazyAdam, GRAPH),
        (LazyAdam, XLA),
        pytest.param(LazyAdam, {"run_eagerly": True}, marks=variant),
        pytest.param(LazyAdam, {**GRAPH, "steps_per_execution": 2}, marks=variant),
        pytest.param(LazyAdam, {**XLA, "steps_per_execution": 2}, marks=variant),
        pytest.param(LazyAdagrad, GRAPH, marks=variant),
        pytest.param(LazyAdagrad, XLA, marks=variant),
    ],
)
def test_fit_equals_numpy(optimizer_class, how):
    """Rows are named several times, once or never; the last batch is smaller."""
    model = make_model()
    before = model.get_weights()
    fit(model, optimizer_class(0.1), make_data(), how, epochs=2)
    assert_same_weights(model, slow_weights(optimizer_class, epochs=2))
    for table in range(2):
        assert_array_equal(model.get_weights()[table][ROWS - 1], before[table][ROWS - 1])


@pytest.mark.parametrize("how", [None, GRAPH, pytest.param(XLA, marks=variant)], ids=str)
def test_own_training_loop(how):
    """The first step builds the optimizer; the clip, which has no effect, sums equal rows."""
    model, optimizer = make_model(), LazyAdam(0.1, clipnorm=1e6)

    def step(inputs, targets):
        gradients = gradients_of(model, inputs, targets)
        if optimizer.built:
            optimizer.apply(gradients)
        else:
            optimizer.apply(gradients, model.trainable_weights)

    step = step if how is None else tf.function(step, **how)
    for inputs, targets in batches(make_data()):
        step(inputs, targets)
    assert_same_weights(model, slow_weights(LazyAdam))


def _options():
    decay = keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)
    options = [
        {"clipnorm": 0.1, "weight_decay": 0.1, "learning_rate": decay},
        {"global_clipnorm": 0.1, "use_ema": True, "ema_momentum": 0.5},
        {"clipvalue": 0.02, "gradient_accumulation_steps": 2},
        {"use_ema": True, "ema_overwrite_frequency": 2},
    ]
    for each in options:
        name = "-".join(each)
        marks = () if each is options[0] else variant
        yield pytest.param(each, GRAPH, id=f"{name}-graph", marks=marks)
        yield pytest.param(each, XLA, id=f"{name}-xla", marks=variant)


@pytest.mark.parametrize(("options", "how"), list(_options()))
@pytest.mark.parametrize("optimizer_class", [LazyAdam, pytest.param(LazyAdagrad, marks=variant)])
def test_options_equal_keras_on_batches_that_name_every_row(optimizer_class, options, how):
    options = {"learning_rate": 0.1, **options}
    data = make_data(16, names_every_row=True)
    expected = make_model(OneHotEmbedding)
    fit(expected, KINDS[optimizer_class][2](**options), data, GRAPH)
    found = fit(make_model(), optimizer_class(**options), data, how)
    assert_same_weights(found, expected.get_weights())


@variant
@pytest.mark.parametrize("how", [GRAPH, XLA], ids=str)
def test_dynamic_loss_scale(how):
    """The first scale overflows, so that a step is left out."""
    data = make_data()
    optimizers = [
        keras.optimizers.LossScaleOptimizer(LazyAdam(0.1), initial_scale=scale)
        for scale in (1e38, 16.0)
    ]
    models = [make_model() for _ in optimizers]
    fit(models[1], optimizers[1], data, how)
    assert_same_weights(models[1], slow_weights(LazyAdam))
    before = models[0].get_weights()
    models[0].compile(optimizers[0], keras.losses.MeanSquaredError(), **how)
    inputs, targets = next(batches(data))
    models[0].train_on_batch(inputs, targets + 1e3)
    assert_same_weights(models[0], before, 0, 0)
    assert int(optimizers[0].iterations) == 0


@pytest.mark.parametrize("how", [GRAPH, pytest.param(XLA, marks=variant)], ids=str)
@pytest.mark.parametrize(
    "dtype",
    [
        "mixed_float16",
        *(pytest.param(f, marks=variant) for f in ("float16", "mixed_bfloat16", "float64")),
    ],
)
def test_policies(dtype, how):
    data = make_data(16, names_every_row=True)
    expected = fit(make_model(OneHotEmbedding), keras.optimizers.Adam(0.02), data, GRAPH)
    found = fit(make_model(dtype=dtype), LazyAdam(0.02, epsilon=1e-4), data, how)
    assert_same_weights(found, expected.get_weights(), rtol=0.03, atol=0.03)


def test_a_saved_model_trains_on(tmp_path):
    data = make_data()
    model = fit(make_model(), LazyAdam(0.1), data, GRAPH)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert type(loaded.optimizer) is LazyAdam
    for each in (model, loaded):
        each.fit(*data, batch_size=8, shuffle=False, verbose=0)
    assert int(loaded.optimizer.iterations) == 6
    for found, expected in zip(loaded.get_weights(), model.get_weights(), strict=True):
        assert_same_training(found, expected)


# Weights after training on two devices of the CPU and on one, which have to be equal.
TWO_DEVICES = """
import numpy as np, tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from tests.optimizers.test_keras_embedding import GRAPH, fit, make_data, make_model
from tf_charagram.optimizers import LazyAdam
found = []
for strategy in (tf.distribute.get_strategy(), tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])):
    with strategy.scope():
        found.append(fit(make_model(), LazyAdam(0.1), make_data(16), GRAPH, epochs=2))
assert strategy.num_replicas_in_sync == 2
for one, other in zip(*(model.get_weights() for model in found), strict=True):
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=2e-5)
"""


@pytest.mark.long
def test_two_devices():
    command = [sys.executable, "-c", TWO_DEVICES]
    done = subprocess.run(command, capture_output=True, text=True, env=environment())
    assert done.returncode == 0, done.stderr


def test_dense_gradients_of_a_table():
    """A table that is also the output layer moves in all rows, as with Keras' Adam."""
    found = []
    for optimizer in (LazyAdam(0.1), keras.optimizers.Adam(0.1)):
        layer = keras.layers.ReversibleEmbedding(ROWS, 3)
        ids = keras.Input((2,), dtype="int32")
        model = keras.Model(ids, layer(layer(ids), reverse=True))
        model.set_weights([np.random.default_rng(0).normal(size=(ROWS, 3))])
        model.compile(optimizer, "mse", jit_compile=False)
        model.fit(np.array([[1, 2]]), np.ones((1, 2, ROWS)), epochs=2, verbose=0)
        found.append(model.get_weights()[0])
    assert_allclose(*found, rtol=1e-4, atol=1e-5)


def test_bfloat16_variables():
    with pytest.raises(ConfigError, match="does not train variables in bfloat16"):
        LazyAdam().build([keras.Variable(np.ones((2, 2)), dtype="bfloat16")])
