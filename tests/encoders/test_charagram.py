"""Charagram against the slow reference, values and gradients."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.reference import charagram as reference
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError
from tf_charagram.text.vectorizer import NgramVectorizer

TEXTS = ["banana", "an apple", "", "zzz", "Bandana  banana", "\u4e2d", "nab"]


@pytest.mark.parametrize("num_layers", [1, 2])
@pytest.mark.parametrize("activation", ["linear", "tanh", "relu"])
@pytest.mark.parametrize("training", [False, True])
def test_equals_reference(num_layers, activation, training):
    rng = np.random.default_rng(num_layers)
    vectorizer = NgramVectorizer.from_texts(TEXTS[:2], orders=[2, 3])
    vocabulary = vectorizer.vocabulary.ngrams()
    encoder = Charagram(
        num_rows=len(vocabulary), dim=4, activation=activation, num_layers=num_layers
    )
    names = ["W", "b", "K", "b2"][: 2 * num_layers]
    values = {
        "W": 0.3 * rng.normal(size=(len(vocabulary), 4)),
        "b": 0.3 * rng.normal(size=4),
        "K": rng.normal(size=(4, 4)),
        "b2": rng.normal(size=4),
    }
    weights = {"W": encoder.sum.table, "b": encoder.bias}
    if num_layers == 2:
        weights |= {"K": encoder.dense.kernel, "b2": encoder.dense.bias}
    for name in names:
        weights[name].assign(values[name])
    assert len(encoder.trainable_variables) == len(names)
    arguments = (TEXTS, vocabulary, values["W"], values["b"], activation)
    arguments += ((values["K"], values["b2"]),) if num_layers == 2 else ()

    upstream = rng.normal(size=(len(TEXTS), 4))
    with tf.GradientTape() as tape:
        embedded = encoder(vectorizer(tf.constant(TEXTS)), training=training)
    gradients = tape.gradient(
        embedded,
        {name: weights[name].value for name in names},
        output_gradients=tf.constant(upstream, tf.float32),
    )
    assert_allclose(embedded, reference.embed(*arguments), rtol=1e-4, atol=1e-5)
    expected = reference.embed_gradient(upstream, *arguments)
    for name in names:
        found = tf.convert_to_tensor(gradients[name])
        assert_allclose(found, expected[name], rtol=1e-4, atol=1e-5, err_msg=name)


def test_initial_weights_come_from_the_seed():
    """Within +-0.05, and different for another seed."""
    tables = [Charagram(num_rows=50, dim=4, seed=seed).sum.table.numpy() for seed in (0, 0, 1)]
    assert_array_equal(tables[0], tables[1])
    assert (tables[0] != tables[2]).all()
    assert 0.04 < np.abs(tables[0]).max() <= 0.05


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dim": 0}, "`dim` must be at least 1. Received: dim=0"),
        ({"dim": 2.5}, "`dim` must be an integer. Received: dim=2.5"),
        ({"num_rows": "3"}, "`num_rows` must be an integer. Received: num_rows='3'"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ConfigError, match=message):
        Charagram(**{"num_rows": 3, **arguments})
