"""Checks of texts, n-gram orders and text options."""

from __future__ import annotations

import numpy as np
import pytest

from tf_charagram.errors import ConfigError
from tf_charagram.text import VECTORIZERS, vectorizer_class
from tf_charagram.text._algorithm.tensors import check_orders

CLASSES = [vectorizer_class(kind) for kind in VECTORIZERS]


def test_orders():
    assert check_orders([4, 2, 2, 8, 1]) == (1, 2, 4, 8)
    assert check_orders(np.array([3, 2])) == (2, 3)
    assert {type(order) for order in check_orders([np.int64(2), 3])} == {int}


@pytest.mark.parametrize(
    ("orders", "shown"),
    [([], r"\[\]"), ([0, 2], r"\[0, 2\]"), ([2, 9], r"\[2, 9\]"), ([2.5], r"\[2\.5\]"), (3, "3"),
     (None, "None"), ([2, None], r"\[2, None\]")],
)  # fmt: skip
def test_invalid_orders(orders, shown):
    with pytest.raises(ConfigError, match=f"must be integers from 1 to 8. Received: .*{shown}"):
        check_orders(orders)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lowercase": "no"}, "`lowercase` must be True or False. Received: lowercase='no'"),
        ({"unicode_form": "nfc"}, "`unicode_form` must be None, NFC, NFD, NFKC or NFKD. .*'nfc'"),
        ({"max_chars": 0}, r"`max_chars` must be in \[1, 2\^31\) or None. Received: 0"),
        ({"max_chars": 2**31}, r"`max_chars` must be in \[1, 2\^31\) or None. .*2147483648"),
    ],
)
@pytest.mark.parametrize("cls", CLASSES)
def test_text_options(cls, arguments, message):
    """They are checked before texts are read."""
    with pytest.raises(ConfigError, match=message):
        cls(**arguments)
    with pytest.raises(ConfigError, match=message):
        cls.from_texts(iter(lambda: pytest.fail("read"), None), **arguments)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("a cat", "be a list of texts. Received a single string"),
        (None, "be a list of texts. Received: None"),
        ([1], "hold strings. Row 0 is 1"),
        ({"a cat": 1, None: 2}.keys(), "hold strings. Row 1 is missing"),
    ],
)
def test_invalid_texts(cls, texts, message):
    with pytest.raises(ConfigError, match=f"`texts` must {message}"):
        cls.from_texts(texts)
