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
    function: Callable[[B], R],
    batches: Iterable[B],
    number: int | None = None,
    num_waiting: int | None = None,
) -> Iterator[tuple[B, R]]:
    """Applies a function, which must leave Python for most of its time, to a stream of batches.

    Args:
        function: What is done with a batch.
        batches: Read as a stream, a few batches ahead.
        number: Threads; `None` for `num_threads()`.
        num_waiting: Batches that may be begun or done before one is taken; `None` for two a thread.

    Yields:
        Each batch and its result; in order. After an error, or where nobody asks for more, no other
        batch is begun.
    """
    number = number or num_threads()
    num_waiting = 2 * number if num_waiting is None else num_waiting
    with ThreadPoolExecutor(number) as pool:
        pending: deque[tuple[B, Future[R]]] = deque()
        try:
            for batch in batches:
                pending.append((batch, pool.submit(function, batch)))
                if len(pending) > num_waiting:
                    batch, future = pending.popleft()
                    yield batch, future.result()
            while pending:
                batch, future = pending.popleft()
                yield batch, future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def num_threads() -> int:
    """Returns the cores this process may use; like other libraries, heeds OMP_NUM_THREADS."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
