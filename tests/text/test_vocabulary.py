"""Counting n-grams against the slow reference."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import text as reference
from tests.text.strategies import max_chars_or_none, order_sets, slow_property_settings, text_lists
from tf_charagram.errors import ConfigError
from tf_charagram.text.keys import mixed_keys
from tf_charagram.text.vocabulary import NgramVocabulary

# With the space and 'a', 125 other characters: as many as exact keys of order 8 hold, and one more.
CJK_125 = "".join(map(chr, range(0x4E00, 0x4E00 + 125)))
CJK_126 = "".join(map(chr, range(0x4E00, 0x4E00 + 126)))


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
)
def test_equals_reference(texts, orders, min_count, max_per_order, max_chars, lowercase):
    """Exact keys: same n-grams, same counts, same order."""
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
    assert_same(found, NgramVocabulary.from_texts(iter(texts), chunk_size=2, **settings))


@slow_property_settings
@given(
    text_lists,
    st.sets(st.integers(1, 7)),
    st.integers(1, 3),
    st.none() | st.integers(1, 4),
    st.integers(0, 8),
)
def test_mixed_keys_equal_reference(texts, orders, min_count, max_per_order, position):
    """The text that overflows the alphabet comes first, last or between the others."""
    orders = orders | {8}
    texts = [*texts[:position], CJK_126, CJK_126, CJK_126, *texts[position:]]
    settings = {"orders": orders, "min_count": min_count, "max_per_order": max_per_order}
    found = NgramVocabulary.from_texts(texts, chunk_size=3, **settings)
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


def test_empty_texts_between_and_one_pass():
    texts = ["", "cat", " \t", "cat"]
    found = NgramVocabulary.from_texts((text for text in texts), orders=[2], chunk_size=1)
    assert found.ngrams() == reference.vocabulary(texts, [2])
    assert found.counts.tolist() == [2, 2, 2, 2]


def test_one_long_text_is_counted_whole():
    """A part has 2,000,000 characters at most, but no text is split."""
    texts = ["ab" * 1_100_000, "ab" * 900_000, "b"]
    found = NgramVocabulary.from_texts(texts, orders=[2], max_chars=None)
    counts = dict(zip(found.ngrams(), found.counts.tolist(), strict=True))
    assert counts == {"ab": 2_000_000, "ba": 1_999_998, " a": 2, "b ": 3, " b": 1}


def test_a_character_of_two_bytes_is_one_and_lone_surrogates_are_replaced():
    found = NgramVocabulary.from_texts(["\u00e9\ud800"], orders=[3])
    assert found.ngrams()[0] == " \u00e9\ufffd"


@pytest.mark.parametrize("texts", [["cat", "hat"], ["cat", CJK_126]])
def test_arrays_round_trip(texts, tmp_path):
    found = NgramVocabulary.from_texts(texts, orders=[1, 8])
    np.savez(tmp_path / "arrays.npz", **found.to_arrays())
    with np.load(tmp_path / "arrays.npz", allow_pickle=False) as arrays:
        restored = NgramVocabulary.from_arrays(dict(arrays))
    assert_same(found, restored)
    assert restored.bits == found.bits and restored.ngrams() == found.ngrams()


def rare_and_frequent(num_texts, seed=0):
    """Yields texts of two rare words each, with frequent ones between."""
    rng = np.random.default_rng(seed)
    for i in range(num_texts):
        yield "".join(map(chr, rng.integers(ord("a"), ord("z") + 1, size=8)))
        yield "the the the 12" if i % 2 else "the 12 the"


def test_pruning_keeps_the_frequent_and_warns(caplog):
    orders, texts = [2, 4], list(rare_and_frequent(400))
    found = NgramVocabulary.from_texts(
        texts, orders=orders, min_count=100, max_distinct=600, chunk_size=20
    )
    counts = reference.count_ngrams(texts, orders)
    exact = NgramVocabulary.from_texts(texts, orders=orders, min_count=100)
    assert found.ngrams() == exact.ngrams()
    assert found.counts.tolist() == [counts[ngram] for ngram in found.ngrams()]
    assert {len(ngram) for ngram in found.ngrams()} == {2, 4}
    messages = {record.getMessage() for record in caplog.records}
    assert "More than 600 distinct n-grams: those seen fewer than 2 times so far" in min(messages)
    assert {record.levelno for record in caplog.records} == {logging.WARNING}


def test_pruning_bounds_what_is_kept_and_never_counts_too_high():
    orders, texts = [3, 4], list(rare_and_frequent(400))
    found = NgramVocabulary.from_texts(texts, orders=orders, max_distinct=600, chunk_size=20)
    counts = reference.count_ngrams(texts, orders)
    assert len(counts) > 3000
    assert len(found) <= 600
    for ngram, count in zip(found.ngrams(), found.counts.tolist(), strict=True):
        assert 1 <= count <= counts[ngram]


def test_no_pruning_while_distinct_ngrams_are_few(caplog):
    """Seen again and again, the same n-grams are not more n-grams."""
    texts = ["the cat", "a hat"] * 50
    num_distinct = len(reference.count_ngrams(texts, [2, 3]))
    settings = {"orders": [2, 3], "chunk_size": 2}
    bounded = NgramVocabulary.from_texts(texts, max_distinct=num_distinct, **settings)
    assert not caplog.records
    assert_same(bounded, NgramVocabulary.from_texts(texts, **settings))
    NgramVocabulary.from_texts(texts, max_distinct=num_distinct - 1, **settings)
    assert caplog.records


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


def test_no_texts():
    with pytest.raises(ConfigError, match=r"occurs 1 times or more\. Lower `min_count` or give"):
        NgramVocabulary.from_texts([])
