"""Makes an input that does harm smaller."""

from __future__ import annotations

from collections.abc import Callable

_MOST_TRIES = 200


def minimized(case: bytes, is_wrong: Callable[[bytes], bool]) -> bytes:
    """Returns a case without parts that it does not need to be wrong; by halving what is left out.

    Args:
        case: The case.
        is_wrong: Whether a smaller case is wrong in the same way.
    """
    size, tries = max(len(case) // 2, 1), 0
    while size and tries < _MOST_TRIES:
        start = 0
        while start < len(case) and tries < _MOST_TRIES:
            smaller = case[:start] + case[start + size :]
            tries += 1
            if is_wrong(smaller):
                case = smaller
            else:
                start += size
        size //= 2
    return case
