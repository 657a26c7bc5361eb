"""Texts to word ids: the vocabulary, and n-grams of unknown words against the slow reference."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import text as text_reference
from tests.reference import words as reference
from tests.text.strategies import (
    encoded,
    ids_of,
    order_sets,
    raw_lists,
    slow_property_settings,
    text_lists,
)
from tf_charagram.errors import ConfigError
from tf_charagram.text.splitting import split_words
from tf_charagram.text.words import WordVectorizer

# Words have no white space at their ends.
AS_IT_IS = {"lower": False, "collapse": False, "strip": False}


def words_of(texts, lowercase):
    words = split_words(encoded(texts), lowercase, None, None)
    return [[word.decode() for word in row] for row in words.to_list()]


def test_ids():
    vectorizer = WordVectorizer.from_texts(["b a, b", "", "\u4f60 \U0001f600 a b \uffee"])
    assert vectorizer.words == ["b", "a", ",", "\u4f60", "\uffee", "\U0001f600"]
    assert vectorizer.num_rows == 7
    ids = vectorizer(tf.constant(["A b?", "", "\U0001f600,"]))
    assert isinstance(ids, tf.RaggedTensor)
    assert ids.dtype == tf.int32 and ids.row_splits.dtype == tf.int64
    assert ids.to_list() == [[2, 1, 0], [], [6, 3]]
    assert vectorizer(tf.constant([], tf.string)).shape[0] == 0


def test_vocabulary_is_counted_from_a_stream(monkeypatch):
    texts = ["a b c", "a b", "a d", "", "d d e " * 3]
    whole = WordVectorizer.from_texts(texts)
    monkeypatch.setattr("tf_charagram.text.words._CHUNK_TEXTS", 2)
    monkeypatch.setattr("tf_charagram.text.words._CHUNK_CHARS", 4)
    assert WordVectorizer.from_texts(iter(texts)).words == whole.words == list("daebc")
    assert WordVectorizer.from_texts(texts, min_count=2).words == list("daeb")
    assert WordVectorizer.from_texts(texts, max_words=3).words == list("dae")
    assert WordVectorizer.from_texts(["A a"], lowercase=False).words == ["A", "a"]
    assert WordVectorizer.from_texts(["ab cd"], max_chars=2).words == ["ab"]


@slow_property_settings
@given(text_lists, raw_lists, order_sets, st.integers(2, 3), st.booleans())
def test_unknown_words_equal_reference(texts, raws, orders, min_count, lowercase):
    texts = [*texts, "a a a rarelyseen"]
    words = [word for row in words_of(texts, lowercase) for word in row]
    counts = {word: words.count(word) for word in words}
    rare = sorted(word for word, count in counts.items() if count < min_count)
    ngrams = text_reference.vocabulary(rare, orders, **AS_IT_IS)
    vectorizer = WordVectorizer.from_texts(
        texts, min_count=min_count, ngram_orders=tuple(orders), lowercase=lowercase
    )
    assert vectorizer.ngrams.ngrams() == ngrams
    assert vectorizer.num_words == len(counts) - len(rare)
    assert vectorizer.num_rows == 1 + vectorizer.num_words + len(ngrams)
    raws = [*texts, *raws]
    expected = [
        reference.ids_of_words(row, vectorizer.words, ngrams, orders)
        for row in words_of(raws, lowercase)
    ]
    assert ids_of(vectorizer, raws) == expected


def test_unknown_words_by_hand():
    """Known: a, the. The n-grams of rare "ab" and "b" are " a", " b", "ab" and "b ", which is first
    as it comes twice; so of "abb" it has " a", "ab" and "b ", and "x" has none.
    """
    vectorizer = WordVectorizer.from_texts(["a the a the ab b"], min_count=2, ngram_orders=(2,))
    assert vectorizer.words == ["a", "the"]
    assert vectorizer.ngrams.ngrams() == ["b ", " a", " b", "ab"]
    assert vectorizer.num_rows == 7
    ids = ids_of(vectorizer, ["the abb a", "", "x"])
    assert ids == [[2, 0, 4, 6, 3, 1], [], [0]]


def test_words_beyond_max_words_provide_ngrams():
    vectorizer = WordVectorizer.from_texts(["a a b"], max_words=1, ngram_orders=(2,))
    assert vectorizer.words == ["a"] and vectorizer.ngrams.ngrams() == [" b", "b "]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"min_count": 0}, "`min_count` must be at least 1. Received: min_count=0"),
        ({"max_words": 0}, "`max_words` must be at least 1 or None. Received: 0"),
        ({"min_count": 3}, "no word that occurs 3 times or more. Lower `min_count`"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ConfigError, match=message):
        WordVectorizer.from_texts(["a b a"], **arguments)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("abc", "`words` must be a list of texts. Received a single string"),
        (["\ud800"], "`words` must be strings without surrogates"),
        (["a", None], "`words` must be strings without surrogates"),
    ],
)
def test_what_are_no_words(words, message):
    with pytest.raises(ConfigError, match=message):
        WordVectorizer(words=words)


@pytest.mark.parametrize("offsets", [[], [0], [1, 3], [0, 2], [0, 2, 1, 3]])
def test_offsets_that_do_not_fit(offsets):
    utf8 = np.frombuffer(b"abc", np.uint8)[: 0 if offsets == [0] else 3]
    state = {"utf8": utf8, "offsets": np.array(offsets, np.int64)}
    with pytest.raises(ValueError, match="must ascend from their first byte to their last"):
        WordVectorizer.from_state({}, state)


@pytest.mark.parametrize("words", [[], ["a", "b", "a"]])
def test_words_are_distinct(words):
    with pytest.raises(ConfigError, match="at least one word, without duplicates"):
        WordVectorizer(words=words)


@pytest.mark.parametrize(
    ("texts", "arguments", "message"),
    [
        (["a b a"], {}, "no word of the texts occurs fewer than 1 times. .*--min-count 2"),
        (["a a b b"], {"min_count": 2}, "occurs fewer than 2 times. .*--min-count 3"),
        (["a a b"], {"min_count": 2, "ngram_orders": (0,)}, "integers from 1 to 8. Received: .0."),
        (["a a b"], {"min_count": 2, "ngram_orders": (4,)}, r"no n-gram of orders \[4\]"),
    ],
)
def test_errors_of_unknown_words(texts, arguments, message):
    with pytest.raises(ConfigError, match=message):
        WordVectorizer.from_texts(texts, **{"ngram_orders": (2,), **arguments})
