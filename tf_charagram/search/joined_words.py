"""Joins and splits words as other texts of a list do: wal mart, walmart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
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
        # Joined words of which a text has the parts.
        self._joints: set[str] = set()
        # First parts of joined words, so that most texts need no look at their pairs.
        self._first_parts: set[str] = set()
        # Hashes of all adjacent words, ascending: a set of strings would take ten times the memory.
        self._adjacent: NDArray[np.int64] = np.zeros(0, np.int64)

    def count(self, bags: Sequence[Sequence[str]]) -> None:
        """Finds joined words in other texts, given as their words; earlier words are dropped."""
        self._words = set().union(*bags)
        self._joints = set()
        self._first_parts = set()
        for bag in bags:
            for length in range(2, _MAX_PARTS + 1):
                joined = list(_adjacent(bag, length))
                if self._words.isdisjoint(joined):
                    continue
                for start, word in enumerate(joined):
                    if word in self._words and _can_join(bag[start : start + length]):
                        self._joints.add(word)
                        self._first_parts.add(bag[start])
        hashes = np.fromiter(_hashes(bags), np.int64)
        self._adjacent = np.unique(hashes)

    def respelled(self, bags: Sequence[list[str]]) -> list[list[str]]:
        """Joins and splits the words of texts."""
        spelled = []
        for bag in bags:
            if not self._first_parts.isdisjoint(bag):
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
            num_parts = 1
            if bag[start] in self._first_parts:
                num_parts = self._num_parts(bag, start)
            words.append("".join(bag[start : start + num_parts]))
            start += num_parts
        return words

    def _num_parts(self, bag: list[str], start: int) -> int:
        for length in range(_MAX_PARTS, 1, -1):
            parts = bag[start : start + length]
            if len(parts) == length and "".join(parts) in self._joints and _can_join(parts):
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


def _adjacent(bag: Sequence[str], length: int) -> Iterator[str]:
    """Yields the joined words of each so many adjacent words."""
    joined: Iterable[str] = bag
    for shift in range(1, length):
        joined = map(add, joined, bag[shift:])
    return iter(joined)


def _hashes(bags: Iterable[Sequence[str]]) -> Iterator[int]:
    for bag in bags:
        for length in range(2, _MAX_PARTS + 1):
            yield from map(hash, _adjacent(bag, length))


def _can_join(parts: Sequence[str]) -> bool:
    """Returns whether words are not numbers next to each other, which would be another number."""
    for index in range(1, len(parts)):
        if parts[index - 1][-1].isdigit() and parts[index][0].isdigit():
            return False
    return True
