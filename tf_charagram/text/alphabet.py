"""The characters of a vocabulary, numbered densely, so that n-grams of them fit into an int64."""

from __future__ import annotations

import numpy as np

from tf_charagram.text._algorithm.code_points import SPACE, normalized_code_points

#: Symbols of the space and of every character outside the alphabet.
SPACE_SYMBOL = 1
OTHER_SYMBOL = 2
#: Added to the normalized code point of a character outside the alphabet, if its identity is kept.
UNKNOWN = 1 << 22
_FIRST_SYMBOL = 3
MAX_CODE_POINT = 0x10FFFF


class Alphabet:
    """Characters numbered densely, so that an n-gram of them fits into one int64.

    Symbol 0 means no character, 1 the space, 2 any character outside the alphabet.

    Args:
        characters: Normalized code points without the space, in the order of their symbols.
    """

    def __init__(self, characters: np.ndarray | None = None) -> None:
        if characters is None:
            characters = np.zeros(0, np.int32)
        self.characters = np.asarray(characters, np.int32)

    @classmethod
    def from_array(cls, characters: np.ndarray) -> Alphabet:
        """Restores an alphabet from `characters`.

        Raises:
            ValueError: The array is not a list of code points.
        """
        if characters.ndim != 1:
            raise ValueError(f"the alphabet must be a list. Received: shape {characters.shape}")
        smallest = characters.min(initial=0)
        largest = characters.max(initial=0)
        if smallest < 0 or largest > MAX_CODE_POINT:
            raise ValueError("the alphabet must consist of code points")
        return cls(characters)

    def __len__(self) -> int:
        return len(self.characters)

    @staticmethod
    def capacity(bits: int) -> int:
        """Returns the number of characters that symbols of `bits` bits can hold."""
        return (1 << bits) - _FIRST_SYMBOL

    def extended(self, code_points: np.ndarray) -> Alphabet:
        """Returns this alphabet followed by those normalized code points that it lacks."""
        known = np.append(self.characters, SPACE)
        new = np.setdiff1d(code_points, known)
        if not len(new):
            return self
        characters = np.concatenate([self.characters, new])
        return Alphabet(characters)

    @property
    def _symbols(self) -> np.ndarray:
        """The symbols of the characters."""
        stop = _FIRST_SYMBOL + len(self)
        return np.arange(_FIRST_SYMBOL, stop)

    def symbol_table(self, lowercase: bool) -> np.ndarray:
        """Returns the symbol of every raw code point, int32 `(table_size,)`.

        The last entry applies to all code points from there on. Normalization is included.
        """
        fold = normalized_code_points(lowercase)
        max_code = int(self.characters.max(initial=0))
        # One more entry than code points that differ from the last one.
        size = max(len(fold), max_code + 1) + 1
        symbols = np.full(size, OTHER_SYMBOL, np.int32)
        symbols[SPACE] = SPACE_SYMBOL
        symbols[self.characters] = self._symbols
        normalized = np.arange(size)
        normalized[: len(fold)] = fold
        symbols = symbols[normalized]
        has_symbol = symbols != OTHER_SYMBOL
        last = np.flatnonzero(has_symbol)[-1]
        return symbols[: last + 2]

    def code_points(self, symbols: np.ndarray) -> np.ndarray:
        """Returns the code points of symbols; U+FFFD for characters outside the alphabet."""
        table = np.concatenate([[0, SPACE, 0xFFFD], self.characters])
        return table[symbols].astype(np.int32)

    def symbol_codes(self) -> np.ndarray:
        """Returns the code point of each symbol, int32 `(3 + len(self),)`; -1 for 0 and 2."""
        codes = np.concatenate([[-1, SPACE, -1], self.characters])
        return codes.astype(np.int32)

    def symbols_of(self, other: Alphabet) -> np.ndarray:
        """Maps the symbols of another alphabet to this one, int64 `(3 + len(other),)`."""
        characters = np.concatenate([self.characters, other.characters])
        size = int(characters.max(initial=0)) + 1
        symbols = np.full(size, OTHER_SYMBOL, np.int64)
        symbols[self.characters] = self._symbols
        # The first symbols are the same in all alphabets.
        common = np.arange(_FIRST_SYMBOL)
        return np.concatenate([common, symbols[other.characters]])

    def sorted(self) -> tuple[Alphabet, np.ndarray]:
        """Returns the alphabet in code point order, and the new symbol of each old one."""
        order = np.argsort(self.characters, kind="stable")
        alphabet = Alphabet(self.characters[order])
        renumbered = np.arange(_FIRST_SYMBOL + len(self), dtype=np.int64)
        renumbered[_FIRST_SYMBOL + order] = self._symbols
        return alphabet, renumbered


def symbol_bits(max_order: int) -> int:
    """Returns the number of bits per symbol if `max_order` of them share 63 bits."""
    return 63 // max_order
