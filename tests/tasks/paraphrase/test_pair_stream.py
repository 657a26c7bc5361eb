"""Pairs in files, and their batches as a function of the step."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_array_equal

from tests.variants import some_now
from tf_charagram.errors import RunError
from tf_charagram.tasks.paraphrase._corpus.corpus import Example
from tf_charagram.tasks.paraphrase._corpus.pair_stream import (
    Pairs,
    PairStream,
    text_keys,
    write_pairs,
)
from tf_charagram.training._loop import stream as streams
from tf_charagram.training._loop.stream import BUCKET_BATCHES, shuffled

NUM_PAIRS = 11


def pairs_in_memory(num_pairs):
    """Text `i` has the ids [i] * (i * 7 % 13) and the key 100 + i; pair `p` is (2p, 2p + 1)."""
    ids = tf.ragged.constant([[i] * (i * 7 % 13) for i in range(2 * num_pairs)], tf.int32)
    keys = 100 + tf.range(2 * num_pairs, dtype=tf.int64)
    return Pairs(ids.with_row_splits_dtype(tf.int64), keys)


def make(num_pairs=NUM_PAIRS, **settings):
    pairs = pairs_in_memory(num_pairs)
    return PairStream(num_pairs, lambda: pairs, **{"batch_size": 4, **settings})


def batches_of(stream, first, num):
    """Returns ids and keys of each batch, as lists."""
    found = []
    for segment in stream.segments(first, num):
        batches = list(stream.dataset(segment))
        assert len(batches) == segment.num
        found += [(ids.to_list(), keys.numpy().tolist()) for ids, keys in batches]
    return found


def pairs_of(stream, first, num):
    """Returns the numbers of the pairs of each batch; checks that lefts come first, then rights."""
    found = []
    for ids, keys in batches_of(stream, first, num):
        texts = np.array(keys) - 100
        lefts, rights = np.split(texts, 2)
        assert_array_equal(rights, lefts + 1)
        assert ids == [[i] * (i * 7 % 13) for i in texts]
        found.append((lefts // 2).tolist())
    return found


@pytest.mark.parametrize("settings", [{}, {"file_order_first": True}, {"bucket_by_length": True}])
@pytest.mark.parametrize("batch_size", some_now([2, 4, 11, 50], 2, 4))
@pytest.mark.parametrize("seed", some_now(range(3), 0))
def test_every_epoch_visits_every_pair_once(seed, batch_size, settings):
    stream = make(seed=seed, batch_size=batch_size, **settings)
    num_steps = stream.steps_per_epoch
    assert num_steps == {2: 6, 4: 3, 11: 1, 50: 1}[batch_size]
    orders = []
    for epoch in range(4):
        batches = pairs_of(stream, epoch * num_steps, num_steps)
        sizes = sorted(map(len, batches), reverse=True)
        assert sizes[:-1] == [batch_size] * (num_steps - 1)
        assert sizes[-1] == (NUM_PAIRS - 1) % batch_size + 1
        orders.append([pair for batch in batches for pair in batch])
        assert sorted(orders[-1]) == list(range(NUM_PAIRS))
    assert (orders[0] == list(range(NUM_PAIRS))) == ("file_order_first" in settings)
    # Of texts sorted by length, only whole batches change places.
    if batch_size == 2 or "bucket_by_length" not in settings:
        assert len({tuple(order) for order in orders}) == 4


@pytest.mark.parametrize("settings", [{}, {"file_order_first": True}, {"bucket_by_length": True}])
def test_a_batch_is_a_function_of_seed_and_step(settings):
    whole = batches_of(make(seed=4, **settings), 0, 10)
    assert len(whole) == 10
    for first in (1, 7):
        again = make(seed=4, **settings)
        assert batches_of(again, first, 10 - first) == whole[first:]
    assert batches_of(make(seed=5, **settings), 3, 7) != whole[3:]


def test_buckets_of_a_later_window_from_any_step():
    stream = make(2 * BUCKET_BATCHES * 4, bucket_by_length=True)
    whole = batches_of(stream, 0, stream.steps_per_epoch)
    first = BUCKET_BATCHES + 8
    assert batches_of(stream, first, 20) == whole[first : first + 20]


@pytest.mark.parametrize("settings", [{}, {"bucket_by_length": True}])
def test_segments_of_few_examples_hold_the_same_batches(settings, monkeypatch):
    whole = batches_of(make(**settings), 0, 7)
    monkeypatch.setattr(streams, "_MAX_EXAMPLES", 8)
    stream = make(**settings)
    assert [segment.num for segment in stream.segments(0, 7)] == [2, 1, 2, 1, 1]
    assert batches_of(stream, 0, 7) == whole
    num_examples = np.cumsum([0, *(len(keys) // 2 for _, keys in whole)])
    assert [stream.num_examples(step) for step in range(8)] == num_examples.tolist()


def to_ids(texts):
    """Gives each text the code points of its characters."""
    return tf.strings.unicode_decode(texts, "UTF-8")


@pytest.mark.parametrize("chunk_pairs", [4, 5_000])
def test_pairs_are_written_to_files_without_names(tmp_path, monkeypatch, chunk_pairs):
    monkeypatch.setattr(
        "tf_charagram.tasks.paraphrase._corpus.pair_stream._CHUNK_PAIRS", chunk_pairs
    )
    texts = [(f"left {i}" * (i % 4), f"Right  {i}") for i in range(23)]
    pairs = write_pairs((Example(*pair, pair) for pair in texts), to_ids, tmp_path)
    flat = [text for pair in texts for text in pair]
    assert pairs.ids.to_list() == [list(map(ord, text)) for text in flat]
    assert pairs.ids.dtype == tf.int32
    assert_array_equal(pairs.keys, text_keys(flat))
    assert not [*tmp_path.iterdir()]
    stream = PairStream(23, lambda: pairs, batch_size=5, bucket_by_length=True)
    keys = np.concatenate([keys for _, keys in batches_of(stream, 0, 5)])
    assert sorted(keys) == sorted(pairs.keys.numpy())


def test_pairs_without_ids(tmp_path):
    pairs = write_pairs([Example("", "", ("", ""))] * 2, to_ids, tmp_path)
    assert pairs.ids.to_list() == [[]] * 4


def test_unwritable_folder(tmp_path):
    with pytest.raises(RunError, match=r"Cannot write .*none: No such file or directory"):
        write_pairs([], to_ids, tmp_path / "none")


def test_keys_ignore_case_white_space_and_typos(tmp_path):
    pairs = [("The cat", "the  CAT "), ("a cat", "\tThe cat")]
    texts = [Example(*pair, pair) for pair in pairs]
    texts.append(Example("The catt", "x", ("The cat", "x")))
    keys = write_pairs(texts, to_ids, tmp_path).keys.numpy()
    assert keys.dtype == np.int64
    assert len(set(keys[[0, 1, 3, 4]].tolist())) == 1
    assert len(set(keys.tolist())) == 3


def test_keys_of_different_texts_differ():
    assert len(set(text_keys([*map(str, range(2000))]).numpy().tolist())) == 2000


def test_seeds_and_epochs_have_different_orders():
    """TensorFlow's operation uses only the last 8 bits of each."""
    positions = np.arange(100)
    seeds = [[seed, epoch] for seed in (0, 1, 256, 512) for epoch in (0, 1, 255, 256, 512)]
    orders = {shuffled(positions, 100, seed).tobytes() for seed in seeds}
    assert len(orders) == len(seeds)
    assert all(sorted(np.frombuffer(order, np.int64)) == [*positions] for order in orders)
