"""Where the tokens of a text stand, one character after the other."""

from __future__ import annotations

from collections.abc import Iterable

from .text import WHITE_SPACE

#: Control characters, marks of direction, zero-width spaces: they separate, and are in no token.
SEPARATORS = WHITE_SPACE.union(
    map(chr, (*range(0x20), *range(0x7F, 0xA0), 0x61C, 0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF)),
    map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))),
)
#: What is split as if it were an ASCII apostrophe.
APOSTROPHES = frozenset("\u2019\u02bc\uff07")


def find_tokens(text: str, words: Iterable[str]) -> list[tuple[str, int, int]]:
    """Finds the words a text was split into: the next character of a word is the next visible one.

    Args:
        text: The text.
        words: What it was split into, case kept, apostrophes ASCII ones.

    Returns:
        Token, start and end of each, `text[start:end] == token`.

    Raises:
        ValueError: The words are not those of the text, or leave some of it out.

    Example:
        >>> find_tokens(" it\u2019s", ["it", "'s"])
        [('it', 1, 3), ('\u2019s', 3, 5)]
    """
    found = []
    place = 0
    for word in words:
        while place < len(text) and text[place] in SEPARATORS:
            place += 1
        start = place
        for char in word:
            if place == len(text) or ("'" if text[place] in APOSTROPHES else text[place]) != char:
                raise ValueError(f"{word!r} is not at {place} in {text!r}")
            place += 1
        found.append((text[start:place], start, place))
    if any(char not in SEPARATORS for char in text[place:]):
        raise ValueError(f"{text[place:]!r} is in no word")
    return found


def has_capital(token: str) -> bool:
    """Says whether a character has a lower-case form of one character that differs from it."""
    return any(len(char.lower()) == 1 and char.lower() != char for char in token)
