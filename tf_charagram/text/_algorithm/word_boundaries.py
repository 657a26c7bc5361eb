"""Where words begin and end, for spelling and for search.

To *spelling*, a word is a run of letters, digits and combining marks. Strings are split by
`tokens_of`, and symbols by their marks: strings of one word are faster to count, and a graph must
not call Python. Both read one table of characters. No regular expression could serve
both: the classes of Python and of RE2 depend on their versions of Unicode.

To *search*, a word may have underscores, which belong to the codes of products, and signs, as in
C++ and -5, and loses its accents: `bags_of_words`.

Two other rooms differ on purpose. Tokens, with punctuation, follow treebanks (`text.splitting`).
Typos are made in words with apostrophes and hyphens, as lists of misspellings have them, and by
commands that do not load TensorFlow (`data.typos`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import groupby
from typing import Literal, NamedTuple, cast

import numpy as np

from tf_charagram.text._algorithm.batches import bounded_batches, decoded
from tf_charagram.text._algorithm.code_points import normalized_code_points
from tf_charagram.text._algorithm.forms import INVISIBLE, PLAIN, TATWEEL
from tf_charagram.text._algorithm.unicode import is_in_class, optional_marks, unicode_ranges

#: Code points that are classified even outside the alphabet: up to the last emoji.
NUM_MARKED = 0x1FB00

#: Marks of letters and of other parts of words, in bits above the symbol; symbols between words are
#: unmarked.
LETTER = 1 << 24
OTHER = 2 << 24
#: Added to the marks of the capital and the small letters of ASCII.
CAPITAL = 4 << 24
SMALL = 8 << 24
#: Mask of the bits of the symbol.
SYMBOL = LETTER - 1
#: Mark of `SIGNS_OF_CODE`, which makes their symbols negative.
SIGN = -(1 << 31)
#: Signs that join the words of addresses, paths and identifiers.
SIGNS_OF_CODE = "@/\\_."

# Thai and Lao; Burmese; Khmer; Japanese syllabaries, twice; Chinese characters, four blocks;
# halfwidth Japanese; and the planes of rare Chinese characters.
_UNSPACED = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x31F0, 0x31FF),
    (0x2E80, 0x2FDF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0xFF66, 0xFF9F),
    (0x20000, 0x3FFFF),
)  # fmt: skip

_SMALL = re.compile(r"[a-z]")
_CAPITAL = re.compile(r"[A-Z]")
_ASCII_RUN = re.compile(r"[a-z0-9]+")
_ASCII_WORD = re.compile(r"([A-Za-z0-9]+)")

# Signs that follow a word (C++, C#, A*).
_SIGNS = "+#*"
# Categories of further signs, of mathematics and currencies, and one that separates columns.
_SIGN_CATEGORIES = ("Sm", "Sc")
_SEPARATOR = "|"
_LAST_SIGN = 0x1FFFF


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
    # Calls for each text would take most of the time.
    for batch in bounded_batches(texts):
        for is_ascii, group in groupby(map(decoded, batch), str.isascii):
            text = "\n".join(group)
            if is_ascii:
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
        others: Maps lowercase words to their replacements, which get the capitals of the words; all
            other words and those of code stay as written.
    """
    runs = []
    for run, is_prose in _marked_runs(text):
        if is_prose:
            run = _replaced(run, others)
        runs.append(run)
    return "".join(runs)


def words_of_prose(texts: Iterable[str]) -> Iterator[str]:
    """Yields the lowercased words and numbers of texts, except for those of code.

    A word of code is next to one of `SIGNS_OF_CODE`, without a space between, or has a capital
    after its first letter in a text that is not all in capitals.
    """
    for text in texts:
        for run, is_prose in _marked_runs(text):
            if is_prose:
                yield lowered(run)


def _marked_runs(text: str) -> Iterator[tuple[str, bool]]:
    """Yields the runs of a text, and whether each is a word of prose."""
    has_small = _SMALL.search(text) is not None
    runs = list(_runs(text))
    last = len(runs) - 1
    for index, run in enumerate(runs):
        is_prose = is_in_word(run[0])
        is_prose &= not (has_small and _CAPITAL.search(run, 1))
        if index > 0:
            is_prose &= runs[index - 1][-1] not in SIGNS_OF_CODE
        # A point at the end of a sentence joins nothing.
        if index + 1 < last:
            is_prose &= runs[index + 1] not in {*SIGNS_OF_CODE}
        yield run, is_prose


def _replaced(run: str, others: Mapping[str, str]) -> str:
    lowercase = lowered(run)
    if lowercase not in others:
        return run
    other = others[lowercase]
    capitals = other
    if run.isupper() and len(run) > 1:
        capitals = other.upper()
    elif run[0].isupper():
        capitals = other[0].upper() + other[1:]
    # A letter such as sharp s has no capital that is read as the same letter.
    return capitals if lowered(capitals) == other else other


def _runs(text: str) -> Iterator[str]:
    """Splits a text into words and runs of characters between words, by turns."""
    if text.isascii():
        yield from filter(None, _ASCII_WORD.split(text))
        return
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
        if code < len(table):
            char = chr(table[code])
        chars.append(char)
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
    marks[ord("A") : ord("Z") + 1] |= CAPITAL
    marks[ord("a") : ord("z") + 1] |= SMALL
    for sign in SIGNS_OF_CODE:
        marks[ord(sign)] = SIGN
    return symbols | marks


