"""What every encoder must keep to, whatever it computes.

Each check takes a function that makes an encoder over `num_rows` ids, always with equal weights.
`check(make, num_rows, tmp_path)` fails by an assertion. The registry is checked in
`encoders/test_contracts.py`; an encoder's own test adds the settings that matter to it.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tf_charagram.errors import ConfigError
from tf_charagram.optimizers import LazyAdam

SPEC = tf.RaggedTensorSpec([None, None], tf.int32, ragged_rank=1, row_splits_dtype=tf.int64)

Make = Callable[[], keras.layers.Layer]


def ragged(rows):
    return tf.RaggedTensor.from_row_lengths(
        tf.constant([i for row in rows for i in row], tf.int32),
        tf.constant([len(row) for row in rows], tf.int64),
    )


def row_sparse(layer):
    """Lets the tables of a layer have sparse gradients, while the returned object is alive."""
    optimizer = LazyAdam()
    optimizer.build(layer.trainable_variables)
    return optimizer


def some_rows(num_rows, seed=0):
    """Returns rows of ids: repeated ones, a single one, none, many, every id there is."""
    rng = np.random.default_rng(seed)
    lengths = (5, 1, 0, 14, 2)
    return [rng.integers(0, num_rows, size=n).tolist() for n in lengths] + [[*range(num_rows)]]


def randomized(make: Make, seed=1) -> keras.layers.Layer:
    """Returns an encoder with all weights random, so that no zero hides a mistake."""
    encoder, rng = make(), np.random.default_rng(seed)
    for weight in encoder.weights:
        weight.assign(rng.normal(scale=0.3, size=weight.shape))
    return encoder


def config_round_trip(make, num_rows, tmp_path):
    encoder = make()
    config = json.loads(json.dumps(encoder.get_config()))
    restored = type(encoder).from_config(config)
    assert restored.get_config() == encoder.get_config()
    for name in config:
        assert hasattr(encoder, name) or name == "dtype", f"no attribute for the argument {name}"
    for one, other in zip(encoder.weights, restored.weights, strict=True):
        assert one.path == other.path and one.shape == other.shape
        assert_array_equal(one, other, err_msg="the seed does not fix the initial weights")


def shape_and_type(make, num_rows, tmp_path):
    encoder, rows = randomized(make), some_rows(num_rows)
    for training in (False, True):
        embedded = encoder(ragged(rows), training=training)
        assert embedded.shape == (len(rows), encoder.dim) and embedded.dtype == tf.float32


def ids_may_be_int64(make, num_rows, tmp_path):
    """As they are in replicas of `tf.distribute`."""
    encoder, ids = randomized(make), ragged(some_rows(num_rows))
    wide = ids.with_values(tf.cast(ids.values, tf.int64))
    optimizer = row_sparse(encoder)
    for training in (False, True):
        assert_array_equal(encoder(wide, training=training), encoder(ids, training=training))
    assert optimizer.built


def empty_row_is_finite(make, num_rows, tmp_path):
    for encoder in (make(), randomized(make)):
        for training in (False, True):
            for rows in ([[]], [[], []], [[], [0], []]):
                assert np.isfinite(encoder(ragged(rows), training=training)).all()


def rows_are_independent(make, num_rows, tmp_path):
    encoder, rows = randomized(make), some_rows(num_rows)
    for training in (False, True):

        @tf.function(input_signature=[SPEC])
        def embed(ids, training=training):
            return encoder(ids, training=training)

        alone = [embed(ragged([row]))[0] for row in rows]
        for others in ([], [[]], [[], []], [[0] * 99], some_rows(num_rows, seed=1)):
            before = embed(ragged([*others, *rows]))[len(others) :]
            after = embed(ragged([*rows, *others]))[: len(rows)]
            assert_allclose(before, alone, rtol=1e-5, atol=1e-6)
            assert_allclose(after, alone, rtol=1e-5, atol=1e-6)


def empty_batch(make, num_rows, tmp_path):
    encoder = randomized(make)
    for training in (False, True):
        with tf.GradientTape() as tape:
            embedded = encoder(ragged([]), training=training)
        assert embedded.shape == (0, encoder.dim)
        variables = [weight.value for weight in encoder.trainable_variables]
        for gradient in tape.gradient(embedded, variables):
            assert not np.any(tf.convert_to_tensor(gradient))


def training_changes_no_gradient(make, num_rows, tmp_path):
    """And none is missing, neither in eager mode nor in a graph."""
    encoder, ids = randomized(make), ragged(some_rows(num_rows))
    variables = [weight.value for weight in encoder.trainable_variables]
    assert variables
    upstream = np.random.default_rng(2).normal(size=(ids.nrows(), encoder.dim))

    def gradients(ids, training):
        with tf.GradientTape() as tape:
            embedded = encoder(ids, training=training)
            loss = tf.reduce_sum(embedded * tf.constant(upstream, tf.float32))
        return [tf.convert_to_tensor(gradient) for gradient in tape.gradient(loss, variables)]

    expected = gradients(ids, False)
    assert all(np.any(gradient) for gradient in expected)
    in_graph = tf.function(gradients)
    for found in (gradients(ids, True), in_graph(ids, True), in_graph(ids, False)):
        for one, other in zip(found, expected, strict=True):
            assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def weights_are_saved_by_path(make, num_rows, tmp_path):
    encoder, ids = randomized(make), ragged(some_rows(num_rows))
    weights = {weight.path: weight.numpy() for weight in encoder.weights}
    assert len(weights) == len(encoder.weights), "two weights have the same path"
    np.savez(tmp_path / "weights.npz", **weights)
    restored = make()
    with np.load(tmp_path / "weights.npz", allow_pickle=False) as saved:
        for weight in restored.weights:
            weight.assign(saved[weight.path])
    assert_array_equal(restored(ids), encoder(ids))


def exports(make, num_rows, tmp_path):
    """As a SavedModel, which needs neither the class nor Keras."""
    encoder, rows = randomized(make), some_rows(num_rows)
    module = tf.Module()
    module.encoder = encoder
    module.embed = tf.function(lambda ids: encoder(ids, training=False), input_signature=[SPEC])
    # As the library exports: the gradient of a custom operation captures its tensors.
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    tf.saved_model.save(module, str(tmp_path / "saved"), options=options)
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    for batch in (rows, rows[:1], [[]], []):
        assert_allclose(loaded.embed(ragged(batch)), encoder(ragged(batch)), rtol=1e-5, atol=1e-6)


def as_keras_layer(make, num_rows, tmp_path):
    """In a functional model: shapes and types, also of a mixed policy, one step, and an archive."""
    encoder, rows = randomized(make), some_rows(num_rows)
    ids = keras.Input((None,), dtype="int32", ragged=True)
    embedded = encoder(ids)
    assert embedded.shape == (None, encoder.dim) and embedded.dtype == "float32"
    config = json.loads(json.dumps(keras.saving.serialize_keras_object(encoder)))
    assert keras.saving.deserialize_keras_object(config).get_config() == encoder.get_config()
    for policy in ("mixed_bfloat16", "bfloat16"):
        before = keras.config.dtype_policy()
        keras.config.set_dtype_policy(policy)
        try:
            other = make()
            other.set_weights(encoder.get_weights())
            assert other(ids).dtype == "float32"
            assert keras.layers.Dense(2)(other(ids)).dtype == "bfloat16"
            assert_array_equal(other(ragged(rows)), encoder(ragged(rows)))
        finally:
            keras.config.set_dtype_policy(before)
        with pytest.raises(ConfigError, match=rf"`dtype` must be float32 .*dtype={policy}"):
            type(encoder)(**{**encoder.get_config(), "dtype": policy})
    model = keras.Model(ids, embedded)
    model.compile(LazyAdam(0.1), "mse", jit_compile=False)
    weights = model.get_weights()
    logs = model.train_on_batch(ragged(rows), np.ones((len(rows), encoder.dim)), return_dict=True)
    assert np.isfinite(logs["loss"])
    assert any(
        np.any(one != other) for one, other in zip(model.get_weights(), weights, strict=True)
    )
    model.save(tmp_path / "model.keras")
    restored = keras.models.load_model(tmp_path / "model.keras")
    assert_array_equal(restored(ragged(rows)), model(ragged(rows)))
    clone = keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    assert_array_equal(clone(ragged(rows)), model(ragged(rows)))


CONTRACTS = (
    config_round_trip,
    shape_and_type,
    ids_may_be_int64,
    empty_row_is_finite,
    rows_are_independent,
    empty_batch,
    training_changes_no_gradient,
    weights_are_saved_by_path,
    exports,
    as_keras_layer,
)
