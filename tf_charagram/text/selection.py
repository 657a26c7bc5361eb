"""Which of the n-grams that were counted are frequent enough for a vocabulary."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tf_charagram.text.key_counts import KeyCounts, grouped


class Selection:
    """Keeps the most frequent keys of a stream.

    Args:
        min_count: Lowest count that is kept.
        max_size: Most keys that are kept; `None` for all.
        ranks_of: Gives keys distinct numbers; of two equally frequent keys, the one with the lower
            number is first.
    """

    def __init__(
        self,
        min_count: int,
        max_size: int | None,
        ranks_of: Callable[[np.ndarray], np.ndarray],
    ) -> None:
        none = np.zeros(0, np.int64)
        self._min_count = min_count
        self._max_size = max_size
        self._ranks_of = ranks_of
        self._open = KeyCounts(none, none)
        self._kept = [self._open]
        self._num_kept = 0

    def add(self, keys: np.ndarray, counts: np.ndarray) -> None:
        """Adds counts; keys ascend from call to call, and the counts of equal ones are summed."""
        counted = grouped(
            KeyCounts(
                np.concatenate([self._open.keys, keys]), np.concatenate([self._open.counts, counts])
            )
        )
        # The next keys may begin with the last one.
        self._open = counted.part(-1, None)
        self._keep(counted.part(None, -1))

    def chosen(self) -> KeyCounts:
        """Returns the ranks of the keys that are kept and their counts, the highest count first.

        To be called once, at the end.
        """
        self._keep(self._open)
        return self._best()

    def _keep(self, counted: KeyCounts) -> None:
        keys, counts = counted.at_least(self._min_count)
        self._kept.append(KeyCounts(self._ranks_of(keys), counts))
        self._num_kept += len(keys)
        if self._max_size is not None and self._num_kept > 2 * self._max_size:
            self._kept = [self._best()]
            self._num_kept = self._max_size

    def _best(self) -> KeyCounts:
        parts, self._kept = self._kept, []
        ranks, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        del parts  # All of them may take much of the memory.
        order = np.lexsort((ranks, -counts))[: self._max_size]
        return KeyCounts(ranks[order], counts[order])
