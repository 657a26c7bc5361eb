"""Encoders that pad: a long text changes no other, takes no other's memory, and has a gradient."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose

from tests.contracts import ragged
from tf_charagram.encoders import encoder_class
from tf_charagram.models import encoding
from tf_charagram.models.encoding import encoded

PADDED = ("char_cnn", "char_lstm")


def make(name: str):
    return encoder_class(name)(num_rows=20, dim=4, char_dim=3)


def ids(*lengths: int) -> tf.RaggedTensor:
    rng = np.random.default_rng(0)
    return ragged([rng.integers(1, 20, size=length).tolist() for length in lengths])


@pytest.mark.parametrize("name", PADDED)
def test_groups_give_the_vectors_of_the_whole(name, monkeypatch):
    encoder, texts = make(name), ids(3, 40, 1, 0, 7, 7)
    expected = encoder(texts)
    monkeypatch.setattr(encoding, "_MAX_STEPS", 8)
    sizes = []

    class Watched:
        is_padded, dim = True, encoder.dim

        def __call__(self, rows, training):
            sizes.append(rows.nrows().numpy() * max(rows.row_lengths().numpy()))
            return encoder(rows, training=training)

    assert_allclose(encoded(Watched(), texts), expected, rtol=1e-5, atol=1e-6)
    assert sizes == [40, 7, 7, 2 * 3, 0]
    sizes.clear()
    encoded(Watched(), texts, training=True)
    assert sizes == [6 * 40]


@pytest.mark.parametrize("name", PADDED)
def test_gradients_are_those_of_the_whole(name, monkeypatch):
    encoder, texts = make(name), ids(3, 40, 1, 7, 7)

    @tf.function
    def gradients(is_whole):
        with tf.GradientTape() as tape:
            vectors = encoder(texts) if is_whole else encoded(encoder, texts)
            loss = tf.reduce_sum(tf.square(vectors))
        variables = [weight.value for weight in encoder.trainable_weights]
        return [tf.convert_to_tensor(part) for part in tape.gradient(loss, variables)]

    expected = gradients(True)
    monkeypatch.setattr(encoding, "_MAX_STEPS", 8)
    for got, wanted in zip(gradients(False), expected, strict=True):
        assert_allclose(got, wanted, rtol=1e-4, atol=1e-6)
