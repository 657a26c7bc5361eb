"""Counting n-grams against the slow reference."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import text as reference
from tests.text.strategies import (
    CJK_126,
    max_chars_or_none,
    order_sets,
    property_settings,
    slow_property_settings,
    text_lists,
)
from tf_charagram.errors import ConfigError
from tf_charagram.text._algorithm import counting
from tf_charagram.text._algorithm.counting import count_keys
from tf_charagram.text._algorithm.keys import mixed_keys
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary

# As many characters as exact keys of order 8 hold.
CJK_125 = CJK_126[:125]


def assert_same(one, other):
    assert one.orders == other.orders
    for name, array in one.to_arrays().items():
        np.testing.assert_array_equal(array, other.to_arrays()[name], err_msg=name)
    assert one.to_arrays().keys() == other.to_arrays().keys()


def expected_mixed(texts, orders, min_count=1, max_per_order=None):
    """Returns keys and counts: by order, then descending count, then key."""
    counts, rows = reference.count_ngrams(texts, orders), []
    for order in sorted(orders):
        ngrams = [ngram for ngram in counts if len(ngram) == order and counts[ngram] >= min_count]
        if ngrams:
            codes = np.array([[ord(char) for char in ngram] for ngram in ngrams], np.int32)
            pairs = zip(mixed_keys(codes).tolist(), (counts[n] for n in ngrams), strict=True)
            rows += sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:max_per_order]
    return rows


@slow_property_settings
@given(
    text_lists,
    order_sets,
    st.integers(1, 3),
    st.none() | st.integers(1, 4),
    max_chars_or_none,
    st.booleans(),
    st.integers(1, 60),
)
def test_equals_reference(texts, orders, min_count, max_per_order, max_chars, lowercase, min_held):
    """Same n-grams, counts and order, however often counts are merged."""
    options = {"lower": lowercase, "max_chars": max_chars}
    settings = {
        "orders": list(orders), "min_count": min_count, "max_per_order": max_per_order,
        "max_chars": max_chars, "lowercase": lowercase,
    }  # fmt: skip
    expected = reference.vocabulary(texts, orders, min_count, max_per_order, **options)
    if not expected:
        with pytest.raises(ConfigError, match="The texts have no n-gram of orders"):
            NgramVocabulary.from_texts(texts, **settings)
        return
    found = NgramVocabulary.from_texts(texts, **settings)
    counts = reference.count_ngrams(texts, orders, **options)
    assert found.ngrams() == expected
    assert found.counts.tolist() == [counts[ngram] for ngram in expected]
    assert found.alphabet is not None and len(found) == len(expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_BATCH_TEXTS", 2)
        patch.setattr(counting, "_MIN_HELD", min_held)
        patch.setenv("OMP_NUM_THREADS", "3")
        assert_same(found, NgramVocabulary.from_texts(iter(texts), **settings))


@slow_property_settings
@given(
    text_lists,
    st.sets(st.integers(1, 7)),
    st.integers(1, 3),
    st.none() | st.integers(1, 4),
    st.integers(0, 8),
    st.integers(1, 60),
)
def test_mixed_keys_equal_reference(texts, orders, min_count, max_per_order, position, min_held):
    """The text that overflows the alphabet comes first, last or between the others."""
    orders = orders | {8}
    texts = [*texts[:position], CJK_126, CJK_126, CJK_126, *texts[position:]]
    settings = {"orders": orders, "min_count": min_count, "max_per_order": max_per_order}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_BATCH_TEXTS", 3)
        patch.setattr(counting, "_MIN_HELD", min_held)
        found = NgramVocabulary.from_texts(texts, **settings)
    assert found.alphabet is None and found.bits is None
    expected = expected_mixed(texts, **settings)
    assert list(zip(found.keys.tolist(), found.counts.tolist(), strict=True)) == expected
    assert found.ngrams() == [f"#{key:016x}" for key in found.keys.tolist()]
    assert_same(found, NgramVocabulary.from_texts(texts, **settings))


@pytest.mark.parametrize(("extra", "is_exact"), [("", True), (" ", True), ("a", False)])
def test_exact_keys_of_order_8_hold_125_characters(extra, is_exact, caplog):
    found = NgramVocabulary.from_texts([CJK_125, extra], orders=[8])
    assert (found.alphabet is not None) == is_exact
    messages = [record.getMessage() for record in caplog.records]
    expected = ["The texts have 126 characters; exact keys of order 8 hold 125. Using 64-bit mixed"]
    assert [message[: len(expected[0])] for message in messages] == ([] if is_exact else expected)


@pytest.mark.parametrize("num_threads", [1, 5])
def test_any_number_of_threads_gives_the_same(num_threads, monkeypatch):
    """Batches are counted with alphabets that grow, and finish in any order."""
    texts = [chr(0x61 + n % 26) * 3 + chr(0x3B1 + n % 20) + CJK_126[n % 100] for n in range(120)]
    texts[5:5] = ["", " \t", "apple \x00 pie", "\U0001f600 yak"]
    monkeypatch.setenv("OMP_NUM_THREADS", str(num_threads))
    monkeypatch.setattr(counting, "_BATCH_TEXTS", 3)
    expected = reference.vocabulary(texts, [1, 2, 4])
    assert NgramVocabulary.from_texts(iter(texts), orders=[1, 2, 4]).ngrams() == expected


@property_settings
@given(st.lists(st.integers(1, 9) | st.integers(1, 2**63 - 1), max_size=60))
def test_counts_of_keys_equal_a_counter(keys):
    found = count_keys(np.array(keys, np.int64))
    assert list(zip(*map(np.ndarray.tolist, found), strict=True)) == sorted(Counter(keys).items())


def test_more_keys_than_slots():
    rng = np.random.default_rng(0)
    keys = np.concatenate([rng.integers(1, 50, 400_000), rng.integers(1, 2**62, 400_000)])
    expected = np.unique(keys, return_counts=True)
    for found, wanted in zip(count_keys(keys), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_an_error_of_the_texts_ends_counting():
    def texts():
        yield from ["cat"] * 20_000
        raise ConfigError("no more")

    with pytest.raises(ConfigError, match="no more"):
        NgramVocabulary.from_texts(texts())


def test_one_long_text_is_counted_whole():
    texts = ["ab" * 1_100_000, "ab" * 900_000, "b"]
    found = NgramVocabulary.from_texts(texts, orders=[2], max_chars=None)
    counts = dict(zip(found.ngrams(), found.counts.tolist(), strict=True))
    assert counts == {"ab": 2_000_000, "ba": 1_999_998, " a": 2, "b ": 3, " b": 1}


@pytest.mark.parametrize("keys", [[], [5, 0], [-1, 5]])
def test_keys_that_are_not_above_0(keys):
    arrays = NgramVocabulary.from_texts(["cat"], orders=[2]).to_arrays()
    arrays |= {"keys": np.array(keys, np.int64), "counts": np.ones(len(keys), np.int64)}
    with pytest.raises(ValueError, match="must have keys above 0"):
        NgramVocabulary.from_arrays(arrays)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"min_count": 0}, "`min_count` must be at least 1. Received: min_count=0"),
        ({"max_per_order": 0}, "`max_per_order` must be at least 1 or None. Received: 0"),
        ({"orders": [0]}, r"n-gram orders must be integers from 1 to 8. Received: \[0\]"),
        (
            {"orders": [2, 3], "min_count": 2},
            r"no n-gram of orders \[2, 3\] that occurs 2 times or more. Lower `min_count`",
        ),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ConfigError, match=message):
        NgramVocabulary.from_texts(["abc"], **arguments)


@pytest.mark.parametrize(
    ("ngrams", "message"),
    [
        (["ab", "cd", "a" * 9], r"from 1 to 8. Received: \[2, 9\]$"),
        (["ab", "c", "ab"], "must be distinct. Received: 3 n-grams"),
        ([], "at least one n-gram"),
        ("abc", "`ngrams` must .*a single string"),
        ([1], "`ngrams` must hold strings"),
    ],
)
def test_invalid_ngrams(ngrams, message):
    with pytest.raises(ConfigError, match=message):
        NgramVocabulary.from_ngrams(ngrams)


@pytest.mark.parametrize("others", ["", CJK_126])
def test_given_ngrams_with_nul(others):
    """NUL is a character like any other, also at the beginning of an n-gram."""
    ngrams = ["a\0b", "ab", "\0a", "a", "\0", "\0\0", "abcdefgh", *others]
    vocabulary = NgramVocabulary.from_ngrams([ngram.encode() for ngram in ngrams])
    assert (vocabulary.alphabet is None) == bool(others)
    vectorizer = NgramVectorizer(vocabulary=vocabulary)
    for row, ngram in [*enumerate(ngrams)][:9]:
        assert (ngram, (row,)) in vectorizer.ngrams(ngram)
