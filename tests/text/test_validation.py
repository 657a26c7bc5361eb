"""Checks of n-gram orders."""

from __future__ import annotations

import pytest

from tf_charagram.errors import ConfigError
from tf_charagram.text.validation import check_orders


def test_sorted_without_repeats():
    assert check_orders([4, 2, 2, 8, 1]) == (1, 2, 4, 8)


@pytest.mark.parametrize(
    ("orders", "shown"),
    [([], r"\[\]"), ([0, 2], r"\[0, 2\]"), ([2, 9], r"\[2, 9\]"), ([2.5], r"\[2\.5\]")],
)
def test_errors(orders, shown):
    with pytest.raises(ConfigError, match=f"must be integers from 1 to 8. Received: .*{shown}"):
        check_orders(orders)
