"""Checks of text arguments that several modules share."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any

from tf_charagram.errors import ConfigError, check_integers, check_positive, check_switches

MAX_ORDER = 8
UNICODE_FORMS = ("NFC", "NFD", "NFKC", "NFKD")


def check_texts(texts: Any, name: str) -> None:
    """Rejects a single string, whose characters would be taken for texts.

    Raises:
        ConfigError: `texts` is a string.
    """
    if isinstance(texts, str | bytes):
        raise ConfigError(f"`{name}` must be a list of texts. Received a single string.")


def check_orders(orders: Iterable[int]) -> tuple[int, ...]:
    """Returns n-gram orders sorted and without duplicates.

    Raises:
        ConfigError: There are no orders, or one is not an integer from 1 to 8.
    """
    try:
        distinct = {index(order) for order in orders}
    except TypeError:
        distinct = set()
    if not distinct or not 1 <= min(distinct) <= max(distinct) <= MAX_ORDER:
        raise ConfigError(
            f"n-gram orders must be integers from 1 to {MAX_ORDER}. Received: {orders}"
        )
    return tuple(sorted(distinct))


def check_text_options(lowercase: bool, unicode_form: str | None, max_chars: int | None) -> None:
    """Checks the options that all vectorizers share.

    Raises:
        ConfigError: `lowercase` is not a bool, `unicode_form` is unknown, or `max_chars` is not an
            integer in [1, 2^31).
    """
    check_switches(lowercase=lowercase)
    if unicode_form not in (None, *UNICODE_FORMS):
        raise ConfigError(
            f"`unicode_form` must be None, {', '.join(UNICODE_FORMS[:-1])} or {UNICODE_FORMS[-1]}. "
            f"Received: {unicode_form!r}"
        )
    check_integers(max_chars=max_chars)
    if max_chars is not None and not 1 <= max_chars < 2**31:
        raise ConfigError(f"`max_chars` must be in [1, 2^31) or None. Received: {max_chars}")


def check_counting(min_count: int, **limits: int | None) -> None:
    """Checks how units are selected by their counts.

    Args:
        min_count: Minimum number of occurrences of a unit.
        **limits: Name and value of each limit on the number of units.

    Raises:
        ConfigError: One is not an integer, or below 1.
    """
    check_positive(min_count=min_count)
    check_integers(**limits)
    for name, value in limits.items():
        if value is not None and value < 1:
            raise ConfigError(f"`{name}` must be at least 1 or None. Received: {value}")
