"""Keys inside longer values of the other table: `RE 2023-0042 ACME` pays invoice `2023-0042`."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import partial

from tf_charagram.search.linkage._columns.kinds import KINDS, Kind
from tf_charagram.search.linkage._columns.readings import most_in_common
from tf_charagram.search.linkage._columns.values import code_of, folded, sampled

_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
_KINDS = ("code", "text")
# Shapes of keys: their digits, the values that have one of the shapes, and each of them.
_MIN_DIGITS = 4
_MIN_KEYS = 0.8
_MIN_SHAPE = 0.02
_MAX_WORDS = 4
# So many of the keys in longer values are different.
_MIN_DISTINCT = 0.5


def read_inner_keys(kind: Kind, tables: Sequence[list[str]]) -> tuple[Kind, str]:
    """Reads longer values as the keys inside that other values are.

    Most values of a table are keys of a few shapes, such as four digits and five digits, and some
    values of the other table contain these keys.

    Args:
        kind: Kind of the column.
        tables: Distinct cells of one or two tables. Those of one table are read as they are.

    Returns:
        The kind with its reader, and a note for the user, or an empty text.
    """
    if kind.name not in _KINDS or len(tables) == 1:
        return kind, ""
    codes = [{cell: code_of(cell) for cell in cells} for cells in tables]
    for keys, longer in (tables, tables[::-1]):
        shapes = _shapes_of(sampled(keys))
        if not shapes or not any(map(_has_several_words, sampled(longer))):
            continue
        reader = partial(_reader, shapes)
        inner = {_key_in(cell, shapes) for cell in longer}
        is_distinct = len(inner) >= _MIN_DISTINCT * len(longer)
        if is_distinct and most_in_common(codes, [reader], math.inf):
            return KINDS["code"]._replace(reader=reader), "keys inside longer values are read"
    return kind, ""


def _shapes_of(cells: Sequence[str]) -> frozenset[str]:
    """Returns the shapes of most values of a table, empty if they are no keys."""
    counts = Counter(_shape(code_of(cell)) for cell in cells if "@" not in cell)
    shapes = {shape for shape, count in counts.items() if count >= _MIN_SHAPE * len(cells)}
    shapes = {shape for shape in shapes if shape.count("9") >= _MIN_DIGITS}
    num_keys = sum(counts[shape] for shape in shapes)
    return frozenset(shapes) if num_keys >= _MIN_KEYS * len(cells) else frozenset()


def _has_several_words(cell: str) -> bool:
    return " " in folded(cell)


def _shape(code: str) -> str:
    return _LETTER.sub("a", _DIGIT.sub("9", code))


def _key_in(cell: str, shapes: Collection[str]) -> str:
    """Returns the longest words of a cell that have the shape of a key, empty without any."""
    words = folded(cell).split()
    best = ""
    for start in range(len(words)):
        for stop in range(start + 1, min(start + _MAX_WORDS, len(words)) + 1):
            code = "".join(words[start:stop])
            if len(code) > len(best) and _shape(code) in shapes:
                best = code
    return best


def _reader(shapes: Collection[str], cells: Sequence[str]) -> Callable[[str], str]:
    """Returns the function that reads a cell of either table."""
    return lambda cell: _key_in(cell, shapes) or code_of(cell)
