"""Batches of labelled examples are a function of the step."""

from __future__ import annotations

import numpy as np
import pytest

from tf_charagram.data.stream import ExampleStream


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


@pytest.mark.parametrize("size", [100, 103])
def test_num_examples(size):
    stream = make_stream(size, lengths=np.arange(size))
    seen = np.cumsum([0, *map(len, batches_of(stream, 0, 25))])
    assert [stream.num_examples(step) for step in range(26)] == seen.tolist()


def test_batches_hold_examples_of_similar_length():
    lengths = np.random.default_rng(0).integers(1, 100, 640)
    stream = make_stream(640, 20, lengths=lengths)
    spread = [np.ptp(lengths[batch]) for batch in stream.epoch(0)]
    assert max(spread) < 15
    means = [lengths[batch].mean() for batch in stream.epoch(0)]
    assert means != sorted(means)
