"""Texts to tokens and offsets: the same splits as for words, the slow twin, nasty texts."""

from __future__ import annotations

import pytest
import tensorflow as tf
from hypothesis import given

from tests.reference import tokens as reference
from tests.text.strategies import raw_lists, slow_property_settings
from tests.texts import NASTY
from tf_charagram.data.starter import starter_file
from tf_charagram.errors import ConfigError
from tf_charagram.tasks.tagging.reader import read_tagged
from tf_charagram.text.splitting import split_words
from tf_charagram.text.tokens import STYLES, split_tokens


def as_bytes(raw):
    return raw if isinstance(raw, bytes) else raw.encode("utf-8", "surrogatepass")


def as_text(raw):
    """Decodes as TensorFlow does, which knows best how many U+FFFD broken bytes are."""
    clean = tf.strings.unicode_transcode(as_bytes(raw), "UTF-8", "UTF-8", errors="replace")
    return clean.numpy().decode()


def split(*texts, style="words"):
    """Returns token, start and end of each token of each text."""
    parts = split_tokens(tf.constant([as_bytes(text) for text in texts], tf.string), style)
    rows = [part.to_list() for part in parts]
    return [
        [(token.decode(), start, end) for token, start, end in zip(*row, strict=True)]
        for row in zip(*rows, strict=True)
    ]


def words(text, style="words"):
    return [token for token, _, _ in split(text, style=style)[0]]


def test_offsets():
    """Counted in code points; the emoji and its colour are two."""
    assert split("Don\u2019t  Go!", "", "\U0001f44d\U0001f3fd a") == [
        [("Do", 0, 2), ("n\u2019t", 2, 5), ("Go", 7, 9), ("!", 9, 10)],
        [],
        [("\U0001f44d\U0001f3fd", 0, 2), ("a", 3, 4)],
    ]
    assert split(b"\xff caf\xe9 NUL\0x") == [
        [("\ufffd", 0, 1), ("caf", 2, 5), ("\ufffd", 5, 6), ("NUL", 7, 10), ("x", 11, 12)]
    ]


def test_types_and_no_texts():
    tokens, starts, ends = split_tokens(tf.constant(["a b", ""]))
    assert (tokens.dtype, starts.dtype, ends.dtype) == (tf.string, tf.int32, tf.int32)
    assert {part.row_splits.dtype for part in (tokens, starts, ends)} == {tf.int64}
    assert split() == []
    assert split("", "") == [[], []]


@slow_property_settings
@given(raw_lists)
def test_words_are_those_of_split_words(raws):
    """In both cases, for lower-casing changes no split; and they stand where the twin says."""
    found = split(*raws)
    encoded = tf.constant([as_bytes(raw) for raw in raws], tf.string)
    kept, lowered = (split_words(encoded, lower, None, None).to_list() for lower in (False, True))
    assert [len(row) for row in found] == [len(row) for row in lowered]
    for raw, row, expected in zip(raws, found, kept, strict=True):
        assert row == reference.find_tokens(as_text(raw), [word.decode() for word in expected])


@pytest.mark.parametrize("style", STYLES)
@slow_property_settings
@given(raws=raw_lists)
def test_every_visible_character_is_in_one_token(style, raws):
    for raw, row in zip(raws, split(*raws, style=style), strict=True):
        text = as_text(raw)
        for token, start, end in row:
            assert start < end and text[start:end] == token
        places = [place for _, start, end in row for place in range(start, end)]
        visible = [i for i, char in enumerate(text) if char not in reference.SEPARATORS]
        assert places == visible


def test_separators():
    separators = sorted(reference.SEPARATORS)
    assert {0x1F, 0x9F, 0x61C, 0x200F, 0x202E, 0x2060, 0x2069, 0xFEFF} < {*map(ord, separators)}
    expected = [("a", 0, 1), ("b", 2, 3)]
    assert split(*(f"a{char}b" for char in separators)) == [expected] * len(separators)


PENN = {
    "I can't. She's gonna say it cannot": "I ca n't . She 's gon na say it can not",
    "Wait... what?! No -- yes!!": "Wait ... what ?! No -- yes !!",
    "the U.S. at 5 p.m. by Dr. J. Lee. So do I.": "the U.S. at 5 p.m. by Dr. J. Lee . So do I .",
    "10:30 on 9/11, 1,000.5 or 713-555-0123": "10:30 on 9/11 , 1,000.5 or 713-555-0123",
    "a 15-year well-known pre-war e-mail": "a 15 - year well - known pre-war e-mail",
    "see http://a.b/c?d=1, www.x.org.": "see http://a.b/c?d=1 , www.x.org .",
    "(mail a_b@c-d.org!)": "( mail a_b@c-d.org ! )",
    "good :) bad :-( AT&T R&D": "good :) bad :-( AT&T R&D",
}


@pytest.mark.parametrize("text", PENN)
def test_penn(text):
    assert words(text, "penn") == PENN[text].split()


@pytest.mark.parametrize("unit", ["123-", "a_", "a.b-", "www.", "a@.", "1/"])
def test_long_texts_that_are_nearly_something_else(unit):
    """They take a second; searching to the end from every character would take minutes."""
    ((*_, (_, _, end)),) = split(unit * 250_000, style="penn")
    assert end == 250_000 * len(unit)


def test_penn_keeps_the_words_of_the_starter_set():
    sentences = list(read_tagged(starter_file("tagged", "train")))
    found = split(*(" ".join(sentence.words) for sentence in sentences), style="penn")
    wrong = [
        sentence.words
        for sentence, row in zip(sentences, found, strict=True)
        if sentence.words != tuple(token for token, _, _ in row)
    ]
    assert not wrong


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", NASTY)
def test_nasty_text_leaves_its_neighbours_alone(name, style):
    rows = split("Dog", NASTY[name], "a Cat", style=style)
    assert rows[0] == [("Dog", 0, 3)]
    assert rows[2] == [("a", 0, 1), ("Cat", 2, 5)]
    text = as_text(NASTY[name])
    assert all(text[start:end] == token for token, start, end in rows[1])


def test_runs_in_a_graph():
    graph = tf.function(split_tokens, input_signature=[tf.TensorSpec([None], tf.string)])
    assert not any(
        op.type in {"PyFunc", "EagerPyFunc"}
        for op in graph.get_concrete_function().graph.get_operations()
    )
    for batch in ([], [""], ["Dog's cat", "", "cat"]):
        texts = tf.constant(batch, tf.string)
        for eager, traced in zip(split_tokens(texts), graph(texts), strict=True):
            assert traced.to_list() == eager.to_list()


def test_unknown_style():
    with pytest.raises(ConfigError, match=r"Unknown token style 'pen'. Did you mean 'penn'\?"):
        split_tokens(tf.constant(["a"]), "pen")
