"""Cells of tables as comparable values: missing ones, and numbers and codes in one form."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tf_charagram.text._algorithm.word_boundaries import bags_of_words

# Values that tell how a column is written.
_NUM_SAMPLED = 1000
# What people and programs write where there is no value.
_MISSING = {"", "null", "none", "nan", "nat", "na", "n/a", "n.a.", "#n/a", "<na>", "-", "--", "?"}
_MISSING |= {"unknown", "missing", "not available", "\u2013", "\u2014"}
# Between the words of a text without signs.
_NOT_LETTERS = re.compile(r"[\W_]+")
# What may be a sign of a word: C++, C#, A-, <5, $5, -5.
_MAY_BE_SIGN = re.compile(r"[-+#*<>=~^$|]")
# A period or an apostrophe inside a word: I.B.M., O'Neil.
_INSIDE_WORDS = re.compile(r"(?<=\w)['.\u2019](?=\w)|(?<=\w)\.")
_CURRENCY = r"(?:us\$|[$\u20ac\u00a3\u00a5]|usd|eur|gbp|chf|jpy)?"
# A unit may follow.
_UNIT = r"(?:[^\d-]{0,4}|[a-z]{1,2}[23])"
_NUMBER = re.compile(rf"{_CURRENCY}\s*([+-]?\d[\d., ]*){_UNIT}", re.IGNORECASE)
# Hours, minutes and seconds, or minutes and seconds.
_DURATION = re.compile(r"(?:(\d{1,3}):)?(\d{1,3}):(\d\d)")


def sampled(values: Sequence[str]) -> Sequence[str]:
    """Returns some values from all parts of a column, which tell how it is written."""
    return values[:: max(len(values) // _NUM_SAMPLED, 1)]


def are_mostly(test: Callable[[str], object], values: Sequence[str], share: float = 0.8) -> bool:
    """Tells whether a function is true for so many of some values."""
    return sum(map(bool, map(test, values))) >= share * len(values)


def has_digit(text: str) -> bool:
    """Tells whether a text has a digit."""
    return any(map(str.isdigit, text))


def is_missing(cell: str) -> bool:
    """Tells whether a cell stands for no value, such as `NULL`, `N/A`, `nan` or `-`."""
    return cell.strip().lower() in _MISSING


def folded(text: str) -> str:
    """Returns the words of a text, as search compares them, joined by spaces.

    They are in lowercase and without accents, but with the signs and marks that spell a word.

    Examples:
        >>> folded("Müller, O'Neil & Co."), folded("C++ / C#")
        ('muller oneil co', 'c++ c#')
    """
    joined = _INSIDE_WORDS.sub("", text)
    if joined.isascii() and not _MAY_BE_SIGN.search(joined):
        # Most texts are, and these words are found faster.
        return _NOT_LETTERS.sub(" ", joined.lower()).strip() or joined.lower().strip()
    [words] = bags_of_words([joined])
    return " ".join(" ".join(words).replace("_", " ").split())


def code_of(text: str) -> str:
    """Returns a code without spaces and marks; an e-mail address keeps its marks.

    Examples:
        >>> code_of("WH-1000 XM5"), code_of("Ann@Example.org")
        ('wh1000xm5', 'ann@example.org')
    """
    if "@" in text:
        return text.strip().casefold()
    return folded(text).replace(" ", "")


def number_of(text: str) -> float | None:
    """Returns the number in a cell, which may have a currency, a unit or a percent sign.

    A duration such as 4:05 is its seconds.

    Examples:
        >>> number_of("$1,200.50"), number_of("8.10 %"), number_of("1.200,50"), number_of("7 m2")
        (1200.5, 8.1, 1200.5, 7.0)
    """
    if duration := _DURATION.fullmatch(text.strip()):
        hours, minutes, seconds = (float(part or 0) for part in duration.groups())
        return 3600 * hours + 60 * minutes + seconds
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        return None
    digits = found[1].replace(" ", "").rstrip(".,")
    # The last mark separates decimals, unless it separates thousands.
    last = max(digits.rfind("."), digits.rfind(","))
    mark = digits[last]
    whole, decimals = digits[:last], digits[last + 1 :]
    if last < 0 or digits.count(mark) > 1 or _is_thousands(whole, decimals, mark):
        whole, decimals = digits, ""
    plain = re.sub(r"[.,]", "", whole)
    try:
        return float(f"{plain}.{decimals}")
    except ValueError:
        return None


def _is_thousands(whole: str, decimals: str, mark: str) -> bool:
    """Tells whether a mark separates thousands: `1,200`, but `1.200` is a decimal."""
    return mark == "," and len(decimals) == 3 and 0 < len(whole.lstrip("+-")) <= 3


def abbreviates(short: str, word: str) -> bool:
    """Tells whether a word has the letters of another one in order, first letter included."""
    if len(short) >= len(word) or short[0] != word[0]:
        return False
    letters = iter(word)
    return all(letter in letters for letter in short)
