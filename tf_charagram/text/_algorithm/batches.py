"""Streams of texts in bounded batches, several of them at work at a time."""

from __future__ import annotations

import os
import reprlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from tf_charagram.errors import ConfigError

T = TypeVar("T", bound=Sized)
B = TypeVar("B")
R = TypeVar("R")

# Missing values of Python, NumPy and pandas.
_MISSING = {"None", "nan", "NaT", "<NA>"}


def bounded_batches(
    texts: Iterable[T], max_texts: int = 1000, max_chars: int = 1_000_000
) -> Iterator[list[T]]:
    """Splits a stream of texts into batches, in order.

    Args:
        texts: The texts, read as a stream.
        max_texts: Maximum number of texts in a batch.
        max_chars: Maximum number of characters in a batch, unless it is a single longer text.
    """
    if isinstance(texts, list):
        longest = max(map(len, texts), default=0)
        # Slices, if no batch can have too many characters.
        if longest * max_texts <= max_chars:
            for start in range(0, len(texts), max_texts):
                yield texts[start : start + max_texts]
            return
    batch: list[T] = []
    size = 0
    for text in texts:
        is_full = len(batch) == max_texts or size + len(text) > max_chars
        if batch and is_full:
            yield batch
            batch = []
            size = 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def to_bytes(text: str | bytes) -> bytes:
    """Encodes a text as UTF-8; lone surrogates become bytes that decode to U+FFFD."""
    if isinstance(text, bytes):
        return text
    return text.encode("utf-8", "surrogatepass")


def decoded(text: str | bytes) -> str:
    """Decodes a text from UTF-8; broken bytes become U+FFFD, as in the graph."""
    return text.decode(errors="replace") if isinstance(text, bytes) else text


def check_texts(texts: Any, name: str) -> None:
    """Rejects values whose characters, keys or column names would be taken for texts.

    Raises:
        ConfigError: `texts` is a string, a mapping or a data frame.
    """
    if isinstance(texts, str | bytes):
        raise ConfigError(f"`{name}` must be a list of texts. Received a single string.")
    if isinstance(texts, Mapping) or hasattr(texts, "columns"):
        raise ConfigError(
            f"`{name}` must be a list of texts. Received: {type(texts).__name__}. Give one of its "
            'columns, such as df["name"].'
        )


def checked_texts(texts: Iterable[Any], name: str) -> Iterator[str | bytes]:
    """Yields texts.

    Raises:
        ConfigError: One is missing or of another type; the message has its row, from 0.
    """
    for row, text in enumerate(texts):
        if not isinstance(text, str | bytes):
            found = f"{reprlib.repr(text)} ({type(text).__name__})."
            if str(text) in _MISSING:
                found = f"missing ({text}). Drop it, or give another text."
            raise ConfigError(f"`{name}` must hold strings. Row {row} is {found}")
        yield text


def in_threads(
    function: Callable[[B], R],
    batches: Iterable[B],
    number: int | None = None,
    num_waiting: int | None = None,
) -> Iterator[tuple[B, R]]:
    """Applies a function to a stream of batches in threads.

    Args:
        function: Processes a batch; must release the GIL for most of its time. A thread starts
            outside the device scope of the caller, so a function of texts is `on_cpu`.
        batches: Read as a stream, a few batches ahead.
        number: Number of threads. Default: `num_threads()`.
        num_waiting: Maximum number of batches in progress or finished before one is taken.
            Default: two per thread.

    Yields:
        Each batch and its result, in order. After an error, or once the caller stops, no further
        batch is started.
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
    """Returns the number of cores this process may use, or `OMP_NUM_THREADS` if that is set."""
    requested = os.environ.get("OMP_NUM_THREADS", "")
    if requested.isdecimal() and int(requested):
        return int(requested)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
