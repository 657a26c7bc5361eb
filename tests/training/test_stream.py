"""Batches of examples are a function of the step, as datasets and as arrays."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_array_equal

from tests.contracts import ragged
from tf_charagram.layers._ops.ragged import gather_ragged
from tf_charagram.tasks.paraphrase._corpus.pair_stream import Pairs, PairStream
from tf_charagram.training._loop.stream import ExampleStream


def make_stream(num_examples=103, batch_size=10, seed=0, lengths=None):
    return ExampleStream(
        num_examples, lambda chosen: chosen, batch_size=batch_size, unit="texts", seed=seed,
        lengths=lengths,
    )  # fmt: skip


def batches_of(stream, first, count):
    return [
        batch.numpy().tolist()
        for segment in stream.segments(first, count)
        for batch in stream.dataset(segment)
    ]


@pytest.mark.parametrize("has_lengths", [False, True])
@pytest.mark.parametrize(("size", "batch_size"), [(103, 10), (100, 10), (1, 10), (900, 2), (7, 1)])
def test_an_epoch_visits_every_example_once(size, batch_size, has_lengths):
    lengths = np.arange(size) % 13 if has_lengths else None
    stream = make_stream(size, batch_size, lengths=lengths)
    for epoch in (0, 1):
        batches = batches_of(stream, epoch * stream.steps_per_epoch, stream.steps_per_epoch)
        assert sorted(np.concatenate(batches).tolist()) == list(range(size))
        assert all(len(batch) == batch_size for batch in batches[:-1])


@pytest.mark.parametrize("has_lengths", [False, True])
def test_batches_from_any_step(has_lengths):
    lengths = np.arange(103) % 13 if has_lengths else None
    stream = make_stream(lengths=lengths)
    steps = 3 * stream.steps_per_epoch
    whole = batches_of(stream, 0, steps)
    for first in (1, 10, 11, 12, 25):
        assert batches_of(make_stream(lengths=lengths), first, steps - first) == whole[first:]


@pytest.mark.parametrize("num_steps", [1, 4, 50])
def test_orders_equal_the_batches(num_steps):
    stream = make_stream()
    for segment in stream.segments(7, 20):
        orders = stream.orders(segment, num_steps)
        batches = [batch.numpy() for batch in stream.dataset(segment)]
        assert np.concatenate(orders).tolist() == np.concatenate(batches).tolist()
        assert [len(order) for order in orders] == [
            sum(map(len, batches[first : first + num_steps]))
            for first in range(0, len(batches), num_steps)
        ]


def test_batches_hold_examples_of_similar_length():
    lengths = np.random.default_rng(0).integers(1, 100, 640)
    stream = make_stream(640, 20, lengths=lengths)
    batches = batches_of(stream, 0, stream.steps_per_epoch)
    spread = [np.ptp(lengths[batch]) for batch in batches]
    assert max(spread) < 15
    means = [lengths[batch].mean() for batch in batches]
    assert means != sorted(means)


def stream_of():
    ids = ragged([[number % 5, number % 7] * (number % 4) for number in range(22)])
    keys = tf.range(22, dtype=tf.int64)
    return PairStream(11, lambda: Pairs(ids, keys), batch_size=4)


def test_host_batches_are_the_batches():
    """Of pairs as ranges of all ids, and of other examples as ranges of a batch."""
    stream = stream_of()
    pairs, _ = stream.pairs
    examples = ExampleStream(
        5, lambda chosen: (gather_ragged(pairs, chosen), chosen), batch_size=2, unit="texts"
    )
    for each in (stream, examples):
        (segment,) = each.segments(0, 3)
        for (ids, keys), (ranges, *others) in zip(
            each.dataset(segment), each.host_batches(segment), strict=True
        ):
            starts, ends = ranges.starts, ranges.starts + ranges.lengths
            rows = [ranges.values[s:e].tolist() for s, e in zip(starts, ends, strict=True)]
            assert rows == ids.to_list()
            assert_array_equal(others[0], keys)
    values = {id(ranges.values) for ranges, _ in stream.host_batches(segment)}
    assert len(values) == 1
