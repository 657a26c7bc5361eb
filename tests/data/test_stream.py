"""Batches as a function of the step."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_array_equal

from tf_charagram.data.stream import PairStream
from tf_charagram.errors import ConfigError

NUM_PAIRS = 11


def make(**settings):
    """Text `i` has the ids [i] * (i % 3) and the key 100 + i; pair `p` is (2p, 2p + 1)."""
    ids = tf.ragged.constant([[i] * (i % 3) for i in range(2 * NUM_PAIRS)], tf.int32)
    ids = ids.with_row_splits_dtype(tf.int64)
    left = 2 * np.arange(NUM_PAIRS)
    keys = 100 + np.arange(2 * NUM_PAIRS)
    return PairStream(ids, keys, left, left + 1, **{"batch_size": 4, **settings})


def pairs_of(stream, steps):
    return [stream.pairs(tf.constant(step, tf.int64)).numpy().tolist() for step in steps]


@pytest.mark.parametrize("file_order_first", [False, True])
@pytest.mark.parametrize("batch_size", [2, 4, 11, 50])
@pytest.mark.parametrize("seed", range(5))
def test_every_epoch_visits_every_pair_once(seed, batch_size, file_order_first):
    stream = make(seed=seed, batch_size=batch_size, file_order_first=file_order_first)
    num_steps = stream.steps_per_epoch
    assert num_steps == {2: 6, 4: 3, 11: 1, 50: 1}[batch_size]
    orders = []
    for epoch in range(4):
        batches = pairs_of(stream, range(epoch * num_steps, (epoch + 1) * num_steps))
        assert [len(batch) for batch in batches[:-1]] == [batch_size] * (num_steps - 1)
        assert len(batches[-1]) == (NUM_PAIRS - 1) % batch_size + 1
        orders.append([pair for batch in batches for pair in batch])
        assert sorted(orders[-1]) == list(range(NUM_PAIRS))
    assert (orders[0] == list(range(NUM_PAIRS))) == file_order_first
    assert len({tuple(order) for order in orders}) == 4


def test_file_order_changes_only_the_first_epoch():
    plain, ordered = make(seed=2), make(seed=2, file_order_first=True)
    assert pairs_of(ordered, range(3)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10]]
    assert pairs_of(ordered, range(3, 9)) == pairs_of(plain, range(3, 9))


def test_a_batch_is_a_function_of_seed_and_step():
    steps = [5, 0, 5, 2, 100_000]
    one, other = make(seed=1), make(seed=1)
    pairs_of(other, range(20))
    assert pairs_of(one, steps) == pairs_of(other, steps)
    assert pairs_of(one, steps) != pairs_of(make(seed=2), steps)
    assert pairs_of(one, steps)[0] == pairs_of(one, steps)[2]


def test_lefts_then_rights_with_their_keys():
    stream = make(seed=3)
    for step in range(4):
        pairs = stream.pairs(tf.constant(step, tf.int64)).numpy()
        ids, keys = stream.batch(tf.constant(step, tf.int64))
        texts = np.concatenate([2 * pairs, 2 * pairs + 1])
        assert_array_equal(keys, 100 + texts)
        assert ids.to_list() == [[i] * (i % 3) for i in texts]
        assert ids.dtype == keys.dtype == tf.int32 and ids.row_splits.dtype == tf.int64


def as_lists(dataset):
    return [(ids.to_list(), keys.numpy().tolist()) for ids, keys in dataset]


def test_resuming_equals_going_on():
    stream = make(seed=4, file_order_first=True)
    whole = as_lists(stream.dataset(0, 10))
    assert len(whole) == 10
    expected = [stream.batch(tf.constant(step, tf.int64)) for step in range(10)]
    assert whole == as_lists(expected)
    for first in (0, 1, 3, 7):
        again = make(seed=4, file_order_first=True)
        assert as_lists(again.dataset(first, 10 - first)) == whole[first:]


def test_orders_are_uniform():
    """Where pair 0 stands in 600 epochs: 11 places, 54.5 expected each, chi-squared below 40."""
    stream = make(batch_size=NUM_PAIRS)
    order = tf.function(stream.pairs)
    places = [
        order(tf.constant(step, tf.int64)).numpy().tolist().index(0) for step in range(600)
    ]
    expected = 600 / NUM_PAIRS
    counts = np.bincount(places, minlength=NUM_PAIRS)
    assert (((counts - expected) ** 2) / expected).sum() < 40


@pytest.mark.parametrize("batch_size", [1, 0, -3])
def test_batch_size(batch_size):
    message = f"`batch_size` must be at least 2: .* Received: batch_size={batch_size}"
    with pytest.raises(ConfigError, match=message):
        make(batch_size=batch_size)
