"""Texts to word ids, and the vocabulary."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tf_charagram.errors import ConfigError
from tf_charagram.text.words import WordVectorizer


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"min_count": 0}, "`min_count` must be at least 1. Received: min_count=0"),
        ({"max_words": 0}, "`max_words` must be at least 1 or None. Received: 0"),
        ({"min_count": 3}, "no word that occurs 3 times or more. Lower `min_count`"),
    ],
)
def test_errors(arguments, message):
    pytest.importorskip("tensorflow_text")
    with pytest.raises(ConfigError, match=message):
        WordVectorizer.from_texts(["a b a"], **arguments)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("abc", "`words` must be a list of texts. Received a single string"),
        (["\ud800"], "`words` must be strings without surrogates"),
        (["a", None], "`words` must be strings without surrogates"),
        (["a", "b", "a"], "at least one word, without duplicates"),
        ([], "at least one word, without duplicates"),
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
