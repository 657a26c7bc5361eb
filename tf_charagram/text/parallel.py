"""Several batches at the same time, to keep all cores busy."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

B = TypeVar("B")
R = TypeVar("R")


def in_threads(
    function: Callable[[B], R], batches: Iterable[B], number: int | None = None
) -> Iterator[tuple[B, R]]:
    """Applies a function, which must leave Python for most of its time, to a stream of batches.

    Args:
        function: What is done with a batch.
        batches: Read as a stream, a few batches ahead.
        number: Threads; `None` for `num_threads()`.

    Yields:
        Each batch and its result; in order.
    """
    number = number or num_threads()
    with ThreadPoolExecutor(number) as pool:
        pending: deque[tuple[B, Future[R]]] = deque()
        for batch in batches:
            pending.append((batch, pool.submit(function, batch)))
            if len(pending) > 2 * number:
                batch, future = pending.popleft()
                yield batch, future.result()
        for batch, future in pending:
            yield batch, future.result()


def num_threads() -> int:
    """Returns the cores this process may use; like other libraries, heeds OMP_NUM_THREADS."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
