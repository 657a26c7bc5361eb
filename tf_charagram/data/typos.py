"""Typos: seeded edits of characters, other errors of writing, and real misspellings of words."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from tf_charagram.data._tables.scored import ScoredPairs

T = TypeVar("T")

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
# Words long enough to stay readable with a typo.
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
_WORD = re.compile(r"[^\W\d_](?:['\u2019-]?[^\W\d_])*")
_VOWEL = re.compile("[aeiouAEIOU]")
# Letters and pairs of letters that scanned texts confuse.
_CONFUSED = {
    "rn": "m",
    "m": "rn",
    "cl": "d",
    "d": "cl",
    "vv": "w",
    "w": "vv",
    "0": "o",
    "o": "0",
    "1": "l",
    "l": "1",
}
_LOOKS_ALIKE = re.compile("|".join(_CONFUSED))
_MAX_TYPOS = 3


def add_typos(text: str, num_edits: int, random: np.random.Generator) -> str:
    """Adds typos to a text.

    Each edit picks one of the words of four letters or more at random and swaps two neighboring
    letters, or drops, doubles or replaces one. The word always changes, but not its first letter.

    Args:
        text: Any text. Without such a word it is returned unchanged.
        num_edits: Number of edits, made one after the other.
        random: Generator of the random choices.

    Examples:
        >>> add_typos("character embeddings", 1, np.random.default_rng(0))
        'character ebeddings'
    """
    for _ in range(num_edits):
        # The expression also matches numerals such as a superscript two, which are not letters.
        words = [match for match in _LONG_WORD.finditer(text) if match.group().isalpha()]
        if not words:
            break
        word_draw, *draws = random.random(4).tolist()
        word = _drawn(words, word_draw)
        text = _with(text, word, _edited(word.group(), *draws))
    return text


def _drawn(choices: Sequence[T], draw: float) -> T:
    """Chooses by a number in [0, 1)."""
    return choices[int(draw * len(choices))]


def _with(text: str, place: re.Match[str], replacement: str) -> str:
    """Replaces a part of a text."""
    start, end = place.span()
    return text[:start] + replacement + text[end:]


def _edited(word: str, kind_draw: float, place_draw: float, letter_draw: float) -> str:
    """Returns a word with one edit, chosen by three numbers in [0, 1)."""
    kind = _drawn(("swap", "drop", "double", "replace"), kind_draw)
    if kind == "swap":
        places = [i for i in range(1, len(word) - 1) if word[i] != word[i + 1]]
        if places:
            i = _drawn(places, place_draw)
            swapped = word[i + 1] + word[i]
            return word[:i] + swapped + word[i + 2 :]
        kind = "drop"  # All letters but the first are equal, so a swap would change nothing.
    # Never the first letter, by which readers recognize a word.
    place = _drawn(range(1, len(word)), place_draw)
    before = word[:place]
    letter = word[place]
    after = word[place + 1 :]
    if kind == "drop":
        return before + after
    if kind == "double":
        return before + letter + letter + after
    others = _LETTERS.replace(letter.lower(), "")
    return before + _drawn(others, letter_draw) + after


def add_typos_to_a_side(
    pair: tuple[str, str], random: np.random.Generator
) -> tuple[str, str] | None:
    """Returns a pair with 1 to 3 edits in one side; `None` if neither has a word to edit."""
    sides = list(pair)
    first = int(random.integers(2))
    num_edits = int(random.integers(1, _MAX_TYPOS + 1))
    for side in (first, 1 - first):
        text = sides[side]
        sides[side] = add_typos(text, num_edits, random)
        if sides[side] != text:
            left, right = sides
            return left, right
    return None


def _joined(text: str, random: np.random.Generator) -> str:
    """Joins two adjacent words."""
    return _changed(text, re.finditer(r"(?<=\w) (?=\w)", text), lambda space: "", random)


def _split(text: str, random: np.random.Generator) -> str:
    """Splits a word of four letters or more."""

    def parts(word: str) -> str:
        place = int(random.integers(2, len(word) - 1))
        return f"{word[:place]} {word[place:]}"

    return _changed(text, _LONG_WORD.finditer(text), parts, random)


def _confused(text: str, random: np.random.Generator) -> str:
    """Replaces a character, or two, by one that looks alike."""
    return _changed(text, _LOOKS_ALIKE.finditer(text), _CONFUSED.__getitem__, random)


def _without_vowels(text: str, random: np.random.Generator) -> str:
    """Drops the vowels after the first letter of a word of four letters or more."""

    def without_vowels(word: str) -> str:
        return word[0] + _VOWEL.sub("", word[1:])

    words = _LONG_WORD.finditer(text)
    places = [word for word in words if without_vowels(word.group()) != word.group()]
    return _changed(text, places, without_vowels, random)


def _changed(
    text: str,
    places: Iterable[re.Match[str]],
    change: Callable[[str], str],
    random: np.random.Generator,
) -> str:
    """Changes one of some places of a text, at random."""
    matches = list(places)
    if not matches:
        return text
    match = matches[int(random.integers(len(matches)))]
    return _with(text, match, change(match.group()))


#: Kind of errors -> a function that makes one.
KINDS = {"joined": _joined, "split": _split, "ocr": _confused, "vowels": _without_vowels}
_NUM_ERRORS = 2


def with_typos(pairs: ScoredPairs, typos: int | str, seed: int) -> ScoredPairs:
    """Returns a set with typos in the right text of each pair.

    Args:
        pairs: The set.
        typos: Character edits per text; or a name in `KINDS`, for two errors of this kind.
        seed: Seed of the typos, which also depend on the name of the set.
    """
    # Not `hash`, which differs from process to process.
    random = np.random.default_rng([seed, zlib.crc32(pairs.name.encode())])
    if isinstance(typos, int):
        return replace(pairs, right=[add_typos(text, typos, random) for text in pairs.right])
    texts = list(pairs.right)
    make_error = KINDS[typos]
    for _ in range(_NUM_ERRORS):
        texts = [make_error(text, random) for text in texts]
    return replace(pairs, right=texts)


class Typos:
    """Adds 1 to 3 typos to a share of texts.

    If a text has words with known misspellings, half of its typos are such misspellings; the others
    swap, drop, double or replace single letters.

    Args:
        share: Share of the texts to change.
        misspellings: Wrong forms of words in lowercase.
        kinds: Names in `KINDS`: errors that are as frequent as typos, each.
    """

    def __init__(
        self,
        share: float,
        misspellings: Mapping[str, Sequence[str]] | None = None,
        kinds: Sequence[str] = (),
    ) -> None:
        self.share = share
        self._misspellings = misspellings or {}
        self._kinds = kinds

    def add(self, texts: Sequence[str], random: np.random.Generator) -> list[str]:
        """Returns texts with typos in a share of them."""
        changed = list(texts)
        if not self.share:
            return changed
        is_chosen = random.random(len(texts)) < self.share
        for index in np.flatnonzero(is_chosen).tolist():
            changed[index] = self._with_typos(changed[index], random)
        return changed

    def samples(self, texts: Iterable[str], seed: int) -> Iterator[str]:
        """Yields a random share of texts, with typos."""
        random = np.random.default_rng(seed)
        for text in texts:
            if self.share and random.random() < self.share:
                yield self._with_typos(text, random)

    def _with_typos(self, text: str, random: np.random.Generator) -> str:
        """Returns a text with 1 to 3 errors."""
        num_errors = int(random.integers(1, _MAX_TYPOS + 1))
        for _ in range(num_errors):
            changed = text
            # 0 is a typo; the kinds are numbered from 1, so all are equally frequent.
            kind = 0
            if self._kinds:
                kind = int(random.integers(len(self._kinds) + 1))
            if kind > 0:
                make_error = KINDS[self._kinds[kind - 1]]
                changed = make_error(text, random)
            elif self._misspellings and random.random() < 0.5:
                changed = self._misspelled(text, random)
            if changed == text:
                # A text without a place for the other errors gets a typo.
                changed = add_typos(text, 1, random)
            text = changed
        return text

    def _misspelled(self, text: str, random: np.random.Generator) -> str:
        """Returns a text with one of its words misspelled, if a misspelling of one is known."""
        known = self._misspellings

        def misspelled(word: str) -> str:
            forms = known[word.lower()]
            return forms[int(random.integers(len(forms)))]

        words = _WORD.finditer(text)
        places = [word for word in words if word.group().lower() in known]
        return _changed(text, places, misspelled, random)
