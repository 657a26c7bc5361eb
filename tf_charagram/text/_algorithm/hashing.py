"""Well-mixed 64-bit hashes (SplitMix64), and integers modulo 2^64."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

#: Factor of the state of a mixed key, before the next symbol is added.
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
#: Rows of an n-gram of unknown characters: n-grams that share a row seldom share the other, too.
ROWS_OF_UNKNOWN = 2
#: Seed `i` of the rows of an n-gram is `i` times this number.
ROW_STEP = 0xD1342543DE82EF95
# Shift and multiplier of each step of SplitMix64, and the last shift.
_FINALIZERS = (
    (30, np.uint64(0xBF58476D1CE4E5B9)),
    (27, np.uint64(0x94D049BB133111EB)),
)
_LAST_SHIFT = np.uint64(31)


def signed(value: int) -> int:
    """Returns the int64 of the same bits as an unsigned integer below 2^64."""
    if value >= 2**63:
        return value - 2**64
    return value


def mixed(ops: ModuleType, values: Any) -> Any:
    """Mixes uint64 values of any shape, so that each bit depends on all bits of the value.

    This is the finalizer of SplitMix64 (Steele, Lea & Flood 2014).

    Args:
        ops: Operations.
        values: The values.
    """
    for shift, multiplier in _FINALIZERS:
        values = (values ^ ops.shift_right(values, np.uint64(shift))) * multiplier
    return values ^ ops.shift_right(values, _LAST_SHIFT)
