"""Characters, their symbols, and arrays that are no alphabet."""

from __future__ import annotations

import numpy as np
import pytest

from tf_charagram.text.alphabet import OTHER_SYMBOL, SPACE_SYMBOL, Alphabet, symbol_bits


def alphabet(chars):
    return Alphabet(np.array([ord(char) for char in chars], np.int32))


def test_symbol_bits():
    assert [symbol_bits(order) for order in range(1, 9)] == [63, 31, 21, 15, 12, 10, 9, 7]


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


def test_symbols_of_another_alphabet():
    one, other = alphabet("bca"), alphabet("xab")
    assert one.symbols_of(other).tolist() == [0, 1, 2, 2, 5, 3]
    assert one.symbols_of(Alphabet()).tolist() == [0, 1, 2]
    assert Alphabet().symbols_of(one).tolist() == [0, 1, 2, 2, 2, 2]


@pytest.mark.parametrize(
    ("characters", "message"),
    [([[97]], r"must be a list. Received: shape \(1, 1\)"), ([97, -1], "consist of code points"),
     ([97, 0x110000], "consist of code points")],
)  # fmt: skip
def test_invalid_arrays(characters, message):
    with pytest.raises(ValueError, match=message):
        Alphabet.from_array(np.array(characters))
