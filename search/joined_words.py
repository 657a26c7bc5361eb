"""Joins and splits words as other texts of a list do: wal mart, walmart."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence, Set
from itertools import pairwise
from operator import add

import numpy as np

from tf_charagram.search.rare_keys import distinct_integers

# Letters of a word that may be split.
_MAX_LETTERS = 40


class JoinedWords:
    """Writes words in one way where texts differ in spaces, hyphens and apostrophes.

    Adjacent words are joined if some text has the joined word. Words that no text has are split if
    some text has their parts next to each other.

    Args:
        bags: The words of the texts.
    """

    def __init__(self, bags: Sequence[Sequence[str]]) -> None:
        self._words: set[str] = set().union(*bags)
        hashes = [np.zeros(0, np.int64)]
        for bag in bags:
            pairs, triples = _adjacent(bag)
            joined = pairs + triples
            hashes.append(np.fromiter(map(_hash, joined), np.int64, len(joined)))
        # Hashes of adjacent words, joined, ascending: strings would take ten times the memory.
        self._adjacent = distinct_integers(np.concatenate(hashes))

    def respelled(self, bags: Iterable[list[str]]) -> list[list[str]]:
        """Joins and splits the words of texts."""
        spelled = []
        for bag in bags:
            pairs, triples = _adjacent(bag)
            known = self._words.intersection(pairs) | self._words.intersection(triples)
            if known:
                bag = _joined(bag, pairs, triples, known)
            if not self._words.issuperset(bag):
                bag = [part for word in bag for part in self._split(word)]
            spelled.append(bag)
        return spelled

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
        key = _hash(word)
        row = np.searchsorted(self._adjacent, key)
        return bool(row < len(self._adjacent) and self._adjacent[row] == key)


def _hash(word: str) -> int:
    """Returns a hash that is the same in all processes, because scorers are pickled."""
    data = word.encode("utf-8", "surrogatepass")
    return zlib.crc32(data) << 31 ^ zlib.adler32(data)


def _adjacent(bag: Sequence[str]) -> tuple[list[str], list[str]]:
    """Joins each two and each three adjacent words of a text."""
    pairs = list(map(add, bag, bag[1:]))
    triples = list(map(add, pairs, bag[2:]))
    return pairs, triples


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
