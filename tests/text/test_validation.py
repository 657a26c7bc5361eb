"""Checks of texts, of n-gram orders and of the options of texts."""

from __future__ import annotations

import numpy as np
import pytest

from tf_charagram.errors import ConfigError
from tf_charagram.text.characters import CharacterVectorizer
from tf_charagram.text.validation import check_counting, check_orders, check_text_options
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.words import WordVectorizer


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


@pytest.mark.parametrize("value", [1.5, "3"])
def test_integers(value):
    with pytest.raises(ConfigError, match=f"`max_chars` must be an integer.*max_chars={value!r}"):
        check_text_options(True, None, value)
    with pytest.raises(ConfigError, match=f"`min_count` must be an integer.*min_count={value!r}"):
        check_counting(value)
    with pytest.raises(ConfigError, match=f"`max_words` must be an integer.*max_words={value!r}"):
        check_counting(1, max_words=value)


@pytest.mark.parametrize("cls", [CharacterVectorizer, NgramVectorizer, WordVectorizer])
def test_a_single_text_is_no_list(cls):
    with pytest.raises(ConfigError, match=r"`texts` must be a list of texts. Received a single"):
        cls.from_texts("a cat")


@pytest.mark.parametrize("cls", [CharacterVectorizer, NgramVectorizer, WordVectorizer])
@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (None, "be a list of texts. Received: None"),
        ([1], "hold strings. Received: 1"),
        ([["a cat"]], r"hold strings. Received: \['a cat'\]"),
        ({"a cat": 1, None: 2}.keys(), "hold strings. Received: None"),
    ],
)
def test_texts_that_are_none(cls, texts, message):
    with pytest.raises(ConfigError, match=f"`texts` must {message}"):
        cls.from_texts(texts)


@pytest.mark.parametrize("cls", [CharacterVectorizer, NgramVectorizer, WordVectorizer])
def test_switches(cls):
    for make in (lambda: cls(lowercase="no"), lambda: cls.from_texts(["a"], lowercase="no")):
        with pytest.raises(ConfigError, match=r"`lowercase` must be True or .* lowercase='no'"):
            make()


def test_orders_of_numpy():
    assert check_orders(np.array([3, 2])) == (2, 3)
    assert {type(order) for order in check_orders([np.int64(2), 3])} == {int}


def test_largest_max_chars():
    check_text_options(True, None, 2**31 - 1)
    with pytest.raises(ConfigError, match=r"`max_chars` must be below 2\^31, or None .*2147483648"):
        check_text_options(True, None, 2**31)
