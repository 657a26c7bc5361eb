"""Kinds of columns: how the values of a kind are read, compared and graded."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA, JaroWinkler

from tf_charagram.search._pairs.flat_arrays import Floats, ones_of
from tf_charagram.search._pairs.word_lists import WordLists
from tf_charagram.search.linkage._columns.dates import are_serial_numbers, date_of, date_reader
from tf_charagram.search.linkage._columns.names import are_aliases, may_be_aliases, telling_words
from tf_charagram.search.linkage._columns.ngrams import TrigramCounts, trigram_cosines
from tf_charagram.search.linkage._columns.shared_words import contradict
from tf_charagram.search.linkage._columns.times import are_times, read_time, time_similarities
from tf_charagram.search.linkage._columns.values import code_of, folded, number_of, sampled

# Minimum share of the values that tell the kind of a column: the others may be misspelled.
_MIN_SHARE = 0.8
# Words of a name at most, on average.
_MAX_NAME_WORDS = 2.0
_NOT_DIGITS = re.compile(r"\D")
# Factor of the similarity of codes with letters whose digits differ.
_OTHER_DIGITS = 0.7
# Similarity of a code and the same with so many more letters at an end, such as a host with and
# without its domain.
_WITH_LETTERS = 0.9
_MIN_LETTERS = 3
_MIN_CODE = 4
# Between items of a list in a cell, and as the form that is compared has it.
_SEPARATORS = re.compile(r"\*\*|[;|\n]")
_BETWEEN_ITEMS = "; "
# Cells of a column of lists that have several items.
_MIN_LISTS = 0.3
_DATE_LIKE = re.compile(r"[\d\W]{6,12}([T ].*)?")
# Factor of the similarity of texts that contradict each other, and where it is looked for.
_CONTRADICTION = 0.5
_MIN_CHECKED = 0.5
# Similarity of two names that are known to be forms of the same name.
_ALIAS = 0.93
# Similarity of two names if one has the words of the other, and more.
_PART = np.float32(0.85)
# Random pairs at each level of a kind of users, for each random pair that disagrees.
_NEAR_BY_CHANCE = 0.05
# Days between two dates that may be the same event in two books.
_NEAR_DAYS = 31


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
        """Returns the kind as the columns use it."""

        def similarities(values: Sequence[str], pairs: NDArray[np.integer]) -> Floats:
            found = []
            for left, right in pairs.tolist():
                found.append(self.similarity(values[left], values[right]))
            return np.array(found, np.float32)

        near = (_NEAR_BY_CHANCE,) * len(self.levels)
        return Kind(self.name, same_for_all(self.read), similarities, self.levels, near)


def _used_values(
    values: Sequence[str], pairs: NDArray[np.integer]
) -> tuple[list[str], NDArray[np.integer]]:
    """Returns the values of some pairs only, and their positions in the pairs."""
    is_used = np.zeros(len(values), bool)
    is_used[pairs] = True
    used = [values[place] for place in np.flatnonzero(is_used).tolist()]
    return used, (np.cumsum(is_used) - 1)[pairs]


def _pairwise(
    values: Sequence[str],
    pairs: NDArray[np.integer],
    scorer: Callable[..., float],
    cutoff: float | None = None,
) -> Floats:
    """Compares pairs of values by a scorer of RapidFuzz; beyond a cutoff, it may stop early."""
    left = [values[value] for value in pairs[:, 0].tolist()]
    right = [values[value] for value in pairs[:, 1].tolist()]
    return process.cpdist(left, right, scorer=scorer, score_cutoff=cutoff, dtype=np.float32)


def _name_similarities(values: Sequence[str], pairs: NDArray[np.integer]) -> Floats:
    """Compares names by Jaro and Winkler; nicknames, initials and parts of names are near."""
    values, pairs = _used_values(values, pairs)
    # Forename and surname may be swapped.
    ordered = [" ".join(sorted(value.split())) for value in values]
    num_spaces = np.array([value.count(" ") for value in values], np.int64)[pairs]
    # Slow, and not needed for names of as many words.
    differ = num_spaces[:, 0] != num_spaces[:, 1]
    is_part = np.zeros(len(pairs), bool)
    # 100 if all words of a name are in the other one.
    is_part[differ] = _pairwise(values, pairs[differ], fuzz.token_set_ratio) == 100
    letters = _pairwise(values, pairs, JaroWinkler.similarity)
    # Single words have one order.
    several = num_spaces.any(axis=1)
    of_ordered = _pairwise(ordered, pairs[several], JaroWinkler.similarity)
    letters[several] = np.maximum(letters[several], of_ordered)
    return np.maximum.reduce([letters, alias_similarities(values, pairs), _PART * is_part])


def text_similarities(
    values: Sequence[str], pairs: NDArray[np.integer], counted: TrigramCounts | None = None
) -> Floats:
    """Compares texts by their trigrams and their letters.

    Args:
        values: The distinct texts.
        pairs: Their positions, `(num_pairs, 2)`.
        counted: Counts of trigrams in other texts. Default: in these.
    """
    ordered = [" ".join(sorted(value.split())) for value in values]
    letters = _pairwise(ordered, pairs, OSA.normalized_similarity)
    similarities = (letters + trigram_cosines(values, pairs, counted)) / 2
    for pair in np.flatnonzero(similarities >= _MIN_CHECKED).tolist():
        left, right = pairs[pair].tolist()
        if contradict(values[left], values[right]):
            similarities[pair] *= _CONTRADICTION
    return np.maximum(similarities, alias_similarities(values, pairs))


def _list_similarities(values: Sequence[str], pairs: NDArray[np.integer]) -> Floats:
    """Compares lists by the items of the shorter one that the other one has, and as texts."""
    items = WordLists.of_bags([value.split(_BETWEEN_ITEMS) for value in values])
    table = ones_of(items.ids, items.splits, len(items.words))
    left, right = pairs.T
    num_common = table[left].multiply(table[right]).sum(axis=1)
    sizes = np.diff(items.splits)
    shares = num_common / np.minimum(sizes[left], sizes[right])
    return np.maximum(shares, text_similarities(values, pairs)).astype(np.float32)


def alias_similarities(
    values: Sequence[str], pairs: NDArray[np.integer], lists: WordLists | None = None
) -> Floats:
    """Compares pairs: 0.93 for two forms of the same name, else 0.

    Args:
        values: Distinct values.
        pairs: Their positions, `(num_pairs, 2)`.
        lists: Their words. Default: those between spaces.
    """
    found = np.zeros(len(pairs), np.float32)
    if lists is None:
        lists = WordLists.of_bags([value.split() for value in values])
    chosen = may_be_aliases(lists, pairs)
    found[chosen] = [
        are_aliases(values[left], values[right]) for left, right in pairs[chosen].tolist()
    ]
    return _ALIAS * found


def _code_similarities(values: Sequence[str], pairs: NDArray[np.integer]) -> Floats:
    """Compares codes by their edits; other digits next to the same letters are another code."""
    values, pairs = _used_values(values, pairs)
    left, right = pairs.T
    similarities = _pairwise(values, pairs, OSA.normalized_similarity)
    digits = np.array([_NOT_DIGITS.sub("", value) for value in values])
    has_letters = np.array([any(map(str.isalpha, value)) for value in values], bool)
    has_other_digits = digits[left] != digits[right]
    is_other = has_letters[left] & has_letters[right] & has_other_digits
    similarities[is_other] *= _OTHER_DIGITS
    is_same_number = ~has_other_digits & (digits[left] != "")
    for pair in np.flatnonzero(is_same_number).tolist():
        short, long = sorted((values[place] for place in pairs[pair].tolist()), key=len)
        if _has_more_letters(short, long):
            similarities[pair] = max(similarities[pair], _WITH_LETTERS)
    return similarities


def _has_more_letters(short: str, long: str) -> bool:
    """Tells whether a code of the same digits is another one with more words at its ends."""
    start = long.find(short)
    stop = start + len(short)
    if start < 0 or len(short) < _MIN_CODE or len(long) < len(short) + _MIN_LETTERS:
        return False
    ends = long[start - 1 : start] + short[0], short[-1] + long[stop : stop + 1]
    # No more letters of the same word.
    return not any(len(end) == 2 and end.isalpha() for end in ends)


def _number_similarities(values: Sequence[str], pairs: NDArray[np.integer]) -> Floats:
    """Compares numbers by the smaller over the larger."""
    numbers = np.array([float(value) for value in values])
    left, right = numbers[pairs].T
    differences = np.abs(left - right)
    larger = np.maximum(np.abs(left), np.abs(right))
    shares = differences / np.maximum(larger, 1e-12)
    return np.clip(1 - shares, 0, 1).astype(np.float32)


def _date_similarities(values: Sequence[str], pairs: NDArray[np.integer]) -> Floats:
    """Compares dates by the digits that differ, and by days."""
    values, pairs = _used_values(values, pairs)
    left, right = pairs.T
    edits = _pairwise(values, pairs, OSA.distance, 2)
    similarities = np.select([edits == 1, edits == 2], [0.9, 0.5], 0.0)
    is_near = are_near_dates(values, pairs)
    similarities[is_near] = np.maximum(similarities[is_near], 0.7)
    # Day and month in the other order.
    swapped = np.array([value[:4] + value[6:] + value[4:6] for value in values], object)
    similarities[np.array(values, object)[left] == swapped[right]] = 0.9
    return similarities.astype(np.float32)


def are_near_dates(values: Sequence[str], pairs: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Tells dates that are few days apart; takes values of the kind and their positions."""
    days = np.array([_day_number(value) for value in values])
    left, right = pairs.T
    return np.abs(days[left] - days[right]) <= _NEAR_DAYS


