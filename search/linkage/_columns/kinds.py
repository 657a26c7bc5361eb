"""Kinds of columns: how the values of a kind are read, compared and graded."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tf_charagram.errors import ConfigError
from tf_charagram.search._pairs.flat_arrays import Floats
from tf_charagram.search.linkage._columns.dates import are_serial_numbers, date_of, date_reader
from tf_charagram.search.linkage._columns.names import telling_words
from tf_charagram.search.linkage._columns.times import are_times, read_time, time_similarities
from tf_charagram.search.linkage._columns.value_similarities import (
    BETWEEN_ITEMS,
    code_similarities,
    date_similarities,
    list_similarities,
    name_similarities,
    number_similarities,
    text_similarities,
)
from tf_charagram.search.linkage._columns.values import (
    are_mostly,
    code_of,
    folded,
    has_digit,
    number_of,
    sampled,
)

# Numbers of things have the same length in so many cells, at least of so many digits.
_MIN_SHARE = 0.8
_MIN_CODE = 4
# Words of a name at most, on average, without initials.
_MAX_NAME_WORDS = 2.0
# Between items of a list in a cell.
_SEPARATORS = re.compile(r"\*\*|[;|\n]")
# Cells of a column of lists that have several items, and cells of a column of dates that are some.
_MIN_LISTS = 0.3
_MIN_DATES = 0.5
_DATE_LIKE = re.compile(r"[\d\W]{6,12}([T ].*)?")
# Random pairs at each level of a kind of users, for each random pair that disagrees.
_NEAR_BY_CHANCE = 0.05


class Kind(NamedTuple):
    """A kind of values.

    Attributes:
        name: What the user calls it.
        reader: Returns the function that brings a cell to the form that is compared, given the
            distinct cells of the column in one table.
        similarities: Compares pairs of different values, from 0 to 1; takes the distinct values,
            and their positions `(num_pairs, 2)`.
        cutoffs: Minimum similarity of each level of agreement below equality, descending. Pairs
            below the last one disagree.
        near_by_chance: Random pairs at each of these levels, for each random pair that disagrees,
            before any is counted.
    """

    name: str
    reader: Callable[[Sequence[str]], Callable[[str], str]]
    similarities: Callable[[Sequence[str], NDArray[np.integer]], Floats]
    cutoffs: tuple[float, ...]
    near_by_chance: tuple[float, ...]


class ColumnKind:
    """Base class of your own kinds of columns, for `kinds={"plate": Plate()}`.

    Attributes:
        name: What the kind is called.
        levels: Minimum similarity of each level of agreement below equality, descending. Pairs
            below the last one disagree.

    Examples:
        >>> from tf_charagram.search import ColumnKind, match
        >>> class Plate(ColumnKind):
        ...     name = "plate"
        ...     levels = (0.8,)
        ...     def read(self, cell):
        ...         return cell.replace(" ", "").upper().replace("O", "0")
        ...     def similarity(self, left, right):
        ...         return sum(map(str.__eq__, left, right)) / max(len(left), len(right))
        >>> left = {"plate": ["AB 120", "XY 777"], "city": ["Bonn", "Kiel"]}
        >>> right = {"plate": ["xy777", "ab12o"], "city": ["Kiel", "Bonn"]}
        >>> found = match(left, right, on=["plate", "city"], kinds={"plate": Plate()})
        >>> [pair[:2] for pair in found.pairs]
        [(0, 1), (1, 0)]
    """

    name = "own"
    levels: tuple[float, ...] = (0.9, 0.7)

    def read(self, cell: str) -> str:
        """Returns the form of a cell that is compared; empty if it has no value."""
        return cell

    def similarity(self, left: str, right: str) -> float:
        """Compares two different values of `read`, from 0 to 1."""
        raise NotImplementedError

    def as_kind(self) -> Kind:
        """Returns the kind as the columns use it.

        Raises:
            ConfigError: `levels` are no descending similarities.
        """
        levels = self.levels
        are_numbers = isinstance(levels, Sequence) and all(map(_is_similarity, levels))
        if not are_numbers or list(levels) != sorted(levels, reverse=True):
            raise ConfigError(
                f"`levels` of the kind {self.name!r} must be similarities from 1 to 0, descending. "
                f"Received: {levels!r}"
            )

        def similarities(values: Sequence[str], pairs: NDArray[np.integer]) -> Floats:
            found = []
            for left, right in pairs.tolist():
                similarity = self.similarity(values[left], values[right])
                if not _is_similarity(similarity):
                    raise ConfigError(
                        f"`similarity` of the kind {self.name!r} must be in [0, 1]. Received: "
                        f"{similarity!r} for {values[left]!r} and {values[right]!r}"
                    )
                found.append(similarity)
            return np.array(found, np.float32)

        near = (_NEAR_BY_CHANCE,) * len(self.levels)
        return Kind(self.name, same_for_all(self.read), similarities, self.levels, near)


def _is_similarity(value: object) -> bool:
    return isinstance(value, int | float | np.number) and bool(0 <= value <= 1)


def _read_text(text: str) -> str:
    """Returns the words of a text that tell it from others."""
    return telling_words(folded(text))


def _read_list(text: str) -> str:
    """Returns the distinct items of a list in order."""
    items = {_read_text(item) for item in _SEPARATORS.split(text)}
    return BETWEEN_ITEMS.join(sorted(filter(None, items)))


def _read_number(text: str) -> str:
    """Returns a number in its shortest form; other values count as missing."""
    number = number_of(text)
    # The sum has no negative zero.
    return "" if number is None else repr(number + 0.0)


def same_for_all(read: Callable[[str], str]) -> Callable[[Sequence[str]], Callable[[str], str]]:
    """Returns the reader of a kind whose cells are read one by one."""
    return lambda cells: read


KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "text",
            same_for_all(_read_text),
            text_similarities,
            (0.85, 0.7, 0.5, 0.3),
            (0.01, 0.03, 0.1, 0.3),
        ),
        Kind(
            "name",
            same_for_all(_read_text),
            name_similarities,
            (0.92, 0.82, 0.7),
            (0.01, 0.04, 0.1),
        ),
        # Of numbered codes and of dates, many differ in a digit.
        Kind("code", same_for_all(code_of), code_similarities, (0.85, 0.7, 0.5), (0.3, 0.3, 0.3)),
        Kind(
            "number",
            same_for_all(_read_number),
            number_similarities,
            (0.99, 0.95, 0.8),
            (0.02, 0.06, 0.2),
        ),
        # Two lists of co-authors may have one in common by chance.
        Kind(
            "list",
            same_for_all(_read_list),
            list_similarities,
            (0.85, 0.7, 0.5, 0.3),
            (0.01, 0.03, 0.1, 0.3),
        ),
        Kind("date", date_reader, date_similarities, (0.95, 0.9, 0.7, 0.5), (0.3, 0.3, 0.3, 0.3)),
        Kind(
            "time",
            same_for_all(read_time),
            time_similarities,
            (0.9, 0.7, 0.5),
            (0.02, 0.06, 0.2),
        ),
    )
}


def kind_of(values: Sequence[str], *, are_amounts: bool = False) -> Kind:
    """Tells the kind of a column from its values.

    Args:
        values: Distinct cells that are not missing.
        are_amounts: Whether numbers are amounts, even if they look like codes.
    """
    sample = sampled(values)
    if not sample:
        return KINDS["text"]

    # Mistyped dates are no dates, but still have their shape.
    if are_mostly(date_of, sample, _MIN_DATES) and are_mostly(_is_like_date, sample):
        return KINDS["date"]
    num_lists = sum(_SEPARATORS.search(value) is not None for value in sample)
    # A single cell with a line break makes no column of lists.
    if num_lists > 1 and num_lists >= _MIN_LISTS * len(sample):
        return KINDS["list"]
    if are_mostly(_is_number, sample):
        return KINDS["code" if _are_codes(sample) and not are_amounts else "number"]
    if are_mostly(_is_code, sample):
        return KINDS["code"]
    num_words = sum(map(_num_long_words, sample))
    has_few_words = num_words <= _MAX_NAME_WORDS * len(sample)
    if has_few_words and are_mostly(lambda value: not has_digit(value), sample):
        return KINDS["name"]
    return KINDS["text"]


def _num_long_words(value: str) -> int:
    """Returns the number of words without initials."""
    return sum(len(word) > 1 for word in folded(value).split())


def _is_like_date(value: str) -> bool:
    return _DATE_LIKE.fullmatch(value) is not None or date_of(value) is not None


def _is_number(value: str) -> bool:
    return number_of(value) is not None


def kind_of_both(left: Sequence[str], right: Sequence[str], *, are_amounts: bool = False) -> Kind:
    """Tells the kind of a column of two tables, which may be written in two ways.

    Args:
        left: Distinct cells of the left table that are not missing.
        right: The same of the right table.
        are_amounts: Whether numbers are amounts, even if they look like codes.
    """
    kinds = [kind_of(left).name, kind_of(right).name]
    if "date" in kinds and left and right:
        others = [cells for cells, kind in zip((left, right), kinds, strict=True) if kind != "date"]
        # Dates next to days as spreadsheets number them; other values are read as they are.
        return KINDS["date" if all(map(are_serial_numbers, others)) else "text"]
    if are_times([sampled(cells) for cells in (left, right) if cells]):
        return KINDS["time"]
    return kind_of(list(dict.fromkeys([*left, *right])), are_amounts=are_amounts)


def _are_codes(numbers: Sequence[str]) -> bool:
    """Tells numbers of things, such as postcodes, from amounts: most have the same length."""
    digits = list(filter(str.isdigit, map(str.strip, numbers)))
    if len(digits) < _MIN_SHARE * len(numbers):
        # Telephone numbers have marks, and amounts a mark at most.
        num_phones = sum(_num_digits(value) >= 7 and " " in value for value in numbers)
        return num_phones > len(numbers) / 2
    has_zeros = any(value.startswith("0") and len(value) > 1 for value in digits)
    [(length, count)] = Counter(map(len, digits)).most_common(1)
    return has_zeros or (length >= _MIN_CODE and count >= _MIN_SHARE * len(digits))


def _num_digits(value: str) -> int:
    return sum(map(str.isdigit, value))


def _is_code(value: str) -> bool:
    """Tells whether a cell is an e-mail address, or one word with a digit."""
    if "@" in value:
        return True
    num_letters = sum(map(str.isalpha, value))
    is_one_word = " " not in value.strip()
    # Telephone numbers and many postcodes have spaces.
    return has_digit(value) and (is_one_word or _num_digits(value) >= num_letters)
