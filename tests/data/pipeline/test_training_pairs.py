"""Pairs as a run reads them: surveyed once, then in blocks of whole pools."""

from __future__ import annotations

import pytest

from tests.data.pipeline.test_corpus import corpus_of
from tf_charagram.data.pipeline.training_pairs import TrainingPairs
from tf_charagram.text.vectorizer import NgramVectorizer

PAIRS = [("abcdefghij", "klmnopqrst")] * 40


def hashing(_):
    return NgramVectorizer(hash_buckets=9)


@pytest.mark.parametrize(("with_typos", "num_texts"), [(True, 160), (False, 80)])
def test_texts_with_typing_errors(with_typos, num_texts):
    texts = []
    corpus = corpus_of(PAIRS, augment_typos=1.0)
    TrainingPairs(corpus, lambda given: texts.extend(given), with_typos=with_typos)
    assert len(texts) == num_texts and corpus.num_pairs == 80


def test_texts_are_counted_where_the_vectorizer_reads_none():
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
