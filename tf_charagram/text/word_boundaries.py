"""Where words begin and end, for spelling and for search.

To *spelling*, a word is a run of letters, digits and combining marks. Strings are split by
`tokens_of`, and symbols by their marks: strings of one word are faster to count, and a graph must
not call Python. Both read one table of characters. No regular expression could serve
both: the classes of Python and of RE2 depend on their versions of Unicode.

To *search*, a word may have underscores, which belong to the codes of products, and loses its
accents: `bags_of_words`.

Two other rooms differ on purpose. Tokens, with punctuation, follow treebanks (`text.splitting`).
Typos are made in words with apostrophes and hyphens, as lists of misspellings have them, and by
commands that do not load TensorFlow (`data.typos`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import groupby
from typing import Literal, cast

import numpy as np

from tf_charagram.text.batches import decoded
from tf_charagram.text.code_points import normalized_code_points
from tf_charagram.text.forms import INVISIBLE, PLAIN
from tf_charagram.text.unicode import is_in_class

#: Code points that are classified even outside the alphabet: up to the last emoji.
NUM_MARKED = 0x1FB00

#: Marks of letters and of other parts of words, in bits above the symbol; symbols between words are
#: unmarked.
LETTER = 1 << 24
OTHER = 2 << 24
#: Mask of the bits of the symbol.
SYMBOL = LETTER - 1

# Thai and Lao; Burmese; Khmer; Japanese syllabaries, twice; Chinese characters, four blocks;
# halfwidth Japanese; and the planes of rare Chinese characters.
_UNSPACED = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x31F0, 0x31FF),
    (0x2E80, 0x2FDF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0xFF66, 0xFF9F),
    (0x20000, 0x3FFFF),
)  # fmt: skip

_ASCII_RUN = re.compile(r"[a-z0-9]+")

# Characters that do not end a word of search, and are dropped: accents, and invisible ones.
_ACCENTS = range(0x300, 0x370)
_DROPPED = "".join(map(chr, (*INVISIBLE, *_ACCENTS)))
_ASCII_WORD = re.compile(r"\w+")
_WORD = re.compile(rf"[\w{_DROPPED}]+")
_FOLDED = str.maketrans({**PLAIN, **dict.fromkeys(_DROPPED)})


def normalized_words(texts: Iterable[str], unicode_form: str | None) -> Iterator[str]:
    """Yields the words of texts after Unicode normalization, if `unicode_form` is given."""
    if unicode_form is not None:
        form = cast(Literal["NFC"], unicode_form)
        texts = (unicodedata.normalize(form, text) for text in texts)
    return words_of(texts)


def words_of(texts: Iterable[str | bytes]) -> Iterator[str]:
    """Yields the lowercased words of texts that could be in a dictionary."""
    return filter(str.isalpha, tokens_of(texts))


def tokens_of(texts: Iterable[str | bytes]) -> Iterator[str]:
    """Yields the lowercased words and numbers of texts."""
    for text in map(decoded, texts):
        if text.isascii():
            # Most texts are, and a regular expression is faster than a look at each character.
            yield from _ASCII_RUN.findall(text.lower())
            continue
        for run in _runs(text):
            if is_in_word(run[0]):
                yield lowered(run)


def replaced_words(text: str, others: Mapping[str, str]) -> str:
    """Replaces words of a text.

    Args:
        text: The text.
        others: Maps lowercase words to their replacements; all other words stay as written.
    """
    return "".join([others.get(lowered(run), run) for run in _runs(text)])


def _runs(text: str) -> Iterator[str]:
    """Splits a text into words and runs of characters between words, by turns."""
    for _, run in groupby(text, is_in_word):
        yield "".join(run)


def lowered(word: str) -> str:
    """Lowercases a word as texts are lowercased in the graph, one character to one."""
    if word.isascii():
        return word.lower()
    table = normalized_code_points()
    chars = []
    for char in word:
        code = ord(char)
        # Code points past the table are unchanged.
        chars.append(chr(table[code]) if code < len(table) else char)
    return "".join(chars)


@cache
def is_in_word(char: str) -> bool:
    """Returns whether a character belongs to words: a letter, a digit, or a combining mark."""
    return bool(is_in_class("in_word", ord(char)))


def marked(symbols: np.ndarray, code_points: np.ndarray) -> np.ndarray:
    """Marks symbols of code points as letters, other parts of words, or neither; int32.

    Letters of scripts that put no spaces between words are other parts: between two spaces is a
    clause, not a word.

    Args:
        symbols: The symbol of each code point.
        code_points: The code point of each symbol; -1 for symbols of no or several code points.
    """
    is_letter = is_in_class("letters", code_points)
    for first, last in _UNSPACED:
        is_letter &= (code_points < first) | (code_points > last)
    is_other = is_in_class("in_word", code_points)
    is_other |= code_points < 0
    # The last mark is for symbols past the end.
    marks = np.zeros(len(code_points) + 1, np.int32)
    marks[:-1][is_other] = OTHER
    marks[:-1][is_letter] = LETTER
    rows = np.minimum(symbols, len(code_points))
    marks = marks[rows]
    # A symbol may stand for several characters, some of them between words.
    every_code = np.arange(len(symbols))
    is_between = ~is_in_class("in_word", every_code)
    is_between[NUM_MARKED:] = False
    marks[is_between] = 0
    return symbols | marks


def bags_of_words(texts: Iterable[str]) -> list[list[str]]:
    """Returns the words of each text that search compares, in lowercase without accents.

    A word is a run of letters, digits and underscores. In a text without any, words are separated
    by white space.
    """
    bags = []
    # Folding is slow, and most words repeat.
    fold = cache(_without_accents)
    for text in texts:
        lowercase = text.lower()
        if lowercase.isascii():
            bags.append(_ASCII_WORD.findall(lowercase) or lowercase.split())
        else:
            words = _WORD.findall(lowercase) or lowercase.split()
            bags.append([fold(word) for word in words])
    return bags


def _without_accents(word: str) -> str:
    """Returns a lowercase word without accents, or the word if nothing would be left of it."""
    decomposed = unicodedata.normalize("NFKD", word)
    letters = decomposed.translate(_FOLDED)
    composed = unicodedata.normalize("NFKC", letters)
    return composed.lower() or word
