"""Batches stay the same function of seed and step in every version: runs resume by it.

The expected values are those of the first release.
"""

from __future__ import annotations

import zlib

import numpy as np
import pytest
import tensorflow as tf

from tf_charagram.tasks.paraphrase._corpus.pair_stream import Pairs, PairStream
from tf_charagram.training._loop.stream import ExampleStream

SETTINGS = {
    "plain": {},
    "in_file_order_first": {"file_order_first": True},
    "bucketed": {"bucket_by_length": True},
}


def pair_stream(num_pairs, **settings):
    """Text `i` has `i * 7 % 13` ids and the key `i`; pair `p` is texts `2p` and `2p + 1`."""
    ids = tf.ragged.constant([[i] * (i * 7 % 13) for i in range(2 * num_pairs)], tf.int32)
    keys = tf.range(2 * num_pairs, dtype=tf.int64)
    pairs = Pairs(ids.with_row_splits_dtype(tf.int64), keys)
    return PairStream(num_pairs, lambda: pairs, **settings)


def example_stream(num_examples, batch_size, seed, has_lengths):
    return ExampleStream(
        num_examples, lambda rows: rows, batch_size=batch_size, unit="texts", seed=seed,
        lengths=np.arange(num_examples) * 7 % 13 if has_lengths else None,
    )  # fmt: skip


def rows_of(stream, count):
    """Returns the texts, or the examples, of each of the first batches."""
    batches = [batch for segment in stream.segments(0, count) for batch in stream.dataset(segment)]
    rows = [batch[1] if isinstance(batch, tuple) else batch for batch in batches]
    return [batch.numpy().tolist() for batch in rows]


def checksum(stream):
    """Returns one number for two epochs and three steps."""
    return zlib.crc32(repr(rows_of(stream, 2 * stream.steps_per_epoch + 3)).encode())


FILE_ORDER = [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10]]
SECOND_EPOCH = [[10, 3], [5, 1], [0, 7], [8, 4], [2, 6], [9]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain", [[4, 10], [2, 9], [1, 3], [5, 8], [6, 7], [0], *SECOND_EPOCH]),
        ("in_file_order_first", [*FILE_ORDER, *SECOND_EPOCH]),
        (
            "bucketed",
            [[3, 4], [8, 2], [0, 1], [9, 10], [6, 7], [5],
             [7, 1], [3, 4], [6, 0], [8, 2], [9, 10], [5]],
        ),
    ],
)  # fmt: skip
def test_pairs(name, expected):
    stream = pair_stream(11, batch_size=2, seed=3, **SETTINGS[name])
    batches = rows_of(stream, 2 * stream.steps_per_epoch)
    assert [[text // 2 for text in batch[: len(batch) // 2]] for batch in batches] == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain", 497457542),
        ("in_file_order_first", 22300449),
        ("bucketed", 3742108592),
    ],
)
def test_many_pairs(name, expected):
    assert checksum(pair_stream(301, batch_size=3, seed=7, **SETTINGS[name])) == expected


@pytest.mark.parametrize(
    ("has_lengths", "expected"),
    [(False, 3184514382), (True, 3821333531)],
)
def test_many_examples(has_lengths, expected):
    assert checksum(example_stream(301, 3, 7, has_lengths)) == expected
