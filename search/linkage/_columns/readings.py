"""Readings of codes and names that two tables write otherwise: their values decide.

`web01.prod.example.com` is `web01` if all hosts of a table end so, and `00161/0006` is `161/6`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from tf_charagram.search.linkage._columns.kinds import Kind

_LETTERS_OR_DIGITS = re.compile(r"[^\W\d_]+|\d+")
_NAMES = ("name", "text")
# A word that so many values have at the same place, of so many, tells nothing.
_MIN_CONSTANT = 0.8
_MIN_VALUES = 10
# Another reading gives so many more values in common, of those of the smaller table.
_MIN_GAIN = 0.05
_MIN_NEW = 2
# So many values of a table may become equal.
_MAX_MERGED = 0.01


class _Words(NamedTuple):
    """Words of the cells of a table, or the letters and digits of codes.

    Attributes:
        split: Returns the words of a cell.
        constants: Words that nearly all cells have, and their places from the start, or, negative,
            from the end.
        has_zeros: Whether numbers have zeros in front.
    """

    split: Callable[[str], list[str]]
    constants: frozenset[tuple[int, str]]
    has_zeros: bool

    @classmethod
    def of(cls, kind: Kind, cells: Sequence[str]) -> _Words:
        """Finds the constant words of the distinct cells of a table."""
        read = kind.reader(cells)
        split = _codes_in
        if kind.name in _NAMES:

            def split(cell: str) -> list[str]:
                return read(cell).split()

        counts: Counter[tuple[int, str]] = Counter()
        has_zeros = False
        for cell in cells:
            words = split(cell)
            counts.update(set(_places(words)))
            has_zeros = has_zeros or list(map(_plain, words)) != words
        least = _MIN_CONSTANT * max(len(cells), _MIN_VALUES)
        constants = frozenset(place for place, count in counts.items() if count >= least)
        return cls(split, constants, has_zeros)

    def telling(self, cell: str) -> list[str]:
        """Returns the words that are not constant, or all words if there are none."""
        words = self.split(cell)
        last = len(words)
        told = []
        for (start, plain), word in zip(enumerate(map(_plain, words)), words, strict=True):
            if not {(start, plain), (start - last, plain)} & self.constants:
                told.append(word)
        return told or words

    def names(self) -> set[str]:
        """Returns the constant words."""
        return {word for _, word in self.constants}


def _codes_in(cell: str) -> list[str]:
    return _LETTERS_OR_DIGITS.findall(cell.casefold())


def _places(words: Sequence[str]) -> Iterable[tuple[int, str]]:
    for start, word in enumerate(map(_plain, words)):
        yield start, word
        yield start - len(words), word


def _plain(word: str) -> str:
    """Returns a word without zeros in front."""
    return word.lstrip("0") or "0"


def _in_order(words: Sequence[str]) -> str:
    return " ".join(map(_plain, words))


def _in_any_order(words: Sequence[str]) -> str:
    return " ".join(sorted(map(_plain, words)))


def _joined(words: Sequence[str]) -> str:
    return _plain("".join(words))


# From the reading that changes least.
_JOINED = (_in_order, _joined, _in_any_order)


def _reader(
    kind: Kind, join: Callable[[Sequence[str]], str], cells: Sequence[str]
) -> Callable[[str], str]:
    words = _Words.of(kind, cells)

    def read(cell: str) -> str:
        told = words.telling(cell)
        return join(told) if told else ""

    return read


def read_alike(kind: Kind, left: Sequence[str], right: Sequence[str]) -> tuple[Kind, str]:
    """Chooses the reading of the values of two tables that gives most values in common.

    Words that nearly all values of a table have are no information, nor are zeros in front of
    numbers. No reading is taken that makes different values of a table equal.

    Args:
        kind: Kind of the column.
        left: Distinct cells of the left table.
        right: The same of the right one.

    Returns:
        The kind with its reader, and what the user should know, or an empty text.
    """
    readings = _JOINED if kind.name == "code" else _JOINED[:1] if kind.name in _NAMES else ()
    sides = left, right
    words = [_Words.of(kind, cells) for cells in sides] if readings else []
    names = [own.names() for own in words]
    # Numbers of 2023 are not those of 2024.
    if not readings or not (names[0] <= names[1] or names[1] <= names[0]):
        return kind, ""
    plain = [set(map(kind.reader(cells), cells)) for cells in sides]
    least = max(_MIN_GAIN * min(map(len, plain)), _MIN_NEW)
    best = len(plain[0] & plain[1])
    chosen = None
    for join in readings:
        forms = [set(map(_reader(kind, join, cells), cells)) for cells in sides]
        num_common = len(forms[0] & forms[1])
        are_kept = [
            len(own) >= (1 - _MAX_MERGED) * len(before)
            for own, before in zip(forms, plain, strict=True)
        ]
        if all(are_kept) and num_common >= best + least:
            best, chosen = num_common, join
    if chosen is None:
        return kind, ""
    ignored = [f"`{name}`" for name in sorted(names[0] ^ names[1])]
    if words[0].has_zeros or words[1].has_zeros:
        ignored.append("zeros in front")
    changes = [f"without {', '.join(ignored)}"] if ignored else []
    if chosen is _in_any_order:
        changes.append("in any order")
    note = f"read {' and '.join(changes)}"
    return kind._replace(reader=partial(_reader, kind, chosen)), note
