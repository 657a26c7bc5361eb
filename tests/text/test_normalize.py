"""Normalization in the graph against the slow reference."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import text as reference
from tests.text.strategies import encoded, max_chars_or_none, property_settings, raw_lists
from tf_charagram.text.code_points import SPACE, normalized_code_points
from tf_charagram.text.normalize import FlatTexts, collapse, decode


def normalize(raws, lowercase=True, max_chars=None, unicode_form=None):
    """Normalizes as the layers do; returns one string per text."""
    codes, boundaries = decode(encoded(raws), unicode_form)
    table, codes = normalized_code_points(lowercase), codes.numpy()
    codes = np.where(codes < len(table), table[np.minimum(codes, len(table) - 1)], codes)
    return strings(collapse(tf.constant(codes), boundaries, SPACE, max_chars))


def strings(flat: FlatTexts):
    symbols = flat.symbols.numpy()
    rows = zip(flat.starts.numpy(), flat.ends.numpy(), strict=True)
    return ["".join(map(chr, symbols[a : b + 1])) if a < b else "" for a, b in rows]


@property_settings
@given(raw_lists, st.booleans(), max_chars_or_none)
def test_equals_reference(raws, lowercase, max_chars):
    expected = [reference.normalize(raw, lower=lowercase, max_chars=max_chars) for raw in raws]
    assert normalize(raws, lowercase, max_chars) == expected


@pytest.mark.parametrize("lowercase", [True, False])
def test_every_code_point(lowercase):
    """Except the surrogates, which UTF-8 cannot hold."""
    chars = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    raws = ["a" + "a".join(chars[i : i + 5000]) + "a" for i in range(0, len(chars), 5000)]
    expected = [reference.normalize(raw, lower=lowercase) for raw in raws]
    assert normalize(raws, lowercase) == expected


@pytest.mark.parametrize("max_chars", [2**31 - 3, 2**31 - 2, 2**31 - 1])
def test_the_longest_limits(max_chars):
    assert normalize(["ab", "", "c d"], max_chars=max_chars) == [" ab ", "", " c d "]


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_unicode_form(form):
    pytest.importorskip("tensorflow_text")
    raws = ["e\u0301\u00c9", "\ufb01\uff21\u00bd", "\u212b\u1e9b\u0323", "", "plain"]
    expected = [reference.normalize(unicodedata.normalize(form, raw)) for raw in raws]
    assert normalize(raws, unicode_form=form) == expected
    assert normalize([b"a\xffb"], unicode_form=form) == [" a\ufffdb "]
