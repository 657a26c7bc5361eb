"""Tests of folding: the same vectors from fewer rows."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.text.strategies import any_text, order_sets, slow_property_settings
from tests.texts import NASTY
from tf_charagram.encoders.averaging import WordAverage
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError
from tf_charagram.models._encoding.prefix_sums import _fold_table, _most_read_first
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary
from tf_charagram.text.words import WordVectorizer

WORDS = ["cat", "cats", "concat", "a cat sat", "tac"]


def embedder(vectorizer, **settings):
    encoder = Charagram(num_rows=vectorizer.num_rows, dim=3, **settings)
    encoder.bias.assign([0.1, -0.2, 0.3])
    return TextEmbedder(vectorizer, encoder)


@pytest.mark.long
@given(
    st.lists(any_text, min_size=1, max_size=7),
    st.lists(any_text, max_size=7),
    order_sets,
    st.randoms(use_true_random=False),
    st.floats(0.1, 1.0),
    st.sampled_from([0, 9]),
)
@slow_property_settings
def test_vectors_stay(known, others, orders, random, share, unknown_rows):
    """Vocabularies lack some prefixes of their n-grams."""
    whole = NgramVocabulary.from_texts(["abcdefgh", *known], orders=sorted(orders))
    rows = [row for row in range(len(whole)) if random.random() < share] or [0]
    random.shuffle(rows)
    vocabulary = NgramVocabulary(whole.orders, whole.alphabet, whole.keys[rows], whole.counts[rows])
    plain = embedder(NgramVectorizer(vocabulary=vocabulary, unknown_rows=unknown_rows))
    texts = [*known, *others]
    assert_allclose(plain.folded().encode(texts), plain.encode(texts), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("settings", [{"activation": "tanh"}, {"num_layers": 2}])
def test_nasty_texts(settings):
    plain = embedder(NgramVectorizer.from_texts([*WORDS, *map(str, NASTY)]), **settings)
    texts = [*NASTY.values(), *WORDS]
    expected = plain.encode(texts)
    # The ten thousand n-grams of one text are summed in another order.
    assert_allclose(plain.folded().encode(texts), expected, rtol=1e-4, atol=1e-4)


def test_one_row_a_position():
    vectorizer = embedder(NgramVectorizer.from_texts(WORDS)).folded().vectorizer
    ids = vectorizer(tf.constant(["cats", "xcat", ""]))
    ngrams = vectorizer.vocabulary.ngrams()
    found = [[ngrams[row] for row in rows] for rows in ids.to_list()]
    assert found == [[" cat", "cats", "ats ", "ts ", "s "], ["cat ", "at ", "t "], []]


def test_prefixes():
    vocabulary = NgramVectorizer.from_texts(["abcab"], orders=(1, 2, 4)).vocabulary
    ngrams = vocabulary.ngrams()
    for ngram, row in zip(ngrams, vocabulary.prefixes(), strict=True):
        shorter = [n for n in ngrams if ngram.startswith(n) and n != ngram]
        assert (ngrams[row] if row >= 0 else "") == max(shorter, key=len, default="")


def test_fold_table():
    table = np.array([[1.0], [10.0], [100.0], [1000.0]])
    # Row 3 is the prefix of row 0, and row 1 that of row 3.
    assert_array_equal(_fold_table(table, np.array([3, -1, -1, 1]))[:, 0], [1011, 10, 100, 1010])


def test_models_that_cannot_be_folded():
    words = WordVectorizer.from_texts(WORDS)
    mixed = NgramVocabulary((2, 3), None, np.array([5, 7]), np.array([1, 1]))
    for one in (
        embedder(NgramVectorizer(hash_buckets=50)),
        embedder(NgramVectorizer(vocabulary=mixed)),
        embedder(NgramVectorizer.from_texts(WORDS)).folded(),
        TextEmbedder(words, WordAverage(num_rows=words.num_rows, dim=3)),
    ):
        assert one.folded() is one


def test_hashed_ngrams_have_no_longest():
    with pytest.raises(ConfigError, match="longest_only"):
        NgramVectorizer(hash_buckets=50, longest_only=True)


def test_rows_that_are_read_most_come_first():
    """`a` occurs 9 times, 6 of them in `ab`, 5 of these in `abc`; `b` and `bc` 7 and 4 times."""
    counts, prefixes = np.array([9, 7, 6, 4, 5]), np.array([-1, -1, 0, 1, 2])
    # Reads: 3, 3, 1, 4 and 5.
    assert_array_equal(_most_read_first(counts, prefixes), [4, 3, 0, 1, 2])
