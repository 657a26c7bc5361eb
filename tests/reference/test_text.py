"""Checks the n-grams of the reference against hand-worked texts and by their properties."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from . import text

property_settings = settings(max_examples=50)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("Cat", " cat "),
        ("  The \t\n CAT\u3000sat\u00a0", " the cat sat "),
        ("", ""),
        (" \t\u2028", ""),
        (b"a\xffB", " a\ufffdb "),
        (b"\xe2\x82 x", " \ufffd x "),
        ("\u0130X", " \u0130x "),
        ("\u039f\u03a3", " \u03bf\u03c3 "),
        ("\u1e9e", " \u00df "),
        ("a\u200bb", " a\u200bb "),
        ("a\x1cb", " a\x1cb "),
        ("\U00010400", " \U00010428 "),
    ],
)
def test_normalize(raw, expected):
    assert text.normalize(raw) == expected


def test_normalize_switches():
    assert text.normalize(" A  B ", lower=False) == " A B "
    assert text.normalize(" A \t B ", collapse=False) == " a \t b "
    assert text.normalize(" A  B ", strip=False) == "  a b  "
    assert text.normalize(" A  B ", pad=False) == "a b"
    assert text.normalize("   ", collapse=False, strip=False) == ""


def test_max_chars_counts_before_padding_and_strips_again():
    assert text.normalize("  ab cd", max_chars=4) == " ab c "
    assert text.normalize("  ab cd", max_chars=3) == " ab "
    assert text.normalize("  ab cd", max_chars=3, strip=False) == "  ab "
    assert text.normalize("ab", max_chars=0) == ""


def test_white_space_is_the_unicode_set():
    python = {chr(code) for code in range(0x110000) if chr(code).isspace()}
    assert python - text.WHITE_SPACE == {"\x1c", "\x1d", "\x1e", "\x1f"}
    assert text.WHITE_SPACE <= python
    assert len(text.WHITE_SPACE) == 25


def test_only_one_code_point_has_a_longer_lower_case():
    longer = [code for code in range(0x110000) if len(chr(code).lower()) != 1]
    assert longer == [0x130]


@property_settings
@given(st.text(), st.integers(0, 8) | st.none())
def test_normalize_is_idempotent(raw, max_chars):
    once = text.normalize(raw, max_chars=max_chars)
    assert text.normalize(once, max_chars=max_chars) == once
    assert once == "" or (once[0] == once[-1] == " " and "  " not in once)
    assert max_chars is None or len(once) <= max_chars + 2
    assert text.normalize(raw.encode(), max_chars=max_chars) == once


@property_settings
@given(st.text())
def test_normalize_without_stripping_keeps_the_length(raw):
    kept = text.normalize(raw, collapse=False, strip=False, pad=False)
    assert len(kept) in (0, len(raw))


def test_ngrams_by_position_then_order():
    """' ab ' has 4 characters: 3 of order 2 and 2 of order 3."""
    assert text.ngrams("ab", (3, 2)) == [" a", " ab", "ab", "ab ", "b "]
    assert text.ngrams(" ab ", (2, 3, 3)) == [" a", " ab", "ab", "ab ", "b "]
    assert text.ngrams("a", (4,)) == []
    assert text.ngrams(" ", (1, 2)) == []
    assert text.ngrams("a a", (2,)) == [" a", "a ", " a", "a "]


@property_settings
@given(st.text(), st.sets(st.integers(1, 6), min_size=1))
def test_number_of_ngrams(raw, orders):
    length = len(text.normalize(raw))
    expected = sum(max(0, length - n + 1) for n in orders)
    assert len(text.ngrams(raw, orders)) == expected


@pytest.mark.parametrize("orders", [(), (0, 2)])
def test_bad_orders(orders):
    with pytest.raises(ValueError, match="`orders` must be integers of at least 1"):
        text.ngrams("ab", orders)


def test_counts_and_vocabulary():
    """' ab ' twice and ' b ' once.

    Order 2: 'b ' 3, ' a' 2, 'ab' 2, ' b' 1. Order 3: ' ab' 2, 'ab ' 2, ' b ' 1.
    """
    texts = ["ab", "AB", "b"]
    assert text.count_ngrams(texts, (2, 3)) == Counter(
        {"b ": 3, " a": 2, "ab": 2, " b": 1, " ab": 2, "ab ": 2, " b ": 1}
    )
    everything = ["b ", " a", "ab", " b", " ab", "ab ", " b "]
    assert text.vocabulary(texts, (3, 2)) == everything
    assert text.vocabulary(texts, (2, 3), min_count=2) == ["b ", " a", "ab", " ab", "ab "]
    assert text.vocabulary(texts, (2, 3), max_per_order=2) == ["b ", " a", " ab", "ab "]
    assert text.vocabulary(texts, (2, 3), 3, 2) == ["b "]
    assert text.count_ngrams(iter(texts), iter((2,)))["b "] == 3


def test_ties_break_by_code_point_not_by_utf16():
    """U+FFFD is below U+1F600 by code point, above it by UTF-16 unit."""
    found = text.vocabulary(["\U0001f600", "\ufffd"], (1,))
    assert found == [" ", "\ufffd", "\U0001f600"]
