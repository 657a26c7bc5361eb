"""A set of words in a few bits each: words that are accepted as they are written."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from tf_charagram.text._algorithm import arrays
from tf_charagram.text._algorithm.flat import Array, Ops
from tf_charagram.text._algorithm.hashing import mixed, signed
from tf_charagram.text.alphabet import MAX_CODE_POINT

#: Base of the keys of words, which are polynomials of their letters.
BASE = 0x5851F42D4C957F2D  # odd, so that it has an inverse
_BITS_PER_WORD = 10
#: Bits that a word sets.
NUM_BITS_SET = 7
_MIN_BYTES = 64


class WordFilter:
    """A Bloom filter of words (Bloom 1970).

    Every word that was put in is found. One in a hundred other words is found, too.

    Args:
        bits: The filter, eight bits to a byte, uint8 `(num_bytes,)`.
    """

    def __init__(self, bits: NDArray[np.uint8]) -> None:
        self.bits = bits

    @classmethod
    def from_words(cls, words: Iterable[str]) -> WordFilter:
        """Makes a filter of lowercased words, of at least one character each."""
        keys = _keys_of(list(words))
        num_bits = len(keys) * _BITS_PER_WORD
        num_bytes = max(_MIN_BYTES, math.ceil(num_bits / 8))
        is_set = np.zeros(8 * num_bytes, bool)
        is_set[_places(arrays, keys, len(is_set))] = True
        bits = np.packbits(is_set, bitorder="little")
        return cls(bits)


def contains(ops: Ops, bits: Array, keys: Array) -> Array:
    """Returns whether words were put into a filter, bool `(num_words,)`.

    Args:
        ops: Operations.
        bits: The bits of the filter.
        keys: int64 `(num_words,)`, for each word the sum over its letters of
            `letter_values(letter) * powers(size)[place]`.
    """
    places = _places(ops, keys, 8 * len(bits))
    # A place is eight times a byte plus a bit of it.
    bit_numbers = ops.cast_to(places % 8, "uint8")
    masks = ops.shift_left(np.uint8(1), bit_numbers)
    found = ops.take(bits, places // 8) & masks
    return ops.all_of(found != 0, axis=1)


def letter_values(code_points: NDArray[np.integer]) -> NDArray[np.int64]:
    """Returns a well-mixed int64 for each code point."""
    values = mixed(arrays, code_points.astype(np.uint64))
    return values.astype(np.int64)


def values_of_no_letter(size: int) -> NDArray[np.int64]:
    """Returns well-mixed int64, none of which is that of a letter."""
    # Not random numbers, because importing NumPy's generators takes a twentieth of the start.
    return letter_values(MAX_CODE_POINT + 1 + np.arange(size))


def powers(size: int) -> NDArray[np.int64]:
    """Returns the first powers of the base of keys modulo 2^64, as int64."""
    values = []
    for power in range(size):
        unsigned = pow(BASE, power, 2**64)
        values.append(signed(unsigned))
    return np.array(values, np.int64)


def powers_by_place(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the power of the place of each letter in its word, for words of some lengths."""
    starts = np.cumsum(lengths) - lengths
    places = np.arange(lengths.sum())
    places -= np.repeat(starts, lengths)
    max_length = lengths.max(initial=0)
    return powers(int(max_length))[places]


def _keys_of(words: list[str]) -> NDArray[np.int64]:
    lengths = np.array([len(word) for word in words], np.int64)
    starts = np.cumsum(lengths) - lengths
    terms = letter_values(joined_codes(words)) * powers_by_place(lengths)
    return np.add.reduceat(terms, starts)


def joined_codes(words: list[str]) -> NDArray[np.uint32]:
    """Returns the code points of all words, one word after the other."""
    joined = "".join(words)
    return np.frombuffer(joined.encode("utf-32-le"), "<u4")


def _places(ops: Ops, keys: Array, num_bits: int) -> Array:
    """Returns the bits of words by double hashing (Kirsch & Mitzenmacher 2006).

    Args:
        ops: Operations.
        keys: int64 `(num_words,)`.
        num_bits: Number of bits of the filter.

    Returns:
        int64 `(num_words, NUM_BITS_SET)`.
    """
    hashes = mixed(ops, ops.bits_of(keys))
    # Both halves of the mixed key serve as hashes.
    high_bits = ops.shift_right(hashes, np.uint64(32))
    low_bits = hashes & np.uint64(2**32 - 1)
    first = ops.int64(high_bits)
    # An even step may return to the same bits.
    step = ops.int64(low_bits) | 1
    moves = ops.with_axis(step, 1) * np.arange(NUM_BITS_SET)
    places = ops.with_axis(first, 1) + moves
    return places % num_bits
