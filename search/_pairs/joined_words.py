"""Joins and splits words as other texts of a list do: wal mart, walmart."""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import pairwise
from operator import add

import numpy as np
from numpy.typing import NDArray

from tf_charagram.search._pairs.flat_arrays import Ids, distinct_integers, places_in
from tf_charagram.search._pairs.word_lists import WordHashes, WordLists, joined_hashes
from tf_charagram.search.statistics import TextStatistics

# Letters of a word that may be split.
_MAX_LETTERS = 40
# Texts whose words are all looked at; of more, hashes tell first which may change.
_FEW_TEXTS = 25
# Entries of a table of hashes for each hash.
_TABLE = 8


def respelled(lists: WordLists, statistics: TextStatistics) -> WordLists:
    """Writes words in one way where texts differ in spaces, hyphens and apostrophes.

    Adjacent words are joined if some counted text has the joined word. Words that no text has are
    split if some text has their parts next to each other.

    Args:
        lists: The words of texts.
        statistics: The counted words.
    """
    known = statistics.index.keys()
    is_small = len(lists) <= _FEW_TEXTS
    rows = [*range(len(lists))] if is_small else _changed_rows(lists, statistics)
    bags = {}
    for row, written in zip(rows, lists.strings(rows), strict=True):
        bag = [part for word in _joined(written, known) for part in _split(word, known, statistics)]
        if bag != written:
            bags[row] = bag
    return lists.replaced(bags)


def _changed_rows(lists: WordLists, statistics: TextStatistics) -> list[int]:
    """Returns the rows of texts that may have words to be joined or split."""
    known = statistics.index
    is_split = np.zeros(len(lists.words), bool)
    unknown = [place for place, word in enumerate(lists.words) if word not in known]
    values = WordHashes.of_words([lists.words[place] for place in unknown]).values
    is_split[unknown] = places_in(statistics.hashes, values) >= 0
    changed = [lists.rows()[is_split[lists.ids]]]
    for rows, joined in joined_hashes(lists):
        changed.append(rows[_are_in(statistics.word_hashes, joined)])
    return distinct_integers(np.concatenate(changed)).tolist()


def _are_in(ordered: NDArray[np.uint64], hashes: NDArray[np.uint64]) -> Ids:
    """Returns the indices of the hashes that are among ascending ones.

    Few are. A table of their first bits drops most others; a search takes ten times as long.
    """
    num_bits = (_TABLE * len(ordered) + 1).bit_length()
    shift = np.uint64(64 - num_bits)
    is_start = np.zeros(1 << num_bits, bool)
    is_start[ordered >> shift] = True
    places = np.flatnonzero(is_start[hashes >> shift])
    return places[places_in(ordered, hashes[places]) >= 0]


def _split(word: str, known: Set[str], statistics: TextStatistics) -> list[str]:
    """Splits a word that no text has, if a text has its parts next to each other."""
    if word in known or len(word) > _MAX_LETTERS or not statistics.is_joined(word):
        return [word]
    for end in range(1, len(word)):
        if word[:end] not in known:
            continue
        if word[end:] in known:
            return [word[:end], word[end:]]
        for second in range(end + 1, len(word)):
            parts = [word[:end], word[end:second], word[second:]]
            if known >= set(parts):
                return parts
    return [word]


def _joined(bag: Sequence[str], known: Set[str]) -> list[str]:
    """Joins adjacent words that are a known word together, three before two."""
    pairs = list(map(add, bag, bag[1:]))
    triples = list(map(add, pairs, bag[2:]))
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