def _day_number(value: str) -> float:
    """Returns the days since the year 0, NaN for an impossible date."""
    try:
        return date.fromisoformat(value).toordinal()
    except ValueError:
        return np.nan


def _read_text(text: str) -> str:
    """Returns the words of a text that tell it from others."""
    return telling_words(folded(text))


def _read_list(text: str) -> str:
    """Returns the distinct items of a list in order."""
    items = {_read_text(item) for item in _SEPARATORS.split(text)}
    return _BETWEEN_ITEMS.join(sorted(filter(None, items)))


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
            _name_similarities,
            (0.92, 0.82, 0.7),
            (0.01, 0.04, 0.1),
        ),
        # Of numbered codes and of dates, many differ in a digit.
        Kind("code", same_for_all(code_of), _code_similarities, (0.85, 0.7, 0.5), (0.3, 0.3, 0.3)),
        Kind(
            "number",
            same_for_all(_read_number),
            _number_similarities,
            (0.99, 0.95, 0.8),
            (0.02, 0.06, 0.2),
        ),
        # Two lists of co-authors may have one in common by chance.
        Kind(
            "list",
            same_for_all(_read_list),
            _list_similarities,
            (0.85, 0.7, 0.5, 0.3),
            (0.01, 0.03, 0.1, 0.3),
        ),
        Kind("date", date_reader, _date_similarities, (0.9, 0.7, 0.5), (0.3, 0.3, 0.3)),
        Kind(
            "time",
            same_for_all(read_time),
            time_similarities,
            (0.9, 0.7, 0.5),
            (0.02, 0.06, 0.2),
        ),
    )
}


