"""Joins and splits words as other texts of a list do: wal mart, walmart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import add

import numpy as np
from numpy.typing import NDArray

# Words that may be joined, and letters of a word that may be split.
_MAX_PARTS = 3
_MAX_LETTERS = 40


class JoinedWords:
    """Writes words in one way where texts differ in spaces, hyphens and apostrophes.

    Adjacent words are joined if some text has the joined word. Words that no text has are split if
    some text has their parts next to each other.
    """

    def __init__(self) -> None:
        self._words: set[str] = set()
        # Hashes of adjacent words, joined, ascending: strings would take ten times the memory.
        self._adjacent: NDArray[np.int64] = np.zeros(0, np.int64)

    def count(self, bags: Sequence[Sequence[str]]) -> None:
        """Finds joined words in other texts, given as their words; earlier words are dropped."""
        self._words = set().union(*bags)
        hashes = [np.zeros(0, np.int64)]
        for bag in bags:
            joined = _adjacent(bag)
            hashes.append(np.fromiter(map(hash, joined), np.int64, len(joined)))
        self._adjacent = np.unique(np.concatenate(hashes))

    def respelled(self, bags: Iterable[list[str]]) -> list[list[str]]:
        """Joins and splits the words of texts."""
        spelled = []
        for bag in bags:
            if not self._words.isdisjoint(_adjacent(bag)):
                bag = self._join(bag)
            if not self._words.issuperset(bag):
                bag = [part for word in bag for part in self._split(word)]
            spelled.append(bag)
        return spelled

    def _join(self, bag: list[str]) -> list[str]:
        """Joins adjacent words, most words first."""
        words = []
        start = 0
        while start < len(bag):
            num_parts = self._num_parts(bag, start)
            words.append("".join(bag[start : start + num_parts]))
            start += num_parts
        return words

    def _num_parts(self, bag: list[str], start: int) -> int:
        """Returns the number of words that are one word elsewhere, from a word on."""
        most = min(_MAX_PARTS, len(bag) - start)
        for length in range(most, 1, -1):
            parts = bag[start : start + length]
            if "".join(parts) in self._words and _can_join(parts):
                return length
        return 1

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
        key = hash(word)
        row = np.searchsorted(self._adjacent, key)
        return row < len(self._adjacent) and self._adjacent[row] == key


def _adjacent(bag: Sequence[str]) -> list[str]:
    """Joins each two and each three adjacent words of a text."""
    pairs = list(map(add, bag, bag[1:]))
    return pairs + list(map(add, pairs, bag[2:]))


def _can_join(parts: Sequence[str]) -> bool:
    """Returns whether words are not numbers next to each other, which would be another number."""
    for index in range(1, len(parts)):
        if parts[index - 1][-1].isdigit() and parts[index][0].isdigit():
            return False
    return True
