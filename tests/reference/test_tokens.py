"""Checks where tokens stand against places counted by hand."""

import pytest

from . import tokens


def test_find_tokens_by_hand():
    """Characters that separate are counted, but in no token."""
    found = tokens.find_tokens("\u200bDon\u2019t\tgo. ", ["Do", "n't", "go", "."])
    assert found == [("Do", 1, 3), ("n\u2019t", 3, 6), ("go", 7, 9), (".", 9, 10)]


@pytest.mark.parametrize(
    ("words", "message"),
    [(["a", "c"], "'c' is not at 2 in 'a b'"), (["a"], "' b' is in no word")],
)
def test_words_of_another_text(words, message):
    with pytest.raises(ValueError, match=message):
        tokens.find_tokens("a b", words)


@pytest.mark.parametrize(
    ("token", "expected"),
    [("", False), ("ab1", False), ("aB", True), ("\u01c5", True), ("\u0130", False)],
)
def test_has_capital(token, expected):
    assert tokens.has_capital(token) is expected