def kind_of(values: Sequence[str]) -> Kind:
    """Tells the kind of a column from its values.

    Args:
        values: Distinct cells that are not missing.
    """
    sample = sampled(values)
    if not sample:
        return KINDS["text"]

    def is_mostly(test: Callable[[str], object]) -> bool:
        return sum(map(bool, map(test, sample))) >= _MIN_SHARE * len(sample)

    # Mistyped dates are no dates, but still have their shape.
    num_dates = sum(date_of(value) is not None for value in sample)
    if num_dates >= len(sample) / 2 and is_mostly(
        lambda value: _DATE_LIKE.fullmatch(value) or date_of(value)
    ):
        return KINDS["date"]
    num_lists = sum(map(bool, map(_SEPARATORS.search, sample)))
    if num_lists >= _MIN_LISTS * len(sample):
        return KINDS["list"]
    if is_mostly(lambda value: number_of(value) is not None):
        return KINDS["code" if _are_codes(sample) else "number"]
    if is_mostly(_is_code):
        return KINDS["code"]
    words = [folded(value).split() for value in sample]
    num_words = sum(map(len, words))
    has_no_digits = is_mostly(lambda value: not any(map(str.isdigit, value)))
    if has_no_digits and num_words <= _MAX_NAME_WORDS * len(sample):
        return KINDS["name"]
    return KINDS["text"]


def kind_of_both(left: Sequence[str], right: Sequence[str]) -> Kind:
    """Tells the kind of a column of two tables, which may be written in two ways.

    Args:
        left: Distinct cells of the left table that are not missing.
        right: The same of the right table.
    """
    kinds = [kind_of(left).name, kind_of(right).name]
    if "date" in kinds and left and right:
        others = [cells for cells, kind in zip((left, right), kinds, strict=True) if kind != "date"]
        # Dates next to days as spreadsheets number them; other values are read as they are.
        return KINDS["date" if all(map(are_serial_numbers, others)) else "text"]
    if are_times([sampled(cells) for cells in (left, right) if cells]):
        return KINDS["time"]
    return kind_of(list(dict.fromkeys([*left, *right])))


def _are_codes(numbers: Sequence[str]) -> bool:
    """Tells numbers of things, such as postcodes, from amounts: most have the same length."""
    digits = list(filter(str.isdigit, map(str.strip, numbers)))
    if len(digits) < _MIN_SHARE * len(numbers):
        # Telephone numbers have marks, and amounts a mark at most.
        num_phones = sum(_num_digits(value) >= 7 and " " in value for value in numbers)
        return num_phones > len(numbers) / 2
    lengths = [len(value) for value in digits]
    most = max(set(lengths), key=lengths.count)
    has_zeros = any(value.startswith("0") and len(value) > 1 for value in digits)
    return has_zeros or (most >= 4 and lengths.count(most) >= _MIN_SHARE * len(lengths))


def _num_digits(value: str) -> int:
    return sum(map(str.isdigit, value))


def _is_code(value: str) -> bool:
    """Tells whether a cell is an e-mail address, or one word with a digit."""
    if "@" in value:
        return True
    has_digit = any(map(str.isdigit, value))
    letters = sum(map(str.isalpha, value))
    digits = _num_digits(value)
    is_one_word = " " not in value.strip()
    # Telephone numbers and many postcodes have spaces.
    return has_digit and (is_one_word or digits >= letters)
