"""A set of words in a few bits each: words that are accepted as they are written."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from tf_charagram.devices import on_cpu
from tf_charagram.text.keys import mix64

#: Base of the keys of words, which are polynomials of their letters.
BASE = 0x5851F42D4C957F2D  # odd, so that it has an inverse
_BITS_PER_WORD, _NUM_BITS_SET = 10, 7
_MIN_BYTES = 64


class WordFilter:
    """A Bloom filter of words (Bloom 1970).

    Every word that was put in is found. One in a hundred other words is found, too.

    Args:
        bits: The filter, eight bits to a byte, uint8 `(num_bytes,)`.
    """

    @on_cpu
    def __init__(self, bits: NDArray[np.uint8]) -> None:
        self.bits = bits
        # A tensor: a constant in each function would be saved with each.
        self._bytes = tf.constant(bits)

    @classmethod
    @on_cpu
    def from_words(cls, words: Iterable[str]) -> WordFilter:
        """Makes a filter of lowercased words, of at least one character each."""
        keys = _keys_of(list(words))
        num_bytes = max(_MIN_BYTES, -(-len(keys) * _BITS_PER_WORD // 8))
        is_set = np.zeros(8 * num_bytes, bool)
        is_set[_places(tf.constant(keys), len(is_set)).numpy()] = True
        return cls(np.packbits(is_set, bitorder="little"))

    def contains(self, keys: tf.Tensor) -> tf.Tensor:
        """Returns whether words were put in, bool `(num_words,)`.

        Args:
            keys: int64 `(num_words,)`, for each word the sum over its letters of
                `letter_values(letter) * powers(size)[place]`.
        """
        places = _places(keys, 8 * len(self.bits))
        found = tf.gather(self._bytes, tf.bitwise.right_shift(places, np.int64(3)))
        bits = tf.bitwise.left_shift(np.uint8(1), tf.cast(places & 7, tf.uint8))
        return tf.reduce_all((found & bits) != 0, axis=1)


def letter_values(code_points: NDArray[np.integer]) -> NDArray[np.int64]:
    """Returns a well-mixed int64 for each code point."""
    return mix64(tf.constant(code_points.astype(np.uint64))).numpy().astype(np.int64)


def powers(size: int) -> NDArray[np.int64]:
    """Returns the first powers of the base of keys modulo 2^64, as int64."""
    return np.array([signed(pow(BASE, power, 2**64)) for power in range(size)], np.int64)


def powers_by_place(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the power of the place of each letter in its word, for words of some lengths."""
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    return powers(int(lengths.max(initial=0)))[np.arange(len(starts)) - starts]


def signed(value: int) -> int:
    """Returns the int64 of the same bits as an unsigned integer below 2^64."""
    return value - 2**64 if value >= 2**63 else value


def _keys_of(words: list[str]) -> NDArray[np.int64]:
    lengths = np.array([*map(len, words)], np.int64)
    codes = np.frombuffer("".join(words).encode("utf-32-le"), "<u4")
    terms = letter_values(codes) * powers_by_place(lengths)
    return np.add.reduceat(terms, np.cumsum(lengths) - lengths)


def _places(keys: tf.Tensor, num_bits: int) -> tf.Tensor:
    """Returns the bits of words by double hashing (Kirsch & Mitzenmacher 2006).

    Args:
        keys: int64 `(num_words,)`.
        num_bits: Number of bits of the filter.

    Returns:
        int64 `(num_words, _NUM_BITS_SET)`.
    """
    mixed = mix64(tf.bitcast(keys, tf.uint64))
    first = tf.cast(tf.bitwise.right_shift(mixed, np.uint64(32)), tf.int64)
    step = tf.cast(mixed & np.uint64(2**32 - 1), tf.int64) | 1
    return (first[:, tf.newaxis] + step[:, tf.newaxis] * np.arange(_NUM_BITS_SET)) % num_bits
