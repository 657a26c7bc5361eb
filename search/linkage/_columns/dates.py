"""Dates in any common form; the column decides about ambiguous ones, not the cell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from unicodedata import combining, normalize

_TIME = r"(?:,?[T ]\d{1,2}:.*)?"
_COMPACT = re.compile(rf"(\d{{4}})(\d{{2}})(\d{{2}}){_TIME}")
_YEAR_FIRST = re.compile(rf"(\d{{4}})[-/. ]{{1,2}}(\d{{1,2}})[-/. ]{{1,2}}(\d{{1,2}}){_TIME}")
_YEAR_LAST = re.compile(
    rf"(\d{{1,2}})[-/. ]{{1,2}}(\d{{1,2}})[-/. ]{{1,2}}(\d{{4}}|\d{{2}}){_TIME}"
)
# Chinese and Japanese, Korean.
_YEAR_SIGN = re.compile(
    rf"(\d{{4}})\s?[\u5e74\ub144]\s?(\d{{1,2}})\s?[\u6708\uc6d4]\s?(\d{{1,2}})\s?[\u65e5\uc77c]{_TIME}"
)
_NUMBERS = re.compile(r"\d+")
_MONTH_WORD = re.compile(r"[^\W\d]{3,}")
# The first letters of the months in English, German, French, Spanish, Italian, Portuguese, Dutch,
# Swedish and Polish, without accents.
_MONTHS = {
    1: "jan ene gen sty", 2: "feb fev fevr lut", 3: "mar mrt maer mrz", 4: "apr abr avr kwi",
    5: "may mai mag mei maj", 6: "jun giu juin cze", 7: "jul lug juil lip",
    8: "aug ago aou sie", 9: "sep set wrz", 10: "oct okt ott out paz", 11: "nov lis",
    12: "dec dez dic gru",
}  # fmt: skip
_MONTH_OF = {start: month for month, starts in _MONTHS.items() for start in starts.split()}
# Words of dates that are no months: weekdays, ordinals, and "de".
_MAX_WORDS = 4
_FIRST_YEAR = 1000
_LAST_YEAR = 2200
# Two digits of a year up to this one are of this century.
_LAST_SHORT_YEAR = 29
# The day before the first one of spreadsheets, and the numbers of the years 1910 to 2073.
_DAY_ZERO = date(1899, 12, 30)
_SERIAL = re.compile(r"\d{4,5}(?:\.\d+)?")
_SERIALS = range(3654, 63_500)
_MIN_SHARE = 0.8


def date_of(text: str, *, month_first: bool = False) -> str | None:
    """Returns a date as `YYYYMMDD`, or `None` for another value.

    Args:
        text: A cell.
        month_first: Whether `03/04/2020` is March 4. The other order is taken if it is the only
            possible one.

    Examples:
        >>> date_of("1980-01-02"), date_of("2.1.1980"), date_of("12/31/99"), date_of("19801399")
        ('19800102', '19800102', '19991231', None)
        >>> date_of("02-Jan-1980"), date_of("March 4, 2020"), date_of("03/04/20", month_first=True)
        ('19800102', '20200304', '20200304')
    """
    stripped = text.strip()
    forms = _COMPACT, _YEAR_FIRST, _YEAR_SIGN
    found = next(filter(None, (form.fullmatch(stripped) for form in forms)), None)
    if found:
        year, month, day = map(int, found.groups())
        return _written(year, month, day)
    found = _YEAR_LAST.fullmatch(stripped)
    if not found:
        return _with_month_word(stripped)
    day, month = int(found[1]), int(found[2])
    if month > 12 or (month_first and day <= 12):
        day, month = month, day
    return _written(_full_year(found[3]), month, day)


def _with_month_word(text: str) -> str | None:
    """Returns a date with the name of a month, such as `2 January 1980`."""
    if not any(map(str.isalpha, text)):
        return None
    letters = normalize("NFKD", text.casefold())
    plain = "".join(letter for letter in letters if not combining(letter))
    words = _MONTH_WORD.findall(plain)
    known = []
    for word in words:
        month = _MONTH_OF.get(word[:4]) or _MONTH_OF.get(word[:3])
        if month:
            known.append(month)
    numbers = _NUMBERS.findall(text)
    if len(known) != 1 or len(words) > _MAX_WORDS or len(numbers) != 2:
        return None
    first, second = numbers
    # 2015 January 2, and all others have the day first.
    year, day = (first, second) if len(first) == 4 else (second, first)
    if len(day) > 2 or len(year) not in (2, 4):
        return None
    return _written(_full_year(year), known[0], int(day))


def _full_year(digits: str) -> int:
    year = int(digits)
    if len(digits) == 4:
        return year
    return year + (2000 if year <= _LAST_SHORT_YEAR else 1900)


def _written(year: int, month: int, day: int) -> str | None:
    """Returns a date as `YYYYMMDD`, or `None` if it is impossible."""
    if not _FIRST_YEAR <= year <= _LAST_YEAR:
        return None
    try:
        # `strftime` takes as long as all else.
        return date(year, month, day).isoformat().replace("-", "")
    except ValueError:
        return None


def are_serial_numbers(cells: Iterable[str]) -> bool:
    """Tells whether most cells may be days as spreadsheets number them, such as 29222."""
    kept = list(cells)
    numbers = [int(float(cell)) for cell in kept if _SERIAL.fullmatch(cell)]
    num_serial = sum(number in _SERIALS for number in numbers)
    return bool(kept) and num_serial >= _MIN_SHARE * len(kept)


def date_reader(cells: Iterable[str]) -> Callable[[str], str]:
    """Returns the function that reads the dates of one column of one table.

    Whether day or month comes first is told by the cells where only one order is possible. A column
    of whole numbers has days as spreadsheets number them.

    Args:
        cells: The distinct cells of the column.
    """
    kept = list(cells)
    if are_serial_numbers(kept):
        return _read_serial
    found = filter(None, map(_YEAR_LAST.fullmatch, map(str.strip, kept)))
    firsts = [(int(each[1]), int(each[2])) for each in found]
    num_month_first = sum(first <= 12 < second for first, second in firsts)
    num_day_first = sum(second <= 12 < first for first, second in firsts)
    month_first = num_month_first > num_day_first

    def read(cell: str) -> str:
        # Of other values, which may be mistyped dates, the digits.
        return date_of(cell, month_first=month_first) or "".join(filter(str.isdigit, cell))

    return read


def _read_serial(cell: str) -> str:
    if not _SERIAL.fullmatch(cell):
        return "".join(filter(str.isdigit, cell))
    return (_DAY_ZERO + timedelta(days=int(float(cell)))).strftime("%Y%m%d")


def are_of_one_time(tables: Iterable[Iterable[str]]) -> bool:
    """Tells whether the middle date of a table is among nine tenths of those of each other one.

    Args:
        tables: Dates of each table as `date_of` returns them, or empty texts.
    """
    dates = [sorted(filter(None, values)) for values in tables]
    if not all(dates):
        return False
    middles = [days[len(days) // 2] for days in dates]
    firsts = max(days[len(days) // 20] for days in dates)
    lasts = min(days[-1 - len(days) // 20] for days in dates)
    return any(firsts <= middle <= lasts for middle in middles)
