"""Character ids against the slow reference."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.reference import text as reference
from tests.text.strategies import (
    ids_of,
    max_chars_or_none,
    raw_lists,
    slow_property_settings,
    text_lists,
)
from tf_charagram.errors import ConfigError
from tf_charagram.text.characters import CharacterVectorizer


@slow_property_settings
@given(text_lists, raw_lists, max_chars_or_none, st.booleans())
@example(["ab"], ["ab", "", "ba", b"a\xffb", "a\ufffd"], None, True)
@example(["ab \ufffd"], ["\u4e2d", b"\xff", " a  b "], 2, False)
def test_equals_reference(texts, raws, max_chars, lowercase):
    """The texts embedded are not those the alphabet is counted from, but for the first two."""
    options = {"lower": lowercase, "max_chars": max_chars}
    alphabet = {char for text in texts for char in reference.normalize(text, **options)} - {" "}
    assume(alphabet)
    vectorizer = CharacterVectorizer.from_texts(texts, lowercase=lowercase, max_chars=max_chars)
    symbols = {" ": 1} | {char: 3 + i for i, char in enumerate(sorted(alphabet))}
    assert vectorizer.num_rows == 3 + len(alphabet)
    raws = [*texts[:2], *raws]
    expected = [
        [symbols.get(char, 2) for char in reference.normalize(raw, **options)] for raw in raws
    ]
    assert ids_of(vectorizer, raws) == expected


def test_counts_more_texts_than_one_chunk():
    texts = (chr(0x4E00 + i % 3_000) for i in range(3_500))
    assert CharacterVectorizer.from_texts(texts).num_rows == 3 + 3_000


@pytest.mark.parametrize("texts", [[], ["", " \t"]], ids=str)
def test_texts_without_characters(texts):
    with pytest.raises(ConfigError, match="The texts have no character to make an alphabet of"):
        CharacterVectorizer.from_texts(texts)
