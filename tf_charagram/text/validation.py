"""Checks of text arguments that several modules share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

from tf_charagram.errors import ConfigError, check_integers, check_positive, check_switches

MAX_ORDER = 8
UNICODE_FORMS = ("NFC", "NFD", "NFKC", "NFKD")


def check_texts(texts: Any, name: str) -> None:
    """Checks that texts are not a single one, whose characters would be taken for texts.

    Raises:
        ConfigError: They are.
    """
    if isinstance(texts, str | bytes):
        raise ConfigError(f"`{name}` must be a list of texts. Received a single string.")


def check_batch_size(batch_size: Any) -> None:
    """Checks a number of texts.

    Raises:
        ConfigError: It is no integer, or below 1.
    """
    check_positive(batch_size=batch_size)


def check_orders(orders: Sequence[int]) -> tuple[int, ...]:
    """Returns n-gram orders sorted and without repeats.

    Raises:
        ConfigError: There is none, or one is not an integer from 1 to 8.
    """
    given = [*map(_plain, orders)] if isinstance(orders, Iterable) else orders
    if not (isinstance(given, list) and given) or any(
        not isinstance(n, int) or not 1 <= n <= MAX_ORDER for n in given
    ):
        raise ConfigError(
            f"n-gram orders must be integers from 1 to {MAX_ORDER}. Received: {given}"
        )
    return tuple(sorted(set(given)))


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, Integral) else value


def check_text_options(lowercase: bool, unicode_form: str | None, max_chars: int | None) -> None:
    """Checks the options that all vectorizers have.

    Raises:
        ConfigError: `lowercase` is not a truth value, `unicode_form` not a normalization form, or
            `max_chars` no integer in [1, 2^31).
    """
    check_switches(lowercase=lowercase)
    check_unicode_form(unicode_form)
    check_integers(max_chars=max_chars)
    if max_chars is not None and max_chars < 1:
        raise ConfigError(f"`max_chars` must be at least 1 or None. Received: {max_chars}")
    if max_chars is not None and max_chars >= 2**31:
        raise ConfigError(
            f"`max_chars` must be below 2^31, or None for no limit. Received: {max_chars}"
        )


def check_unicode_form(unicode_form: str | None) -> None:
    """Checks the name of a normalization form.

    Raises:
        ConfigError: It is neither one of `UNICODE_FORMS` nor `None`.
    """
    if unicode_form not in (None, *UNICODE_FORMS):
        raise ConfigError(
            f"`unicode_form` must be None, {', '.join(UNICODE_FORMS[:-1])} or {UNICODE_FORMS[-1]}. "
            f"Received: {unicode_form!r}"
        )


def check_counting(min_count: int, **limits: int | None) -> None:
    """Checks how units are chosen by their counts.

    Args:
        min_count: Fewest occurrences a unit needs.
        **limits: Name and value of each bound on the number of units.

    Raises:
        ConfigError: One is no integer, or below 1.
    """
    check_integers(min_count=min_count, **limits)
    check_positive(min_count=min_count)
    for name, value in limits.items():
        if value is not None and value < 1:
            raise ConfigError(f"`{name}` must be at least 1 or None. Received: {value}")
