"""Readings of codes and names that two tables write otherwise: their values decide.

`web01.prod.example.com` is `web01` if all hosts of a table end so, and `00161/0006` is `161/6`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from tf_charagram.search.linkage._columns.kinds import Kind
from tf_charagram.search.linkage._columns.values import sampled

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

# Words, and their places from the start, or, negative, from the end.
_Places = frozenset[tuple[int, str]]
# Returns the function that reads a cell, given the distinct cells of a table.
_Reader = Callable[[Sequence[str]], Callable[[str], str]]


def read_alike(kind: Kind, tables: Sequence[Mapping[str, str]]) -> tuple[Kind, str]:
    """Chooses the reading of the values of two tables that gives most values in common.

    Words that nearly all values of a table have are no information, nor are zeros in front of
    numbers. No reading is taken that makes more than a few values of a table equal.

    Args:
        kind: Kind of the column.
        tables: Distinct cells of one or two tables, and their values as the kind reads them. Those
            of one table are read as they are.

    Returns:
        The kind with its reader, and a note for the user, or an empty text.
    """
    joins = _JOINS.get(kind.name, ())
    if len(tables) == 1 or not joins:
        return kind, ""
    samples = [_sampled_words(kind, list(forms)) for forms in tables]
    constants = [_constants(sample) for sample in samples]
    left, right = ({word for _, word in places} for places in constants)
    every = {word for sample in samples for words in sample for word in words}
    has_zeros = any(_plain(word) != word for word in every)
    # Numbers of 2023 are not those of 2024.
    is_clear = left <= right or right <= left
    if not is_clear or not (left or right or has_zeros):
        return kind, ""
    ignored = constants[0] | constants[1]
    readers: list[_Reader] = [partial(_reader, kind, ignored, join) for join in joins]
    reader = most_in_common(tables, readers, _MAX_MERGED)
    if reader is None:
        return kind, ""
    without = [f"`{word}`" for word in sorted(left ^ right)]
    if has_zeros:
        without.append("zeros in front")
    changes = [f"without {', '.join(without)}"] if without else []
    if joins[readers.index(reader)] is _in_any_order:
        changes.append("in any order")
    return kind._replace(reader=reader), f"read {' and '.join(changes)}"


def most_in_common(
    tables: Sequence[Mapping[str, str]], readers: Sequence[_Reader], max_merged: float
) -> _Reader | None:
    """Chooses the reading that gives two tables clearly more values in common, or `None`.

    Args:
        tables: Distinct cells of two tables, and their values as they are read without it.
        readers: The readings; the one that changes least comes first.
        max_merged: So many values of a table may become equal, as a share of the smaller table.
    """
    plain = [set(forms.values()) for forms in tables]
    smaller = min(map(len, plain))
    least = max(_MIN_GAIN * smaller, _MIN_NEW)
    best = len(plain[0] & plain[1])
    chosen = None
    # No reading gives more values in common than the smaller table has.
    for reader in readers if best + least <= smaller else ():
        forms = [set(map(reader(list(cells)), cells)) for cells in tables]
        num_merged = [len(before) - len(own) for before, own in zip(plain, forms, strict=True)]
        num_common = len(forms[0] & forms[1])
        if max(num_merged) <= max_merged * smaller and num_common >= best + least:
            best, chosen = num_common, reader
    return chosen


def _sampled_words(kind: Kind, cells: Sequence[str]) -> list[list[str]]:
    """Returns the words of some cells of a table."""
    return list(map(_splitter(kind, cells), sampled(cells)))


def _splitter(kind: Kind, cells: Sequence[str]) -> Callable[[str], list[str]]:
    """Returns the function that finds the words of a cell, or the letters and digits of a code."""
    read = kind.reader(cells)
    if kind.name in _NAMES:
        return lambda cell: read(cell).split()
    return lambda cell: _LETTERS_OR_DIGITS.findall(cell.casefold())


def _constants(sample: Sequence[Sequence[str]]) -> _Places:
    """Returns the words that nearly all cells of a table have at the same place."""
    counts: Counter[tuple[int, str]] = Counter()
    for words in sample:
        for start, word in enumerate(words):
            counts.update(_places(start, word, len(words)))
    least = _MIN_CONSTANT * max(len(sample), _MIN_VALUES)
    return frozenset(place for place, count in counts.items() if count >= least)


def _places(start: int, word: str, num_words: int) -> Iterable[tuple[int, str]]:
    plain = _plain(word)
    return (start, plain), (start - num_words, plain)


def _reader(
    kind: Kind,
    ignored: _Places,
    join: Callable[[Sequence[str]], str],
    cells: Sequence[str],
) -> Callable[[str], str]:
    """Returns the function that joins the words of a cell that are not ignored, or all of them."""
    split = _splitter(kind, cells)

    def read(cell: str) -> str:
        words = split(cell)
        kept = []
        for start, word in enumerate(words):
            if ignored.isdisjoint(_places(start, word, len(words))):
                kept.append(word)
        return join(kept or words) if words else ""

    return read


def _plain(word: str) -> str:
    """Returns a word without zeros in front."""
    return word.lstrip("0") or "0"


def _in_order(words: Sequence[str]) -> str:
    return " ".join(map(_plain, words))


def _joined(words: Sequence[str]) -> str:
    return _plain("".join(words))


def _in_any_order(words: Sequence[str]) -> str:
    return " ".join(sorted(map(_plain, words)))


# The one that changes least comes first.
_JOINS = {
    "code": (_in_order, _joined, _in_any_order),
    "name": (_in_order,),
    "text": (_in_order,),
}
