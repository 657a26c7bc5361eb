"""L2 as a term of the gradient, against the slow reference."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.reference import optimizers as reference
from tf_charagram.encoders.averaging import Dan, WordAverage
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.encoders.recurrent import IdentityRnn
from tf_charagram.errors import ConfigError
from tf_charagram.losses.penalties import L2Penalties, _add_l2_gradient

ROWS = [4, 0, 2]


@pytest.fixture
def table():
    return tf.Variable(np.random.default_rng(0).normal(size=(6, 3)), dtype=tf.float32)


@pytest.fixture
def sparse():
    values = tf.constant(np.random.default_rng(1).normal(size=(3, 3)), tf.float32)
    return tf.IndexedSlices(values, tf.constant(ROWS), tf.constant([6, 3]))


@pytest.fixture(params=[False, True], ids=["to 0", "to a target"])
def target(request):
    values = np.random.default_rng(2).normal(size=(6, 3)).astype(np.float32)
    return tf.Variable(values) if request.param else None


def slope(weights, strength, target, rows=None):
    initial = None if target is None else target.numpy()
    return reference.l2_gradient(weights.numpy(), strength, initial, rows)


def test_by_hand():
    """Weights (1, -2), strength 0.1: (10, 10) + (0.1, -0.2); pulled to (2, 0), (-0.1, -0.2)."""
    arguments = tf.constant([10.0, 10.0]), tf.Variable([1.0, -2.0]), 0.1
    assert_allclose(_add_l2_gradient(*arguments), [10.1, 9.8])
    assert_allclose(_add_l2_gradient(*arguments, tf.constant([2.0, 0.0])), [9.9, 9.8])


def test_dense_gradient(table, target):
    gradient = tf.ones([6, 3])
    for dense in (False, True):
        found = _add_l2_gradient(gradient, table, 0.3, target, dense=dense)
        assert_allclose(found, 1 + slope(table, 0.3, target), rtol=1e-5, atol=1e-6)


def test_touched_rows(table, sparse, target):
    found = _add_l2_gradient(sparse, table, 0.3, target)
    assert isinstance(found, tf.IndexedSlices)
    assert found.indices.numpy().tolist() == ROWS
    expected = tf.convert_to_tensor(sparse) + slope(table, 0.3, target, ROWS)
    assert_allclose(tf.convert_to_tensor(found), expected, rtol=1e-5, atol=1e-6)


def test_all_rows(table, sparse, target):
    found = _add_l2_gradient(sparse, table, 0.3, target, dense=True)
    assert isinstance(found, tf.Tensor)
    expected = tf.convert_to_tensor(sparse) + slope(table, 0.3, target)
    assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def penalty_gradients(encoder, seed=3, **settings):
    """Returns gradients of penalties, by path, after the weights moved; and the initial W."""
    rng = np.random.default_rng(seed)
    penalties = L2Penalties(encoder, **settings)
    variables = encoder.trainable_variables
    initial = {variable.path: variable.numpy() for variable in variables}
    for variable in variables:
        variable.assign(rng.normal(size=variable.shape))
    zeros = [tf.zeros(variable.shape) for variable in variables]
    found = penalties.add_gradients(zeros, [variable.value for variable in variables])
    return {v.path: np.array(g) for v, g in zip(variables, found, strict=True)}, initial


@pytest.mark.parametrize("make", [IdentityRnn, Dan, WordAverage])
def test_each_weight_has_its_penalty(make):
    """Word vectors go back to their initial values, W and R of the RNN to I, all others to 0."""
    encoder = make(num_rows=5, dim=3)
    targets = encoder.pull_back_targets() if make is IdentityRnn else {}
    found, initial = penalty_gradients(encoder, l2=0.5, l2_words=0.25, l2_composition=2.0)
    for weight in encoder.trainable_variables:
        is_table = weight is encoder.word_table
        target = initial[weight.path] if is_table else targets.get(weight.path)
        strength = 0.25 if is_table else 2.0
        expected = reference.l2_gradient(weight.numpy(), 0.5)
        expected += reference.l2_gradient(weight.numpy(), strength, target)
        assert_allclose(found[weight.path], expected, rtol=1e-5, atol=1e-6, err_msg=weight.path)


def test_an_encoder_without_words_has_composition_only():
    encoder = Charagram(num_rows=5, dim=3, num_layers=2)
    found, _ = penalty_gradients(encoder, l2_composition=2.0)
    for weight in encoder.trainable_variables:
        assert_allclose(found[weight.path], 2.0 * weight.numpy(), rtol=1e-6)


def test_initial_words():
    encoder = WordAverage(num_rows=5, dim=3)
    assert L2Penalties(encoder, l2=1.0, l2_composition=1.0).initial_words is None
    before = encoder.word_table.numpy()
    penalties = L2Penalties(encoder, l2_words=1.0)
    encoder.word_table.value.scatter_add(tf.IndexedSlices(tf.ones([1, 3]), tf.constant([2])))
    encoder.word_table.value.assign_add(tf.ones([5, 3]))
    assert_array_equal(penalties.initial_words, before)
    assert not penalties.initial_words.trainable


def test_by_default_the_head_has_no_penalty_and_gradients_stay_sparse(sparse):
    encoder, head = WordAverage(num_rows=6, dim=3), keras.layers.Dense(2)
    head.build((None, 3))
    weights = [v.value for v in (*encoder.trainable_variables, *head.trainable_variables)]
    gradients = [sparse, tf.ones([3, 2]), tf.ones([2])]
    of_table, *of_head = L2Penalties(encoder, l2_words=1.0, head=head).add_gradients(
        gradients, weights
    )
    assert isinstance(of_table, tf.IndexedSlices)
    assert_array_equal(of_head[0], gradients[1])
    assert_array_equal(of_head[1], gradients[2])


def frozen():
    encoder = Dan(num_rows=3, dim=2)
    encoder.table.trainable = False
    return encoder


@pytest.mark.parametrize(
    ("make", "settings", "message"),
    [
        (Dan, {"l2": -1.0}, r"`l2` must be in \[0, 1000\]. Received: l2=-1.0"),
        (Dan, {"l2": float("inf")}, r"`l2` must be in \[0, 1000\]. Received: l2=inf"),
        (
            Charagram,
            {"l2_words": 0.1},
            "`l2_words` needs an encoder whose word vectors are trained. Received: l2_words=0.1 "
            "for the encoder 'charagram'",
        ),
        (lambda **_: frozen(), {"l2_words": 0.1}, "word vectors are trained.* the encoder 'dan'"),
    ],
)
def test_errors(make, settings, message):
    with pytest.raises(ConfigError, match=message):
        L2Penalties(make(num_rows=3, dim=2), **settings)
