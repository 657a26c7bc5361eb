"""Pairs held as numbers."""

from __future__ import annotations

import tracemalloc
from itertools import chain, repeat

import numpy as np
import pytest

from tf_charagram.data.corpus import PairCorpus
from tf_charagram.errors import ConfigError


def pairs_of(corpus):
    sides = zip(corpus.left.tolist(), corpus.right.tolist(), strict=True)
    return [(corpus.texts[left], corpus.texts[right]) for left, right in sides]


def test_every_text_once_and_every_pair_kept():
    pairs = [("a", "b"), ("b", "c"), ("a", "b"), ("c", "c")]
    corpus = PairCorpus.from_pairs(iter(pairs))
    assert corpus.texts == ["a", "b", "c"]
    assert pairs_of(corpus) == pairs and len(corpus) == 4
    assert corpus.left.dtype == corpus.right.dtype == np.int32
    assert corpus.num_empty == 0


def test_empty_texts_are_left_out_and_counted(caplog):
    pairs = [("a", "b"), ("", "x"), ("y", " \t\u3000"), ("\u2028", ""), ("b", "a")]
    corpus = PairCorpus.from_pairs(pairs)
    assert pairs_of(corpus) == [("a", "b"), ("b", "a")]
    assert corpus.texts == ["a", "b"] and corpus.num_empty == 3
    assert [record.getMessage() for record in caplog.records] == [
        "left out 3 pairs with an empty text"
    ]


def test_nothing_is_said_where_nothing_is_left_out(caplog):
    PairCorpus.from_pairs([("a", "b"), ("c", "d")])
    assert not caplog.records


@pytest.mark.parametrize(
    ("pairs", "count"), [([], 0), ([("a", "b")], 1), ([("a", "b"), ("", "c"), (" ", "d")], 1)]
)
def test_fewer_than_two_pairs(pairs, count):
    with pytest.raises(ConfigError, match=f"Training needs at least 2 pairs, .* Found: {count}"):
        PairCorpus.from_pairs(pairs)


def test_max_pairs_stops_reading():
    stream = (("a", str(i)) for i in range(10))
    assert len(PairCorpus.from_pairs(stream, max_pairs=3)) == 3
    assert next(stream) == ("a", "3")


def test_text_keys_ignore_case_and_white_space():
    corpus = PairCorpus.from_pairs([("The cat", "the  CAT "), ("a cat", "\tThe cat")])
    assert corpus.text_keys().tolist() == [0, 0, 1, 0]
    assert corpus.text_keys().dtype == np.int32


def test_repeated_pairs_take_little_memory():
    """8 bytes a pair; the array doubles its room on the way, but for a short time."""
    texts = [f"text {i}" for i in range(100)]
    pairs = repeat([(text, texts[i % 7]) for i, text in enumerate(texts)], 2_500)
    tracemalloc.start()
    try:
        corpus = PairCorpus.from_pairs(chain.from_iterable(pairs))
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(corpus) == 250_000 and len(corpus.texts) == 100
    assert kept < 3_000_000 and peak < 8_000_000
