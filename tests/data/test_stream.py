"""Batches of examples are a function of the step; batches on a device are the same."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_array_equal

from tests.contracts import ragged
from tf_charagram import NgramVectorizer, TextEmbedder
from tf_charagram.data import stream as streams
from tf_charagram.data.pair_stream import Pairs, PairStream
from tf_charagram.data.stream import (
    ExampleStream,
    RaggedParts,
    first_gpu,
    from_parts,
    to_parts,
)
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.optimizers import make_optimizer
from tf_charagram.tasks.paraphrase import model as paraphrase_model
from tf_charagram.tasks.paraphrase.model import ParaphraseModel


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


TEXTS = ["a cat", "a dog", "mice", "birds", "a fish", "cats", "dogs", "a mouse", "bird", "fishes"]


def stream_of():
    ids = ragged([[number % 5, number % 7] * (number % 4) for number in range(22)])
    keys = tf.range(22, dtype=tf.int64)
    return PairStream(11, lambda: Pairs(ids, keys), batch_size=4)


def weights_after(stream, device):
    """Returns the weights after two epochs."""
    model = ParaphraseModel(Charagram(num_rows=7, dim=4, seed=1))
    model.compile(make_optimizer("adam", 0.05), steps_per_execution=3)
    for segment in stream.segments(0, 2 * stream.steps_per_epoch):
        model.fit(stream.dataset(segment, device), verbose=0, shuffle=False)
    assert model.step.numpy() == 2 * stream.steps_per_epoch
    return [weight.numpy() for weight in model.encoder.weights]


def test_parts():
    """Ragged tensors become parts, int32 becomes int64, others stay; and back."""
    batch = ragged([[1, 2], [], [3]]), tf.constant([1, 2]), tf.constant([0.5]), tf.constant([True])
    parts = to_parts(batch)
    assert isinstance(parts[0], RaggedParts)
    assert [part.dtype for part in (*parts[0], *parts[1:])] == [
        tf.int64, tf.int64, tf.int64, tf.float32, tf.bool,
    ]  # fmt: skip
    whole = from_parts(parts)
    assert whole[0].to_list() == [[1, 2], [], [3]]
    for one, other in zip(whole[1:], batch[1:], strict=True):
        assert_array_equal(one, other)
    assert from_parts(batch)[0] is batch[0]


def test_trains_to_the_same_weights():
    stream = stream_of()
    weights = (weights_after(stream, device) for device in (None, "CPU:0"))
    for one, other in zip(*weights, strict=True):
        assert_array_equal(one, other)


def test_batches_are_copied_to_the_gpu_if_there_is_one(monkeypatch):
    stream = stream_of()
    segment = next(stream.segments(0, 3))
    assert first_gpu() is not None or isinstance(
        stream.dataset(segment).element_spec[0], tf.RaggedTensorSpec
    )
    copies = []
    monkeypatch.setattr(streams, "first_gpu", lambda: "GPU:7")
    monkeypatch.setattr(
        streams, "on_device", lambda batches, device: copies.append(device) or batches
    )
    stream.dataset(segment)
    stream.dataset(segment, "GPU:3")
    assert copies == ["GPU:7", "GPU:3"]


def test_raw_pairs_are_copied_too(monkeypatch):
    """`fit` and `evaluate` on texts give the same result with the ids in parts."""
    vectorizer = NgramVectorizer.from_texts(TEXTS)
    pairs = tf.data.Dataset.from_tensor_slices((TEXTS[:5], TEXTS[5:])).batch(5)
    losses = []
    for device in (None, "CPU:0"):
        monkeypatch.setattr(paraphrase_model, "first_gpu", lambda device=device: device)
        encoder = Charagram(num_rows=vectorizer.num_rows, dim=4, seed=1)
        model = ParaphraseModel.from_embedder(TextEmbedder(vectorizer, encoder))
        model.compile(make_optimizer("adam", 0.05))
        trained = model.fit(pairs, epochs=2, verbose=0, shuffle=False).history["loss"]
        losses.append([*trained, model.evaluate(pairs, verbose=0)])
    np.testing.assert_array_equal(*losses)
    assert losses[0][0] > 0
