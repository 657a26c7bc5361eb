"""A Bloom filter in Python's integers (Bloom 1970; double hashing: Kirsch & Mitzenmacher 2006)."""

from collections.abc import Collection, Iterable

BASE = 0x5851F42D4C957F2D
NUM_BITS_SET = 7
_UINT64 = 2**64 - 1


def splitmix64(value: int) -> int:
    """The finalizer of SplitMix64 (Steele, Lea & Flood 2014)."""
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _UINT64
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _UINT64
    return value ^ (value >> 31)


def key(word: str) -> int:
    """A polynomial of the mixed code points, modulo 2^64."""
    terms = (splitmix64(ord(letter)) * BASE**place for place, letter in enumerate(word))
    return sum(terms) & _UINT64


def places(word: str, num_bits: int) -> set[int]:
    """The bits that a word sets."""
    mixed = splitmix64(key(word))
    first, step = mixed >> 32, mixed & 0xFFFFFFFF | 1
    return {(first + i * step) % num_bits for i in range(NUM_BITS_SET)}


class Filter(Collection):
    """The words that a filter finds, with 10 bits for each that was put in."""

    def __init__(self, words: Iterable[str]) -> None:
        words = list(words)
        self.num_bits = 8 * max(64, -(-10 * len(words) // 8))
        self.bits = {place for word in words for place in places(word, self.num_bits)}

    def __contains__(self, word: object) -> bool:
        return places(str(word), self.num_bits) <= self.bits

    def __iter__(self):
        raise TypeError

    def __len__(self) -> int:
        return self.num_bits
