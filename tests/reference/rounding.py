"""Stochastic rounding to bfloat16, number by number (Gupta et al. 2015, section 3.1)."""

from __future__ import annotations

import math

import numpy as np

_ALL = 2**64 - 1


def neighbours(value: float) -> tuple[float, float]:
    """Returns the numbers of bfloat16 next to a float32, that nearer to zero first.

    Both are the number itself if bfloat16 has it. Behind its largest number comes infinity.
    """
    bits = int(np.float32(value).view(np.uint32))
    inner = np.uint32(bits & 0xFFFF0000).view(np.float32)
    if bits == bits & 0xFFFF0000:
        return float(inner), float(inner)
    return float(inner), float(np.uint32((bits & 0xFFFF0000) + 0x10000).view(np.float32))


def probability(value: float) -> float:
    """Returns the probability that a finite number, not too large, is rounded away from zero."""
    inner, outer = neighbours(value)
    return 0.0 if inner == outer else (float(np.float32(value)) - inner) / (outer - inner)


def mix(state: int) -> int:
    """Returns the finalizer of SplitMix64 (Steele, Lea & Flood 2014)."""
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & _ALL
    state = (state ^ state >> 27) * 0x94D049BB133111EB & _ALL
    return state ^ state >> 31


def draw(row: int, column: int, step: int, seed: int, salt: int) -> int:
    """Returns the threshold of one number, in [0, 2^16)."""
    start = step * 0xD1342543DE82EF95 + seed * 0x9E3779B97F4A7C15 + salt * 0xDA942042E4DD58B5
    of_row, of_column = (
        mix(index * 0xAF251AF3B0F025B5 + start & _ALL) >> 48 for index in (row, -1 - column)
    )
    return (of_row + of_column) % 2**16


def stochastic_round(
    values: np.ndarray, rows: np.ndarray, step: int, *, seed: int = 0, salt: int = 0
) -> np.ndarray:
    """Returns rounded numbers, as float32 of the shape of `values`, `(n, dim)`."""
    rounded = np.array(values, np.float32)
    for i, row in enumerate(np.asarray(rows).tolist()):
        for column, value in enumerate(rounded[i]):
            if math.isfinite(value):
                inner, outer = neighbours(value)
                below = int(value.view(np.uint32)) & 0xFFFF
                is_outer = below + draw(row, column, step, seed, salt) >= 2**16
                rounded[i, column] = outer if is_outer else inner
    return rounded
