"""The alphabet: characters numbered densely, the symbols of exact n-gram keys."""

from __future__ import annotations

import numpy as np

from tf_charagram.text.normalize import SPACE, normalized_code_points

#: Symbols of the space and of every character outside the alphabet.
SPACE_SYMBOL = 1
OTHER_SYMBOL = 2
_FIRST_SYMBOL = 3
MAX_CODE_POINT = 0x10FFFF


class Alphabet:
    """Characters numbered densely, so that an n-gram of them fits into one int64.

    Symbol 0 means no character, 1 the space, 2 any character outside the alphabet.

    Args:
        characters: Normalized code points without the space, in the order of their symbols.
    """

    def __init__(self, characters: np.ndarray | None = None) -> None:
        empty = np.zeros(0, np.int32)
        self.characters = empty if characters is None else np.asarray(characters, np.int32)

    @classmethod
    def from_array(cls, characters: np.ndarray) -> Alphabet:
        """Restores an alphabet from `characters`.

        Raises:
            ValueError: The array is not a list of code points.
        """
        if characters.ndim != 1:
            raise ValueError(f"the alphabet must be a list. Received: shape {characters.shape}")
        if characters.size and not 0 <= characters.min() <= characters.max() <= MAX_CODE_POINT:
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
        new = np.setdiff1d(code_points, np.append(self.characters, SPACE))
        return Alphabet(np.concatenate([self.characters, new])) if len(new) else self

    def symbol_table(self, lowercase: bool) -> np.ndarray:
        """Returns the symbol of every raw code point, int32 `(table_size,)`.

        The last entry applies to all code points from there on. Normalization is included.
        """
        fold = normalized_code_points(lowercase)
        size = max(len(fold), int(self.characters.max(initial=0)) + 1) + 1
        symbols = np.full(size, OTHER_SYMBOL, np.int32)
        symbols[SPACE] = SPACE_SYMBOL
        symbols[self.characters] = np.arange(_FIRST_SYMBOL, _FIRST_SYMBOL + len(self))
        normalized = np.arange(size)
        normalized[: len(fold)] = fold
        symbols = symbols[normalized]
        last = np.flatnonzero(symbols != OTHER_SYMBOL)[-1]
        return symbols[: last + 2]

    def code_points(self, symbols: np.ndarray) -> np.ndarray:
        """Returns the code points of symbols; U+FFFD for characters outside the alphabet."""
        table = np.concatenate([[0, SPACE, 0xFFFD], self.characters])
        return table[symbols].astype(np.int32)

    def symbol_codes(self) -> np.ndarray:
        """Returns the code point of each symbol, int32 `(3 + len(self),)`; -1 for 0 and 2."""
        return np.concatenate([[-1, SPACE, -1], self.characters]).astype(np.int32)

    def symbols_of(self, other: Alphabet) -> np.ndarray:
        """Returns the symbol here of each symbol of another alphabet, int64 `(3 + len(other),)`."""
        size = 1 + max(int(alphabet.characters.max(initial=0)) for alphabet in (self, other))
        symbols = np.full(size, OTHER_SYMBOL, np.int64)
        symbols[self.characters] = np.arange(_FIRST_SYMBOL, _FIRST_SYMBOL + len(self))
        return np.concatenate([np.arange(_FIRST_SYMBOL), symbols[other.characters]])

    def sorted(self) -> tuple[Alphabet, np.ndarray]:
        """Returns the alphabet in code point order, and the new symbol of each old one."""
        order = np.argsort(self.characters, kind="stable")
        renumbered = np.arange(_FIRST_SYMBOL + len(self), dtype=np.int64)
        renumbered[_FIRST_SYMBOL + order] = np.arange(_FIRST_SYMBOL, _FIRST_SYMBOL + len(self))
        return Alphabet(self.characters[order]), renumbered

    def ranks(self) -> np.ndarray:
        """Returns the rank of each symbol in code point order, int64; 0 for no character."""
        ranks = np.zeros(_FIRST_SYMBOL + len(self), np.int64)
        codes = self.code_points(np.arange(1, len(ranks)))
        ranks[1 + np.argsort(codes, kind="stable")] = np.arange(1, len(ranks))
        return ranks
