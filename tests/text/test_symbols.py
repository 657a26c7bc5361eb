"""Alphabets."""

from __future__ import annotations

import numpy as np
import pytest

from tf_charagram.text.keys import OTHER_SYMBOL, SPACE_SYMBOL, Alphabet


def alphabet(chars):
    return Alphabet(np.array([ord(char) for char in chars], np.int32))


def test_symbol_table():
    """'b' is symbol 3 and 'a' 4; 'A' folds to 'a'; the last entry is for everything beyond."""
    table = alphabet("ba").symbol_table(lowercase=True)
    assert [table[ord(char)] for char in "baAB \tc"] == [3, 4, 4, 3, SPACE_SYMBOL, SPACE_SYMBOL, 2]
    assert table[-1] == OTHER_SYMBOL
    assert [alphabet("ba").symbol_table(lowercase=False)[ord(char)] for char in "aA"] == [4, 2]


@pytest.mark.parametrize("lowercase", [True, False])
def test_symbol_table_reaches_the_last_code_point(lowercase):
    table = alphabet("\U0010ffff\U0001e943").symbol_table(lowercase)
    assert (table[0x10FFFF], table[0x1E943], table[-1]) == (3, 4, OTHER_SYMBOL)
    assert table[0x1E921] == (4 if lowercase else OTHER_SYMBOL)


def test_extended_keeps_the_old_symbols():
    second = alphabet("cb").extended(np.array([ord(char) for char in "a cba"]))
    assert second.characters.tolist() == [ord(char) for char in "cba"]
    assert second.extended(second.characters) is second
    assert len(Alphabet()) == 0


def test_sorted_and_renumbered():
    ordered, renumbered = alphabet("cab").sorted()
    assert "".join(map(chr, ordered.characters)) == "abc"
    assert renumbered.tolist() == [0, 1, 2, 5, 3, 4]


def test_symbols_of_another_alphabet():
    one, other = alphabet("bca"), alphabet("xab")
    assert one.symbols_of(other).tolist() == [0, 1, 2, 2, 5, 3]
    assert one.symbols_of(Alphabet()).tolist() == [0, 1, 2]
    assert Alphabet().symbols_of(one).tolist() == [0, 1, 2, 2, 2, 2]


def test_code_points():
    codes = alphabet("ab").code_points(np.array([[1, 2], [3, 4]]))
    assert codes.tolist() == [[ord(" "), 0xFFFD], [ord("a"), ord("b")]]


@pytest.mark.parametrize(
    ("characters", "message"),
    [([[97]], r"must be a list. Received: shape \(1, 1\)"), ([97, -1], "consist of code points"),
     ([97, 0x110000], "consist of code points")],
)  # fmt: skip
def test_invalid_arrays(characters, message):
    with pytest.raises(ValueError, match=message):
        Alphabet.from_array(np.array(characters))


def test_capacity():
    """7 bits count to 127, minus "no character", the space and "any other"."""
    assert Alphabet.capacity(7) == 125
