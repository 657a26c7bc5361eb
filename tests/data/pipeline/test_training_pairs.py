"""Pairs of a run: surveyed once, then in blocks of whole pools."""

from __future__ import annotations

import pytest

from tests.data.pipeline.test_corpus import corpus_of
from tf_charagram.data.pipeline.pair_stream import TrainingPairs
from tf_charagram.text.vectorizer import NgramVectorizer

PAIRS = [("abcdefghij", "klmnopqrst")] * 40


def hashing(*_):
    return NgramVectorizer(hash_buckets=9)


def test_texts_with_typos():
    texts, mistyped = [], []
    corpus = corpus_of(PAIRS, augment_typos=1.0)
    TrainingPairs(corpus, lambda *given: [texts.extend(given[0]), mistyped.extend(given[1])])
    assert len(texts) == len(mistyped) == 80 and corpus.num_pairs == 80
    assert {*texts} == {*PAIRS[0]} and len({*mistyped} - {*texts}) > 9


def test_texts_are_counted_even_if_the_vectorizer_reads_none():
    assert TrainingPairs(corpus_of(PAIRS), hashing).corpus.num_chars == 800


@pytest.mark.parametrize(
    ("settings", "block_size"),
    [({}, 12), ({"ids_per_char": 2}, 8), ({"mega_batches": 2}, 16), ({"batch_size": 50}, 40)],
)
def test_blocks(tmp_path, settings, block_size):
    """800 ids are 4 blocks of 10 pairs, 1,600 are 8 of 5; each is rounded up to whole pools."""
    pairs = TrainingPairs(corpus_of(PAIRS), hashing)
    settings = {"batch_size": 4, "max_ids_in_memory": 200, **settings}
    stream = pairs.stream(pairs.vectorizer, tmp_path, seed=7, **settings)
    assert stream.store.block_size == block_size
    assert stream.mega_batches == settings.get("mega_batches", 1)
    assert stream.seed == 7
