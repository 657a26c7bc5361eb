"""Typos: seeded edits of characters, other errors of writing, and real misspellings of words."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tf_charagram.data.readers.scored import ScoredPairs

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
# Words long enough to stay readable with a typo.
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
_WORD = re.compile(r"[^\W\d_](?:['\u2019-]?[^\W\d_])*")
_VOWEL = re.compile("[aeiouAEIOU]")
# Letters and pairs of letters that scanned texts confuse.
_CONFUSED = {
    "rn": "m", "m": "rn", "cl": "d", "d": "cl", "vv": "w", "w": "vv", "0": "o", "o": "0", "1": "l",
    "l": "1",
}  # fmt: skip
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

    Example:
        >>> add_typos("character embeddings", 1, np.random.default_rng(0))
        'character ebeddings'
    """
    for _ in range(num_edits):
        # The expression also matches numerals such as a superscript two, which are not letters.
        words = [match.span() for match in _LONG_WORD.finditer(text) if match.group().isalpha()]
        if not words:
            break
        draws = random.random(4).tolist()
        start, end = words[int(draws[0] * len(words))]
        text = text[:start] + _edited(text[start:end], draws[1:]) + text[end:]
    return text


def _edited(word: str, draws: list[float]) -> str:
    """Returns a word with one edit, chosen by three numbers in [0, 1)."""
    kind = int(draws[0] * 4)
    # Never the first letter, by which readers recognize a word.
    position = 1 + int(draws[1] * (len(word) - 1))
    if kind == 0:
        swappable = [i for i in range(1, len(word) - 1) if word[i] != word[i + 1]]
        if swappable:
            i = swappable[int(draws[1] * len(swappable))]
            return word[:i] + word[i + 1] + word[i] + word[i + 2 :]
        kind = 1  # All letters but the first are equal, so a swap would change nothing.
    before = word[:position]
    letter = word[position]
    after = word[position + 1 :]
    if kind == 1:
        return before + after
    if kind == 2:
        return before + letter + letter + after
    others = _LETTERS.replace(letter.lower(), "")
    return before + others[int(draws[2] * len(others))] + after


def add_typos_to_a_side(
    pair: tuple[str, str], random: np.random.Generator
) -> tuple[str, str] | None:
    """Returns a pair with 1 to 3 edits in one side; `None` if neither has a word to edit."""
    left, right = pair
    is_left_first = random.integers(2) == 0
    num_edits = int(random.integers(1, _MAX_TYPOS + 1))
    for is_left in (is_left_first, not is_left_first):
        text = left if is_left else right
        edited = add_typos(text, num_edits, random)
        if edited != text:
            return (edited, right) if is_left else (left, edited)
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
    words = (match for match in _LONG_WORD.finditer(text) if _VOWEL.search(match.group(), 1))

    def without_vowels(word: str) -> str:
        return word[0] + _VOWEL.sub("", word[1:])

    return _changed(text, words, without_vowels, random)


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
    return text[: match.start()] + change(match.group()) + text[match.end() :]


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
        if not self.share:
            return list(texts)
        changed = list(texts)
        for index in np.flatnonzero(random.random(len(texts)) < self.share).tolist():
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
            kind = int(random.integers(len(self._kinds) + 1)) if self._kinds else 0
            if kind > 0:
                changed = KINDS[self._kinds[kind - 1]](text, random)
            elif self._misspellings and random.random() < 0.5:
                changed = self._misspelled(text, random)
            # A text without a place for the other errors gets a typo.
            text = add_typos(text, 1, random) if changed == text else changed
        return text

    def _misspelled(self, text: str, random: np.random.Generator) -> str:
        """Returns a text with one of its words misspelled, if a misspelling of one is known."""
        words = [
            match for match in _WORD.finditer(text) if match.group().lower() in self._misspellings
        ]
        if not words:
            return text
        word = words[int(random.integers(len(words)))]
        forms = self._misspellings[word.group().lower()]
        form = forms[int(random.integers(len(forms)))]
        return text[: word.start()] + form + text[word.end() :]
