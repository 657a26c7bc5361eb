"""Characters that separate tokens, and capitals."""

from __future__ import annotations

from .text import WHITE_SPACE

#: Control characters, marks of direction, zero-width spaces: they separate, and are in no token.
SEPARATORS = WHITE_SPACE.union(
    map(chr, (*range(0x20), *range(0x7F, 0xA0), 0x61C, 0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF)),
    map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))),
)


def has_capital(token: str) -> bool:
    """Says whether a character has a lower-case form of one character that differs from it."""
    return any(len(char.lower()) == 1 and char.lower() != char for char in token)
