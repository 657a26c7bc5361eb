"""Texts in batches that are bounded in number and in length, and as bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

T = TypeVar("T", bound=Sized)


def bounded_batches(texts: Iterable[T], max_texts: int, max_chars: int) -> Iterator[list[T]]:
    """Splits a stream of texts, in order.

    Args:
        texts: The texts, read as a stream.
        max_texts: Most texts in a batch.
        max_chars: Most characters in a batch, unless it is a single longer text.
    """
    if isinstance(texts, list) and max(map(len, texts), default=0) * max_texts <= max_chars:
        for start in range(0, len(texts), max_texts):
            yield texts[start : start + max_texts]
        return
    batch: list[T] = []
    size = 0
    for text in texts:
        if batch and (len(batch) == max_texts or size + len(text) > max_chars):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def to_bytes(text: str | bytes) -> bytes:
    """Returns a text as UTF-8; lone surrogates become bytes that read as U+FFFD."""
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
