"""Cells of tables as comparable values: missing ones, and numbers and codes in one form."""

from __future__ import annotations

import re
from unicodedata import combining, normalize

# What people and programs write where there is no value.
_MISSING = {"", "null", "none", "nan", "nat", "na", "n/a", "n.a.", "#n/a", "<na>", "-", "--", "?"}
_MISSING |= {"unknown", "missing", "not available", "\u2013", "\u2014"}
# Letters that have no decomposition in Unicode.
_PLAIN = str.maketrans({"ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d"})
_NOT_LETTERS = re.compile(r"[\W_]+")
# A period or an apostrophe inside a word: I.B.M., O'Neil.
_INSIDE_WORDS = re.compile(r"(?<=\w)['.\u2019](?=\w)|(?<=\w)\.")
_CURRENCY = r"(?:us\$|[$\u20ac\u00a3\u00a5]|usd|eur|gbp|chf|jpy)?"
# A unit may follow.
_NUMBER = re.compile(rf"{_CURRENCY}\s*([+-]?\d[\d., ]*)[^\d-]{{0,4}}", re.IGNORECASE)


def is_missing(cell: str) -> bool:
    """Tells whether a cell stands for no value, such as `NULL`, `N/A`, `nan` or `-`."""
    return cell.strip().lower() in _MISSING


def folded(text: str) -> str:
    """Returns the words of a text in lowercase, without accents and marks, joined by spaces.

    Example:
        >>> folded("Müller, O'Neil & Co.")
        'muller oneil co'
    """
    lowered = text.casefold().translate(_PLAIN)
    if not lowered.isascii():
        letters = normalize("NFKD", lowered)
        lowered = "".join(letter for letter in letters if not combining(letter))
    joined = _INSIDE_WORDS.sub("", lowered)
    words = _NOT_LETTERS.sub(" ", joined).strip()
    # A value of marks alone is compared as it is.
    return words or lowered.strip()


def code_of(text: str) -> str:
    """Returns a code without spaces and marks; an e-mail address keeps its marks.

    Example:
        >>> code_of("WH-1000 XM5"), code_of("Ann@Example.org")
        ('wh1000xm5', 'ann@example.org')
    """
    if "@" in text:
        return text.strip().casefold()
    return folded(text).replace(" ", "")


def number_of(text: str) -> float | None:
    """Returns the number in a cell, which may have a currency, a unit or a percent sign.

    Example:
        >>> number_of("$1,200.50"), number_of("8.10 %"), number_of("1.200,50"), number_of("a 4 b 5")
        (1200.5, 8.1, 1200.5, None)
    """
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        return None
    digits = found[1].replace(" ", "").rstrip(".,")
    # The last mark separates decimals, unless it separates thousands.
    last = max(digits.rfind("."), digits.rfind(","))
    whole, decimals = digits[:last], digits[last + 1 :]
    if last < 0 or (digits.count(digits[last]) > 1) or _is_thousands(whole, decimals, digits[last]):
        whole, decimals = digits, ""
    plain = re.sub(r"[.,]", "", whole)
    try:
        return float(f"{plain}.{decimals}")
    except ValueError:
        return None


def _is_thousands(whole: str, decimals: str, mark: str) -> bool:
    """Tells whether a mark separates thousands: `1,200`, but `1.200` is a decimal."""
    return mark == "," and len(decimals) == 3 and 0 < len(whole.lstrip("+-")) <= 3
