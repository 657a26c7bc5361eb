"""Checks of n-gram orders and of the options of texts."""

from __future__ import annotations

import pytest

from tf_charagram.errors import ConfigError
from tf_charagram.text.validation import check_orders, check_text_options


def test_sorted_without_repeats():
    assert check_orders([4, 2, 2, 8, 1]) == (1, 2, 4, 8)


@pytest.mark.parametrize(
    ("orders", "shown"),
    [
        ([], r"\[\]"),
        ([0, 2], r"\[0, 2\]"),
        ([2, 9], r"\[2, 9\]"),
        ([2.5], r"\[2\.5\]"),
        (3, "3"),
        (None, "None"),
        ([2, None], r"\[2, None\]"),
    ],
)
def test_errors(orders, shown):
    with pytest.raises(ConfigError, match=f"must be integers from 1 to 8. Received: .*{shown}"):
        check_orders(orders)


def test_largest_max_chars():
    check_text_options(None, 2**31 - 1)
    with pytest.raises(ConfigError, match=r"`max_chars` must be below 2\^31, or None .*2147483648"):
        check_text_options(None, 2**31)
