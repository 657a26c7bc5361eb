"""Words of strings, of graphs and of search."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.text import normalize
from tests.text.operations import over_both
from tests.text.strategies import any_text, property_settings
from tf_charagram.text._algorithm.code_points import normalized_code_points
from tf_charagram.text._algorithm.word_boundaries import (
    LETTER,
    NUM_MARKED,
    OTHER,
    SYMBOL,
    bags_of_words,
    is_in_word,
    marked,
    normalized_words,
    tokens_of,
    words_of,
)
from tf_charagram.text._spelling.correction import word_spans


def test_words_in_a_form():
    assert [*normalized_words(["scho\u0308n"], "NFC")] == ["sch\u00f6n"]
    assert [*normalized_words(["sch\u00f6n"], None)] == ["sch\u00f6n"]


def test_words_of_texts():
    texts = ["A cat, a CAT and 2 dogs", "caf\u00e9 cafe\u0301 \U00010400", "it's x2"]
    assert sorted(words_of(texts)) == sorted(
        ["a", "cat", "a", "cat", "and", "dogs", "caf\u00e9", "\U00010428", "it", "s"]
    )


@property_settings
@given(st.lists(any_text, max_size=5))
def test_words_are_those_of_normalized_texts(texts):
    words = [*words_of(texts)]
    assert words == [*words_of(map(normalize, texts))]
    assert all(word.isalpha() and normalize(word, pad=False) == word for word in words)


@over_both
@property_settings
@given(any_text)
def test_symbols_have_the_words_of_strings(ops, text):
    table = normalized_code_points()
    symbols = marked(table, np.arange(len(table)))
    # Code points past the table have no marks.
    text = "".join(char for char in text if ord(char) < len(table))
    codes = [ord(char) for char in f" {text} "]
    spans = np.asarray(word_spans(ops, ops.constant(symbols[codes] > SYMBOL))).tolist()
    read = "".join(map(chr, symbols[codes] & SYMBOL))
    assert [read[start:end] for start, end in spans] == list(tokens_of([text]))


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="another version of Unicode")
def test_characters_are_those_of_unicode_14():
    codes = np.arange(0x20000)
    marks = marked(codes.astype(np.int32), codes) & ~SYMBOL
    chars = [*map(chr, codes)]
    in_word = np.array([c.isalnum() or unicodedata.category(c)[0] == "M" for c in chars])
    assert [is_in_word(char) for char in chars] == in_word.tolist()
    np.testing.assert_array_equal((marks > 0)[:NUM_MARKED], in_word[:NUM_MARKED])
    letters = np.array([*map(str.isalpha, chars)])
    assert not (marks[~letters] & LETTER).any()
    assert set(marks[letters] & (LETTER | OTHER)) == {LETTER, OTHER}
    assert "".join(chars[code] for code in np.flatnonzero(marks < 0)) == "./@\\_"


@pytest.mark.parametrize(("text", "words"), [
    ("", []), (" \t\u3000", []), ("?! ...", ["?!", "..."]), ("a_b-c", ["a_b", "c"]),
    ("CAFE\u0301 \u0141\u00d3D\u0179", ["cafe", "lodz"]), ("Stra\u00dfe", ["strasse"]),
    ("\ufeffc\u200bat", ["cat"]), ("\uff33\uff4f\uff4e\uff59 \ufb01re", ["sony", "fire"]),
    ("D\u0130YARBAKIR d\u0131\u015f", ["diyarbakir", "dis"]),
    ("\u4f60\u597d \U0001f600", ["\u4f60\u597d"]), ("\U0001f600 \U0001f600", ["\U0001f600"] * 2),
    ("a\0b", ["a", "b"]), ("\0", ["\0"]),
    ("C++ C# c++11 A+ A- A - b", ["c++", "c#", "c++", "11", "a+", "a-", "a", "b"]),
    ("pre-war -5 +5 (-5) 10-5 #5 <5", ["pre", "war", "-5", "5", "-5", "10", "5", "5", "<5"]),
    ("\u22125 \uff23\uff0b\uff0b \uff0b5", ["-5", "c++", "5"]),
    ("a|b a=b x \u2265 5 \u226518", ["a", "b", "a", "b", "x", "5", "\u226518"]),
    ("\u0926\u093f\u0928", ["\u0926\u093f\u0928"]),
    ("\u0e02\u0e48\u0e32\u0e27", ["\u0e02\u0e48\u0e32\u0e27"]),
    ("\u0645\u064f\u062d\u0640\u0645", ["\u0645\u062d\u0645"]),
    ("\u039b\u039f\u0393\u039f\u03a3", ["\u03bb\u03bf\u03b3\u03bf\u03c3"]),
])  # fmt: skip
def test_words_of_search(text, words):
    assert bags_of_words([text]) == [words]
