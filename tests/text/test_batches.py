"""Texts in batches, and as tensors."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.text.strategies import property_settings
from tf_charagram.text.batches import bounded_batches
from tf_charagram.text.tensors import string_tensor


@property_settings
@given(st.lists(st.text("ab", max_size=6), max_size=12), st.integers(1, 4), st.integers(1, 30))
def test_batches_are_as_large_as_they_may_be(texts, max_texts, max_chars):
    """Those of a list, which may be cut without a look at each text, are those of a stream."""
    batches = list(bounded_batches(texts, max_texts, max_chars))
    assert batches == list(bounded_batches(iter(texts), max_texts, max_chars))
    assert [text for batch in batches for text in batch] == texts
    for batch in batches:
        assert 0 < len(batch) <= max_texts
        assert sum(map(len, batch)) <= max_chars or len(batch) == 1
    for batch, following in pairwise(batches):
        assert len(batch) == max_texts or sum(map(len, [*batch, following[0]])) > max_chars


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], []),
        (["a", "\u00e9", ""], [b"a", b"\xc3\xa9", b""]),
        (["a", b"\xff", "\x00b"], [b"a", b"\xff", b"\x00b"]),
        (("a", "\ud800", b"\xff"), [b"a", b"\xed\xa0\x80", b"\xff"]),
    ],
)
def test_texts_as_a_tensor(texts, expected):
    tensor = string_tensor(texts)
    assert tensor.dtype == "string"
    assert tensor.numpy().tolist() == expected
