"""Times of day in any common form: `9h`, `9:00`, `09:00`, `0900`, `9 am`, `9.00 Uhr`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tf_charagram.search._pairs.flat_arrays import Floats

_MARKED = re.compile(
    r"(\d{1,2})(?:[:.h](\d\d))?(?::\d\d)?\s?(h|uhr|([ap])\.?m\.?)|(\d{1,2})h(\d\d)", re.IGNORECASE
)
_WITH_COLON = re.compile(r"(\d{1,2}):(\d\d)(?::\d\d)?")
_COMPACT = re.compile(r"(\d{1,2})(\d\d)")
# Cells of each table that are times, and cells of one table that have a form.
_MIN_TIMES = 0.9
_MIN_SHARE = 0.1
# Similarity of times that are at most so many minutes apart.
_NEAR_MINUTES = {60: 0.5, 15: 0.7, 5: 0.9}


def read_time(text: str) -> str:
    """Returns a time of day as `HHMM`, or an empty text for another value.

    Examples:
        >>> read_time("9h"), read_time("2:30 pm"), read_time("1430"), read_time("12 am")
        ('0900', '1430', '1430', '0000')
    """
    return _time_and_form(text)[0]


def _time_and_form(text: str) -> tuple[str, str]:
    """Returns a time of day as `HHMM`, and its form; both empty for another value."""
    stripped = text.strip()
    if found := _MARKED.fullmatch(stripped):
        hour, minute = found[1] or found[5], found[2] or found[6]
        return _written(int(hour), int(minute or 0), found[4]), "marked"
    if found := _WITH_COLON.fullmatch(stripped):
        return _written(int(found[1]), int(found[2]), None), "colon"
    if found := _COMPACT.fullmatch(stripped):
        return _written(int(found[1]), int(found[2]), None), "compact"
    return "", ""


def _written(hour: int, minute: int, half: str | None) -> str:
    if half:
        if hour > 12:
            return ""
        hour = hour % 12 + 12 * (half.lower() == "p")
    return f"{hour % 24:02}{minute:02}" if hour <= 24 and minute < 60 else ""


def are_times(tables: Sequence[Sequence[str]]) -> bool:
    """Tells times of day from durations and numbers.

    `4:05` may be a duration. It is a time next to `2 pm` or `1430`.

    Args:
        tables: Cells of one table, or of each of two.
    """
    forms = set()
    for cells in tables:
        found = [_time_and_form(cell) for cell in cells]
        counts = Counter(form for time, form in found if time)
        if counts.total() < _MIN_TIMES * max(len(cells), 1):
            return False
        forms |= {form for form, count in counts.items() if count >= _MIN_SHARE * len(cells)}
    return "marked" in forms or forms == {"colon", "compact"}


def time_similarities(values: Sequence[str], pairs: NDArray[np.integer]) -> Floats:
    """Compares times by the minutes between them."""
    minutes = np.array([60 * int(value[:2]) + int(value[2:]) for value in values])
    left, right = minutes[pairs].T
    similarities = np.zeros(len(pairs), np.float32)
    for most, similarity in _NEAR_MINUTES.items():
        similarities[np.abs(left - right) <= most] = similarity
    return similarities
