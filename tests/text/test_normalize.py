"""Normalization and parts of batches against the slow reference."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import text as reference
from tests.text.operations import arrays_of, batch_of, over_both
from tests.text.strategies import max_chars_or_none, property_settings, raw_lists
from tests.variants import some_now
from tf_charagram.text._algorithm.code_points import SPACE, normalized_code_points
from tf_charagram.text._algorithm.flat import (
    Batch,
    Rows,
    collapse,
    decode,
    replaced,
    rows_of,
    some_texts,
    stacked,
)
from tf_charagram.text._algorithm.unicode import code_points_of


def normalize(ops, raws, lowercase=True, max_chars=None, unicode_form=None):
    """Normalizes as the layers do; returns one string per text."""
    codes, boundaries = decode(ops, batch_of(ops, raws), unicode_form)
    table, codes = normalized_code_points(lowercase), np.asarray(codes)
    codes = np.where(codes < len(table), table[np.minimum(codes, len(table) - 1)], codes)
    return strings(collapse(ops, ops.constant(codes), boundaries, SPACE, max_chars))


def strings(batch):
    symbols, starts, ends = (part.tolist() for part in arrays_of(batch[:3]))
    rows = zip(starts, ends, strict=True)
    return ["".join(map(chr, symbols[a : b + 1])) if a < b else "" for a, b in rows]


@over_both
@property_settings
@given(raw_lists, st.booleans(), max_chars_or_none)
def test_equals_reference(ops, raws, lowercase, max_chars):
    expected = [reference.normalize(raw, lower=lowercase, max_chars=max_chars) for raw in raws]
    assert normalize(ops, raws, lowercase, max_chars) == expected


@over_both
@pytest.mark.parametrize("lowercase", some_now([True, False], True))
def test_every_code_point(ops, lowercase):
    """Except the surrogates, which UTF-8 cannot hold."""
    chars = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    raws = ["a" + "a".join(chars[i : i + 5000]) + "a" for i in range(0, len(chars), 5000)]
    expected = [reference.normalize(raw, lower=lowercase) for raw in raws]
    assert normalize(ops, raws, lowercase) == expected


@over_both
@pytest.mark.parametrize("max_chars", [2**31 - 3, 2**31 - 2, 2**31 - 1])
def test_the_longest_limits(ops, max_chars):
    assert normalize(ops, ["ab", "", "c d"], max_chars=max_chars) == [" ab ", "", " c d "]


@over_both
@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_unicode_form(ops, form):
    pytest.importorskip("tensorflow_text")
    raws = ["e\u0301\u00c9", "\ufb01\uff21\u00bd", "\u212b\u1e9b\u0323", "", "plain"]
    expected = [reference.normalize(unicodedata.normalize(form, raw)) for raw in raws]
    assert normalize(ops, raws, unicode_form=form) == expected
    assert normalize(ops, [b"a\xffb"], unicode_form=form) == [" a\ufffdb "]


@over_both
@pytest.mark.parametrize("form", some_now(["NFC", "NFD", "NFKC", "NFKD"], "NFKC"))
def test_every_character_in_unicode_form(ops, form):
    """By Unicode 14, whatever the versions of Python and tensorflow-text."""
    pytest.importorskip("tensorflow_text")
    unassigned = set(code_points_of("unassigned").tolist())
    codes = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    raws = ["\u0301".join(map(chr, codes[i : i + 3000])) for i in range(0, len(codes), 3000)]
    codes, boundaries = decode(ops, batch_of(ops, raws), form)
    found = ops.text_list(ops.encode(codes, boundaries[:-1] + 1, boundaries[1:]))
    for raw, text in zip(raws, found, strict=True):
        known = "".join("\ufdd0" if ord(char) in unassigned else char for char in raw)
        hidden = iter([char for char in raw if ord(char) in unassigned])
        normalized = unicodedata.normalize(form, known)
        assert text == "".join(next(hidden) if char == "\ufdd0" else char for char in normalized)


@over_both
def test_later_characters_stay(ops):
    """U+1C8A is of Unicode 16, U+1CCD6 has a compatibility form in it, U+FDD0 is no character."""
    pytest.importorskip("tensorflow_text")
    raw = "\u1c8a \U0001ccd6\ufb01\ufdd0\u0301 e\u0301\U000105d2\u0307"
    expected = " \u1c8a \U0001ccd6fi\ufdd0\u0301 \u00e9\U000105d2\u0307 "
    assert normalize(ops, [raw], lowercase=False, unicode_form="NFKC") == [expected]


@over_both
def test_replaced_parts(ops):
    codes, boundaries = ops.decode(batch_of(ops, ["one two", "three"]))
    batch = Batch(codes, boundaries[:-1], boundaries[1:])
    places = (np.array([1, 9]), np.array([4, 14]), np.array([*map(ord, "1drei")]), np.array([1, 4]))
    changed = replaced(ops, batch, *map(ops.constant, places))
    assert strings(changed) == [" 1 two ", " drei "]
    assert strings(some_texts(ops, changed, ops.constant(np.array([1])))) == [" drei "]
    assert strings(stacked(ops, changed, batch)) == [" 1 two ", " drei ", " one two ", " three "]
    unchanged = replaced(ops, batch, *[ops.constant(np.zeros(0, np.int64))] * 4)
    assert strings(unchanged) == [" one two ", " three "]


@over_both
def test_rows(ops):
    table = Rows(ops.constant(np.arange(6)), ops.constant(np.array([0, 2, 2, 6])))
    values, lengths = arrays_of(rows_of(ops, table, ops.constant(np.array([[2, 1], [0, 2]]))))
    assert values.tolist() == [2, 3, 4, 5, 0, 1, 2, 3, 4, 5]
    assert lengths.tolist() == [4, 6]
