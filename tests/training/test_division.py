"""Texts that workers encode in shares: vectors and gradients are those of one."""

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose

from tests.contracts import ragged
from tf_charagram.encoders import ENCODERS, encoder_class
from tf_charagram.optimizers.exchange import Exchange
from tf_charagram.training.division import encode_share, some_rows

ROWS = [[1, 2, 3], [], [4, 4], [5, 6, 7, 8], [9], [3, 2, 1]]


def alone_among(rank, size):
    """Returns one of some workers, of which the others have zeros."""
    exchange = Exchange(rank, size)
    exchange.gather = lambda own: tf.pad(
        own, [[rank * len(own), (size - 1 - rank) * len(own)], [0, 0]]
    )
    return exchange


def result(encoder, function, upstream):
    """Returns vectors, and the gradients of all weights, dense."""
    variables = [variable.value for variable in encoder.trainable_variables]
    with tf.GradientTape() as tape:
        vectors = function()
        loss = tf.reduce_sum(vectors * upstream)
    gradients = tape.gradient(loss, variables, unconnected_gradients="zero")
    return [vectors.numpy(), *(tf.convert_to_tensor(gradient).numpy() for gradient in gradients)]


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("name", ENCODERS)
def test_shares_add_up(name, size):
    """Four have a share of two rows each, and the last none."""
    encoder = encoder_class(name)(num_rows=10, dim=6)
    ids, upstream = ragged(ROWS), np.random.default_rng(0).normal(size=(6, 6)).astype("f")
    expected = result(encoder, lambda: encoder(ids, training=True), upstream)
    shares = [
        result(encoder, lambda rank=rank: encode_share(encoder, ids, True, alone_among(rank, size)),
               upstream)
        for rank in range(size)
    ]  # fmt: skip
    for whole, *parts in zip(expected, *shares, strict=True):
        assert_allclose(sum(parts), whole, atol=1e-5)


@pytest.mark.parametrize(("first", "last"), [(0, 6), (1, 3), (1, 2), (4, 4), (5, 6)])
def test_some_rows(first, last):
    assert some_rows(ragged(ROWS), first, last).to_list() == ROWS[first:last]
