"""Joins and splits words as other texts of a list do: wal mart, walmart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from itertools import chain, pairwise
from operator import add

import numpy as np
from numpy.typing import NDArray

from tf_charagram.text.arguments import distinct

# Letters of a word that may be split, or written as several words.
_MAX_LETTERS = 40
# The hash of a word is that of its start, times this for each byte of its end, plus the hash of the
# end: adjacent words need not be joined.
_BASE = 0x5851F42D4C957F2D
_MODULUS = 1 << 64


class JoinedWords:
    """Writes words in one way where texts differ in spaces, hyphens and apostrophes.

    Adjacent words are joined if some text has the joined word. Words that no text has are split if
    some text has their parts next to each other.

    Args:
        bags: The words of the texts.
    """

    def __init__(self, bags: Sequence[Sequence[str]]) -> None:
        words, ids = distinct(chain.from_iterable(bags))
        self._words = set(words)
        self._first_parts = self._find_first_parts()
        hashes = np.array([_hash(word) for word in words], np.uint64)[ids]
        shifts = np.array([_shift(word) for word in words], np.uint64)[ids]
        texts = np.repeat(np.arange(len(bags)), [len(bag) for bag in bags])
        pairs = hashes[:-1] * shifts[1:] + hashes[1:]
        triples = pairs[:-1] * shifts[2:] + hashes[2:]
        inner_pairs = pairs[texts[:-1] == texts[1:]]
        inner_triples = triples[texts[:-2] == texts[2:]]
        # Hashes of adjacent words, joined, ascending: strings would take ten times the memory.
        self._adjacent: NDArray[np.uint64] = np.unique(np.append(inner_pairs, inner_triples))

    def _find_first_parts(self) -> set[str]:
        """Returns the known words that are the first of two or three parts of a known word."""
        first_parts = set()
        for word in self._words:
            for end in range(1, min(len(word), _MAX_LETTERS)):
                if word[:end] in self._words and self._is_known(word[end:]):
                    first_parts.add(word[:end])
        return first_parts

    def _is_known(self, rest: str) -> bool:
        """Returns whether the rest of a word is one or two known words."""
        if rest in self._words:
            return True
        for end in range(1, min(len(rest), _MAX_LETTERS)):
            if rest[:end] in self._words and rest[end:] in self._words:
                return True
        return False

    def respelled(self, bags: Iterable[list[str]]) -> list[list[str]]:
        """Joins and splits the words of texts."""
        spelled = []
        for bag in bags:
            # Most texts of the list itself stay as they are.
            is_known = self._words.issuperset(bag)
            if not is_known or not self._first_parts.isdisjoint(bag):
                bag = self._respelled(bag)
            spelled.append(bag)
        return spelled

    def _respelled(self, bag: list[str]) -> list[str]:
        pairs = list(map(add, bag, bag[1:]))
        triples = list(map(add, pairs, bag[2:]))
        known = self._words.intersection(pairs) | self._words.intersection(triples)
        if known:
            bag = _joined(bag, pairs, triples, known)
        return [part for word in bag for part in self._split(word)]

    def _split(self, word: str) -> list[str]:
        """Splits a word that no text has, if a text has its parts next to each other."""
        if word in self._words or len(word) > _MAX_LETTERS or not self._is_adjacent(word):
            return [word]
        for end in range(1, len(word)):
            if word[:end] not in self._words:
                continue
            if word[end:] in self._words:
                return [word[:end], word[end:]]
            for second in range(end + 1, len(word)):
                parts = [word[:end], word[end:second], word[second:]]
                if self._words.issuperset(parts):
                    return parts
        return [word]

    def _is_adjacent(self, word: str) -> bool:
        key = np.uint64(_hash(word))
        row = np.searchsorted(self._adjacent, key)
        return bool(row < len(self._adjacent) and self._adjacent[row] == key)


def _hash(word: str) -> int:
    """Returns a hash that is the same in all processes, because scorers are pickled."""
    value = 0
    for byte in word.encode("utf-8", "surrogatepass"):
        value = (value * _BASE + byte) % _MODULUS
    return value


def _shift(word: str) -> int:
    """Returns the factor of the hash of a word before this one."""
    num_bytes = len(word.encode("utf-8", "surrogatepass"))
    return pow(_BASE, num_bytes, _MODULUS)


def _joined(
    bag: Sequence[str], pairs: Sequence[str], triples: Sequence[str], known: Set[str]
) -> list[str]:
    """Joins adjacent words that are a known word together, three before two."""
    words = []
    start = 0
    while start < len(bag):
        word = bag[start]
        num_parts = 1
        for joined, length in ((triples, 3), (pairs, 2)):
            if start >= len(joined) or joined[start] not in known:
                continue
            if _can_join(bag[start : start + length]):
                word = joined[start]
                num_parts = length
                break
        words.append(word)
        start += num_parts
    return words


def _can_join(parts: Sequence[str]) -> bool:
    """Returns whether words are not numbers next to each other, which would be another number."""
    for before, after in pairwise(parts):
        if before[-1].isdigit() and after[0].isdigit():
            return False
    return True
