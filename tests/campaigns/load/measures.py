"""What is measured: latencies in buckets, memory of processes, and its slope."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

_RATIO = 1.01
_SHORTEST_S = 1e-5


class Latencies:
    """Counts of latencies in buckets 1 % wide, so that its size does not grow with time."""

    def __init__(self) -> None:
        # Up to 16 minutes.
        self._counts = np.zeros(int(math.log(1e8) / math.log(_RATIO)), np.int64)

    def add(self, seconds: float) -> None:
        bucket = int(math.log(max(seconds / _SHORTEST_S, 1)) / math.log(_RATIO))
        self._counts[min(bucket, len(self._counts) - 1)] += 1

    def __add__(self, other: Latencies) -> Latencies:
        total = Latencies()
        total._counts = self._counts + other._counts
        return total

    def percentile_ms(self, percent: float) -> float:
        """Returns the upper end of the bucket that a percentile is in, in milliseconds."""
        ends = np.cumsum(self._counts)
        bucket = int(np.searchsorted(ends, max(1, math.ceil(ends[-1] * percent / 100))))
        return 1e3 * _SHORTEST_S * _RATIO ** (bucket + 1)


def memory_mb(pid: int) -> float:
    """Returns the memory of a process in MB; of another one than this, with its children.

    Anonymous pages only: those of libraries and files come and go as the system likes.
    """
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    own = next(line for line in rollup.splitlines() if line.startswith("Anonymous:"))
    children: list[str] = []
    if pid != os.getpid():
        for path in Path(f"/proc/{pid}/task").glob("*/children"):
            with suppress(OSError):  # The thread may have ended since.
                children += path.read_text().split()
    return int(own.split()[1]) * 1024 / 1e6 + sum(memory_mb(int(child)) for child in children)


def slope_per_hour(seconds: Sequence[float], values: Sequence[float]) -> tuple[float, float]:
    """Returns the least-squares slope of values per hour, and its standard error."""
    hours = np.array(seconds) / 3600
    hours = hours - hours.mean()
    spread = float(hours @ hours)
    slope = float(hours @ np.array(values)) / spread
    residuals = np.array(values) - np.mean(values) - slope * hours
    return slope, math.sqrt(float(residuals @ residuals) / (len(hours) - 2) / spread)
