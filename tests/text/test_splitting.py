"""Texts to words and to tokens with offsets, against the slow reference."""

from __future__ import annotations

import pytest
import tensorflow as tf
from hypothesis import given

from tests.reference import text as text_reference
from tests.reference import tokens as reference
from tests.text.strategies import encoded, raw_lists, slow_property_settings
from tf_charagram.data.starter import starter_file
from tf_charagram.tasks.tagging._conllu.data import read_tagged
from tf_charagram.text.splitting import split_tokens, split_words

# Control characters, zero-width spaces, marks of direction.
INVISIBLE = {*range(0x20), *range(0x7F, 0xA0), 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F)}
INVISIBLE |= {0x061C, 0x2060, *range(0x2066, 0x206A), 0xFEFF}


def words(*texts, lowercase=True, unicode_form=None, max_chars=None):
    rows = split_words(encoded(texts), lowercase, unicode_form, max_chars).to_list()
    return [[word.decode() for word in row] for row in rows]


def tokens(*texts):
    """Returns token, start and end of each token of each text."""
    rows = [part.to_list() for part in split_tokens(encoded(texts))]
    return [
        [(token.decode(), start, end) for token, start, end in zip(*row, strict=True)]
        for row in zip(*rows, strict=True)
    ]


def as_text(raw):
    """Decodes like TensorFlow, which decides how many U+FFFD broken bytes give."""
    clean = tf.strings.unicode_transcode(encoded([raw]), "UTF-8", "UTF-8", errors="replace")
    return clean.numpy()[0].decode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cat, (or dog)!", "the cat , ( or dog ) !"),
        ("don't can't n't do n't", "do n't ca n't n't do n't"),
        ("it's John\u2019s they're 's I'D", "it 's john 's they 're 's i 'd"),
        ("o'clock rock'n'roll aujourd'hui dogs'", "o'clock rock'n'roll aujourd'hui dogs '"),
        ("'quote' 'start", "' quote ' ' start"),
        ("3.14 1,000 1999, $5 100% 2nd", "3.14 1,000 1999 , $ 5 100 % 2nd"),
        ("x-ray a_b http://a.b ...", "x - ray a _ b http : / / a . b . . ."),
        ("na\u00efve e\u0301t\u00e9\u2014", "na\u00efve e\u0301t\u00e9 \u2014"),
        ("\u4f60\u597d\uff0c\u4e16 abc\u4f60", "\u4f60 \u597d \uff0c \u4e16 abc \u4f60"),
        ("\u3068\u3066\u3082 \u30ab\u30bf", "\u3068\u3066\u3082 \u30ab\u30bf"),
        ("\u05e9\u05dc\u05d5\u05dd. \u0645\u0631\u060c", "\u05e9\u05dc\u05d5\u05dd . \u0645\u0631 \u060c"),  # noqa: E501
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"),  # noqa: E501
        ("\u0939\u093f\u0928\u094d\u0926\u0940", "\u0939\u093f\u0928\u094d\u0926\u0940"),
        ("hi\U0001f44d\U0001f3fd\U0001f600", "hi \U0001f44d\U0001f3fd \U0001f600"),
        ("\U0001f468\u200d\U0001f469", "\U0001f468\u200d\U0001f469"),
        ("a\u200bb\ufeffc\0d\u3000e\u00a0f", "a b c d e f"),
        (b"caf\xe9 \xff\xfe", "caf \ufffd \ufffd\ufffd"),
        (" \t\r\n", ""),
    ],
)  # fmt: skip
def test_words(text, expected):
    assert words(text) == [expected.split(" ") if expected else []]


def test_settings():
    assert words("Don'T IT'S", lowercase=False) == [["Do", "n'T", "IT", "'S"]]
    assert words("\uff21\ufb01", unicode_form="NFKC") == [["afi"]]
    # The space between the words counts, the spaces before them do not.
    assert words("  ab  cd", max_chars=4) == [["ab", "c"]]
    assert words("ab", "cd ef", "", "gh", max_chars=3) == [["ab"], ["cd"], [], ["gh"]]


@slow_property_settings
@given(raw_lists)
def test_splitting_loses_nothing_but_space(raws):
    """And splits nothing twice, and keeps texts apart."""
    rows = words(*raws)
    assert rows == [words(raw)[0] for raw in raws]
    for raw, row in zip(raws, rows, strict=True):
        assert all(row)
        assert words(" ".join(row)) == [row]
        normalized = text_reference.normalize(raw).replace("\u2019", "'")
        visible = [c for c in normalized if c != " " and ord(c) not in INVISIBLE]
        assert "".join(row) == "".join(visible)


def test_offsets():
    """Counted in code points; the emoji and its colour are two."""
    assert tokens("Don\u2019t  Go!", "", "\U0001f44d\U0001f3fd a") == [
        [("Do", 0, 2), ("n\u2019t", 2, 5), ("Go", 7, 9), ("!", 9, 10)],
        [],
        [("\U0001f44d\U0001f3fd", 0, 2), ("a", 3, 4)],
    ]
    assert tokens(b"\xff caf\xe9 NUL\0x") == [
        [("\ufffd", 0, 1), ("caf", 2, 5), ("\ufffd", 5, 6), ("NUL", 7, 10), ("x", 11, 12)]
    ]


@slow_property_settings
@given(raw_lists)
def test_every_visible_character_is_in_one_token(raws):
    for raw, row in zip(raws, tokens(*raws), strict=True):
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
    assert tokens(*(f"a{char}b" for char in separators)) == [expected] * len(separators)


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
    assert [token for token, _, _ in tokens(text)[0]] == PENN[text].split()


@pytest.mark.parametrize("unit", ["123-", "a_", "a.b-", "www.", "a@.", "1/"])
def test_long_texts_that_are_nearly_something_else(unit):
    """Searching to the end from every character would take minutes."""
    ((*_, (_, _, end)),) = tokens(unit * 100_000)
    assert end == 100_000 * len(unit)


def test_penn_keeps_the_words_of_the_starter_set():
    sentences = list(read_tagged(starter_file("tagged", "train")))
    found = tokens(*(" ".join(sentence.words) for sentence in sentences))
    wrong = [
        sentence.words
        for sentence, row in zip(sentences, found, strict=True)
        if sentence.words != tuple(token for token, _, _ in row)
    ]
    assert not wrong
