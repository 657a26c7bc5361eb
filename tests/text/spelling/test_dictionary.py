"""Known words and their counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.text.strategies import property_settings
from tf_charagram.errors import ConfigError
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text._spelling.word_filter import WordFilter

letters = st.text("aAb\u0130\u03a3\u00c9\u00df\u05d0\u4e2d\U00010400", min_size=1)


def test_most_frequent_first():
    dictionary = Dictionary({"cat": 4, "Dog": 3, "dog": 5, "ant": 4, "b4": 9, "don't": 9})
    assert dictionary.words == ["dog", "ant", "cat"]
    assert dictionary.log_counts.tolist() == [3.0, 2.0, 2.0]
    assert dictionary.log_counts.dtype == np.float32
    assert len(dictionary) == 3


def test_counts_without_bounds():
    dictionary = Dictionary({"Word": 10**19, "word": 10**19, "cat": 2**200, "dog": 1})
    assert dictionary.words == ["cat", "word", "dog"]
    assert dictionary.log_counts.tolist() == [63.75, 63.75, 0.0]


@property_settings
@given(st.dictionaries(letters, st.integers(1, 2**62), min_size=1))
def test_array_round_trip(counts):
    accepted_words = WordFilter.from_words(counts) if len(counts) > 1 else None
    dictionary = Dictionary(counts, accepted_words)
    restored = Dictionary.from_arrays({"keys": np.zeros(2), **dictionary.to_arrays()})
    assert restored.words == dictionary.words
    for words in (restored.accepted_words, dictionary.accepted_words):
        assert (words and words.bits.tolist()) == (accepted_words and accepted_words.bits.tolist())
    assert restored.log_counts.tolist() == dictionary.log_counts.tolist()
    assert max(dictionary.log_counts) < 64


def test_merged():
    first, second = Dictionary({"cat": 64, "ant": 1}), Dictionary({"cat": 1, "dog": 8})
    merged = first.merged(second)
    assert merged.words == ["cat", "dog", "ant"]
    assert merged.log_counts.tolist() == [6.0, 3.0, 0.0]
    assert first.merged(None) is first
    accepted_words = WordFilter.from_words(["ants"])
    assert Dictionary({"cat": 1}, accepted_words).merged(first).accepted_words is accepted_words
    assert first.merged(Dictionary({"cat": 1}, accepted_words)).accepted_words is accepted_words


def test_sureness_is_kept():
    weights = np.arange(22, dtype=np.int32)
    dictionary = Dictionary({"caf\u00e9": 64}).with_sureness(weights)
    other = Dictionary({"dog": 8})
    same = [
        dictionary.merged(other),
        other.merged(dictionary),
        dictionary.with_accepted_words(WordFilter.from_words(["ants"])),
        dictionary.respelled(lambda words: ["cafe" for _ in words]),
        Dictionary.from_arrays(dictionary.to_arrays()),
    ]
    assert all(found.sureness is weights for found in same)


@pytest.mark.parametrize(("counts", "message"), [
    ({}, "at least one word of letters only"),
    ({"b4": 1, "": 1}, "at least one word of letters only"),
])  # fmt: skip
def test_errors(counts, message):
    with pytest.raises(ConfigError, match=message):
        Dictionary(counts)


@pytest.mark.parametrize(("change", "message"), [
    ({"dictionary_utf8": np.zeros([2, 2], np.uint8)}, "must be bytes, with a byte for each word"),
    ({"dictionary_utf8": np.zeros(7, np.int64)}, "must be bytes, with a byte for each word"),
    ({"dictionary_log_counts": np.zeros(2)}, "must be bytes, with a byte for each word"),
    ({"dictionary_log_counts": np.zeros(3, np.uint8)}, "must have as many counts as words"),
    ({"dictionary_utf8": np.frombuffer(b"cat\ncat", np.uint8)}, "distinct, and of letters only"),
    ({"dictionary_utf8": np.frombuffer(b"\ncat", np.uint8)}, "distinct, and of letters only"),
    ({"dictionary_utf8": np.frombuffer(b"ca1\ndog", np.uint8)}, "distinct, and of letters only"),
    ({"dictionary_utf8": np.frombuffer(b"ca\xff\ndog", np.uint8)}, "can't decode byte"),
    ({"dictionary_right_words": np.zeros(0, np.uint8)}, "accepted words of the dictionary must be"),
    ({"dictionary_right_words": np.zeros(9)}, "accepted words of the dictionary must be bytes"),
    ({"dictionary_sureness": np.zeros(3, np.int32)}, "sureness of the dictionary must be 22"),
])  # fmt: skip
def test_damaged_arrays(change, message):
    arrays = Dictionary({"cat": 1, "dog": 1}).to_arrays()
    with pytest.raises(ValueError, match=message):
        Dictionary.from_arrays({**arrays, **change})


def test_one_array_alone_is_damaged():
    arrays = Dictionary({"cat": 1}).to_arrays()
    with pytest.raises(KeyError, match="dictionary_log_counts"):
        Dictionary.from_arrays({"dictionary_utf8": arrays["dictionary_utf8"]})
