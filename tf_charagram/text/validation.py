"""Checks of text arguments that several modules share."""

from __future__ import annotations

from collections.abc import Sequence

from tf_charagram.errors import ConfigError

MAX_ORDER = 8


def check_orders(orders: Sequence[int]) -> tuple[int, ...]:
    """Returns n-gram orders sorted and without repeats.

    Raises:
        ConfigError: There is none, or one is not an integer from 1 to 8.
    """
    checked = tuple(sorted(set(orders)))
    if not checked or any(not isinstance(n, int) or not 1 <= n <= MAX_ORDER for n in checked):
        raise ConfigError(
            f"n-gram orders must be integers from 1 to {MAX_ORDER}. Received: {list(orders)}"
        )
    return checked
