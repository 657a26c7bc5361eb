"""Similarities of the values of each kind, from 0 to 1: of distinct values and their positions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA, JaroWinkler

from tf_charagram.search._pairs.flat_arrays import Array, Floats, lengths_of, ones_of
from tf_charagram.search._pairs.word_lists import WordLists
from tf_charagram.search.linkage._columns.names import are_aliases, may_be_aliases
from tf_charagram.search.linkage._columns.ngrams import TrigramCounts, trigram_cosines
from tf_charagram.search.linkage._columns.shared_words import OtherWords, contradict

#: Between items of a list, in the form that is compared.
BETWEEN_ITEMS = "; "
_NOT_DIGITS = re.compile(r"\D")
# Factor of the similarity of codes with letters whose digits differ.
_OTHER_DIGITS = 0.7
# Similarity of a code and a part of it: its end, or the same without so many letters at an end,
# such as a host without its domain.
_PART_OF_CODE = 0.9
_MIN_LETTERS = 3
_MIN_CODE = 4
# People write down the last characters of a long code, at least so many.
_MIN_END = 6
# Factor of the similarity of texts that contradict each other, and where it is looked for.
_CONTRADICTION = 0.5
_MIN_CHECKED = 0.5
# Factor of the similarity of people who both have a name like none of the other one.
_OTHER_WORDS = 0.5
# Similarity of two names that are known to be forms of the same name.
_ALIAS = 0.93
# Similarity of two names if one has the words of the other, and more.
_PART = np.float32(0.85)
#: Days between two dates that may be the same event in two books.
NEAR_DAYS = 31
# The same in two books that are kept daily.
_FEW_DAYS = 5


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
    left, right = np.array(values, object)[pairs.T].tolist()
    return process.cpdist(left, right, scorer=scorer, score_cutoff=cutoff, dtype=np.float32)


def name_similarities(
    values: Sequence[str], pairs: NDArray[np.integer], *, are_people: bool = False
) -> Floats:
    """Compares names by Jaro and Winkler; nicknames, initials and parts of names are near.

    Args:
        values: The distinct names.
        pairs: Their positions, `(num_pairs, 2)`.
        are_people: Whether they are full names, of which those of a family have a word in common.
    """
    values, pairs = _used_values(values, pairs)
    words = [value.split() for value in values]
    lists = WordLists.of_bags(words)
    # Forename and surname may be swapped.
    ordered = [" ".join(sorted(own)) for own in words]
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
    similarities = np.maximum(letters, _PART * is_part)
    if are_people:
        checked = np.flatnonzero(num_spaces.all(axis=1) & (similarities >= _MIN_CHECKED))
        have_others = np.logical_and(*OtherWords(lists, pairs[checked]).are_unlike())
        similarities[checked[have_others]] *= _OTHER_WORDS
    return np.maximum(similarities, alias_similarities(values, pairs, lists))


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


def list_similarities(values: Sequence[str], pairs: NDArray[np.integer]) -> Floats:
    """Compares lists by the items of the shorter one that the other one has, and as texts."""
    items = WordLists.of_bags([value.split(BETWEEN_ITEMS) for value in values])
    table = ones_of(items.ids, items.splits, len(items.words))
    left, right = pairs.T
    num_common = table[left].multiply(table[right]).sum(axis=1)
    sizes = lengths_of(items.splits)
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


def code_similarities(values: Sequence[str], pairs: NDArray[np.integer]) -> Floats:
    """Compares codes by their edits; other digits next to the same letters are another code."""
    values, pairs = _used_values(values, pairs)
    left, right = pairs.T
    similarities = _pairwise(values, pairs, OSA.normalized_similarity)
    digits = np.array([_NOT_DIGITS.sub("", value) for value in values])
    has_letters = np.array([any(map(str.isalpha, value)) for value in values], bool)
    has_other_digits = digits[left] != digits[right]
    is_other = has_letters[left] & has_letters[right] & has_other_digits
    similarities[is_other] *= _OTHER_DIGITS
    ends = np.array([value[-_MIN_END:] for value in values])
    may_be_part = ~has_other_digits & (digits[left] != "")
    may_be_part |= ends[left] == ends[right]
    for pair in np.flatnonzero(may_be_part).tolist():
        short, long = sorted((values[place] for place in pairs[pair].tolist()), key=len)
        if _is_part(short, long):
            similarities[pair] = max(similarities[pair], _PART_OF_CODE)
    return similarities


def _is_part(short: str, long: str) -> bool:
    """Tells whether a code is the end of another one, or the same without words at its ends."""
    start = long.find(short)
    stop = start + len(short)
    if len(short) >= _MIN_END and long.endswith(short):
        return True
    if start < 0 or len(short) < _MIN_CODE or len(long) < len(short) + _MIN_LETTERS:
        return False
    ends = long[start - 1 : start] + short[0], short[-1] + long[stop : stop + 1]
    # No more letters of the same word.
    return not any(len(end) == 2 and end.isalpha() for end in ends)


def number_similarities(values: Sequence[str], pairs: NDArray[np.integer]) -> Floats:
    """Compares numbers by the smaller over the larger."""
    numbers = np.array([float(value) for value in values])
    left, right = numbers[pairs].T
    differences = np.abs(left - right)
    larger = np.maximum(np.abs(left), np.abs(right))
    shares = differences / np.maximum(larger, 1e-12)
    return np.clip(1 - shares, 0, 1).astype(np.float32)


def date_similarities(
    values: Sequence[str], pairs: NDArray[np.integer], num_days: int = _FEW_DAYS
) -> Floats:
    """Compares dates by the digits that differ, and by days.

    Args:
        values: Dates as `date_of` returns them.
        pairs: Their positions, `(num_pairs, 2)`.
        num_days: Dates that are so many days apart at most are nearer than dates with a typo.
    """
    values, pairs = _used_values(values, pairs)
    left, right = pairs.T
    edits = _pairwise(values, pairs, OSA.distance, 2)
    similarities = np.select([edits == 1, edits == 2], [0.9, 0.5], 0.0)
    days = days_between(values, pairs)
    is_near = days <= NEAR_DAYS
    similarities[is_near] = np.maximum(similarities[is_near], 0.7)
    similarities[days <= num_days] = 0.95
    # Day and month in the other order.
    places = {value: place for place, value in enumerate(values)}
    swapped = [places.get(value[:4] + value[6:] + value[4:6], -1) for value in values]
    similarities[left == np.array(swapped, np.int64)[right]] = 0.9
    return similarities.astype(np.float32)


def days_between(values: Sequence[str], pairs: NDArray[np.integer]) -> Array:
    """Returns the days between two dates, NaN if one is impossible, `(num_pairs,)`."""
    days = np.array([_day_number(value) for value in values])
    left, right = pairs.T
    return np.abs(days[left] - days[right])


def _day_number(value: str) -> float:
    """Returns the days since the year 0, NaN for an impossible date."""
    try:
        return date.fromisoformat(value).toordinal()
    except ValueError:
        return np.nan