def bags_of_words(texts: Iterable[str]) -> list[list[str]]:
    """Returns the words of each text that search compares, in lowercase without accents.

    A word is a run of letters, digits, underscores and marks. Signs after it (C++, C#), or before a
    number (-5, <5), are part of it, and so is a hyphen after at most three letters (A-). In a text
    without words, they are separated by white space.
    """
    bags = []
    for text in texts:
        lowercase = text.lower()
        is_ascii = lowercase.isascii()
        patterns = _patterns(is_ascii)
        # Most texts have no signs, and the simple expression is faster.
        has_signs = patterns.signs.search(lowercase) is not None
        pattern = patterns.signed_word if has_signs else patterns.word
        words = pattern.findall(lowercase) or lowercase.split()
        bags.append(words if is_ascii else [*map(_without_accents, words)])
    return bags


class _Patterns(NamedTuple):
    """Regular expressions of signs, of words, and of words with signs."""

    signs: re.Pattern[str]
    word: re.Pattern[str]
    signed_word: re.Pattern[str]


def without_signs(word: str) -> str:
    """Returns a word of search without its signs; those of currencies stay: $5 may be 5."""
    if word.isalnum():
        return word
    return "".join(filter(_is_no_sign, word))


@cache
def _is_no_sign(char: str) -> bool:
    is_currency = unicodedata.category(char) == "Sc"
    return is_currency or char == "_" or is_in_word(char)


@cache
def _patterns(is_ascii: bool) -> _Patterns:
    """Compiles the expressions for lowercase texts."""
    if is_ascii:
        return _compiled(r"\w", r"\w+", _signs(range(128)), "-", re.ASCII)
    edges = unicode_ranges()["marks"].reshape(-1, 2)
    # Ranges: thousands of single characters would take a second to compile.
    marks = "".join(map(chr, INVISIBLE))
    for first, after in edges.tolist():
        marks += f"{chr(first)}-{chr(after - 1)}"
    # Most characters are ASCII, and need not be looked for in all ranges.
    mark = rf"(?=[^\0-\x7f])[{marks}]"
    word = rf"(?:\w+(?:{mark}\w*)*|(?:{mark}\w*)+)"
    char = rf"(?:\w|{mark})"
    hyphens = [char for char, plain in PLAIN.items() if plain == "-"]
    any_hyphen = rf"\-{''.join(hyphens)}\uff0d"
    signs = _signs(range(_LAST_SIGN))
    return _compiled(char, word, signs, any_hyphen, re.UNICODE)


def _signs(code_points: Iterable[int]) -> str:
    """Returns the signs among code points, escaped for a set of a regular expression."""
    signs = set(_SIGNS)
    for char in map(chr, code_points):
        if unicodedata.category(char) in _SIGN_CATEGORIES and char != _SEPARATOR:
            signs.add(char)
    return re.escape("".join(sorted(signs)))


def _compiled(char: str, word: str, signs: str, hyphens: str, flags: int) -> _Patterns:
    """Compiles expressions.

    Args:
        char: Expression for a character of a word.
        word: Expression for a word.
        signs: Signs, escaped for a set.
        hyphens: Hyphens and minus signs, escaped for a set.
        flags: Flags of `re`.
    """
    # Begins with a set: Python finds one eight times as fast as alternatives.
    any_sign = rf"[{signs}{hyphens}]"
    any_sign += rf"(?:(?<=[{signs}])|(?<=\w[{hyphens}])(?!\w)|(?<!\w[{hyphens}])(?=\d))"
    before = rf"(?<!{char})(?<![{signs}{hyphens}])[{hyphens}{signs}]+?(?=[0-9])"
    # A plus or number sign before a number says nothing.
    before += r"(?<![+#*\uff0b\uff03])"
    # A hyphen belongs to a word of one to three letters: A-.
    words_before = []
    for length in (1, 2, 3):
        words_before.append(rf"(?<=(?<!{char}){char * length})")
    short = "|".join(words_before)
    after = rf"[+#*\uff0b\uff03]+|[{signs}]+(?!{char})|(?:{short})[{hyphens}](?!{char})"
    signed_word = rf"(?:{before})?{word}(?:{after})?"
    return _Patterns(
        re.compile(any_sign, flags), re.compile(word, flags), re.compile(signed_word, flags)
    )


@cache
def _forms() -> dict[int, str | int | None]:
    """Maps the code points of characters that search reads as others, or drops."""
    dropped = [*INVISIBLE, *optional_marks(), TATWEEL]
    return str.maketrans({**PLAIN, **dict.fromkeys(map(chr, dropped))})


# Most words repeat.
@lru_cache(maxsize=100_000)
def _without_accents(word: str) -> str:
    """Returns a lowercase word without accents, or the word if nothing would be left of it."""
    decomposed = unicodedata.normalize("NFKD", word)
    letters = decomposed.translate(_forms())
    composed = unicodedata.normalize("NFKC", letters)
    # The Greek sigma has another form at the end of a word.
    return composed.casefold() or word
