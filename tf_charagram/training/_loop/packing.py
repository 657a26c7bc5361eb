"""Batches of several steps in arrays of static shapes, for one program on a GPU."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import Any, NamedTuple

import numpy as np

from tf_charagram.training._loop.stream import TextRanges

#: Maximum number of steps per program.
MAX_STEPS = 100
#: Maximum number of ids to keep on the device for the whole run: 4 GiB.
MAX_RESIDENT = 2**30
# Chunks of a text of mean length. Fewer waste more on padding; more take longer to pack and to add.
_CHUNKS_PER_TEXT = 4
_MIN_WIDTH = 4
# Compiling takes seconds, and padding little time: sizes have room to grow, and a program is
# compiled again only if it would have more than this share of padding.
_ROOM, _MAX_WASTE = 0.15, 0.5

#: Ranges of the texts of a batch, and its other parts.
Batch = tuple[Any, ...]


class PackedBatches(NamedTuple):
    """The batches of consecutive steps.

    Attributes:
        num_steps: Number of real steps. `starts`, `lengths` and `others` have one row per step, and
            zeros in the rows that are left over.
        values: Ids, int32 `(num_ids,)`.
        starts: Position in `values` of the first id of each text, int32 `(steps, texts)`.
        lengths: Number of ids of each text, int32 `(steps, texts)`.
        others: The other parts of the batches, `(steps, ...)` each.
        width: Number of ids of a chunk.
        num_chunks: Room for the chunks of a batch.
    """

    num_steps: int
    values: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray
    others: tuple[np.ndarray, ...]
    width: int
    num_chunks: int


class Sizes:
    """Sizes of the arrays of programs: few different ones, because each is compiled."""

    def __init__(self) -> None:
        self._known: dict[str, list[int]] = {}

    def at_least(self, name: str, needed: int) -> int:
        """Returns a size that is large enough, if possible one that was returned before."""
        known = self._known.setdefault(name, [])
        fitting = [size for size in known if needed <= size <= needed * (1 + _MAX_WASTE) + 1]
        if not fitting:
            room = int(needed * (1 + _ROOM))
            unit = 1 << max(0, room.bit_length() - 4)
            fitting = [(room // unit + 1) * unit]
            known += fitting
        return min(fitting)

    def num_steps(self, total: int) -> int:
        """Returns the number of steps per program for a number of steps to train."""
        known = self._known.setdefault("steps", [])
        fitting = [size for size in known if -(-total // size) * size <= total * (1 + _MAX_WASTE)]
        if not fitting:
            num_programs = -(-total // MAX_STEPS)
            # Programs of equal size leave no short one at the end.
            fitting = [-(-total // num_programs)]
            known += fitting
        return max(fitting)

    def fixed(self, name: str, size: int) -> int:
        """Returns the size that the first call with this name gave."""
        return self._known.setdefault(name, [size])[0]


def pack(
    batches: Iterable[Batch], num_steps: int, sizes: Sizes, *, is_padded: bool
) -> Iterator[PackedBatches]:
    """Packs consecutive batches together if they have equal shapes.

    Args:
        batches: Each `TextRanges` and other arrays.
        num_steps: Number of batches.
        sizes: Sizes of the programs so far.
        is_padded: Whether the encoder pads: then each text is one chunk.
    """
    capacity = sizes.num_steps(num_steps)
    for _, alike in groupby(batches, key=_shapes):
        while group := list(islice(alike, capacity)):
            # The last batch of an epoch may be smaller, and so in a program of its own.
            yield _packed(group, capacity if len(group) > 1 else 1, sizes, is_padded)


def _shapes(batch: Batch) -> tuple[Any, ...]:
    ranges, *others = batch
    return (len(ranges.lengths), *(part.shape for part in others))


def _packed(
    batches: Sequence[Batch], num_rows: int, sizes: Sizes, is_padded: bool
) -> PackedBatches:
    """Packs batches into arrays of `num_rows` steps."""
    ranges, *others = zip(*batches, strict=True)
    values, starts = _joined(ranges, sizes)
    lengths = np.stack([each.lengths for each in ranges])
    width = _width(lengths, sizes, is_padded)
    num_chunks = lengths.shape[1]
    if not is_padded:
        num_chunks = sizes.at_least("chunks", (-(-lengths // width)).sum(axis=1).max())

    def all_rows(parts: Sequence[np.ndarray] | np.ndarray, dtype: Any) -> np.ndarray:
        array = np.zeros((num_rows, *parts[0].shape), dtype)
        array[: len(parts)] = parts
        return array

    return PackedBatches(
        num_steps=len(batches),
        values=values,
        starts=all_rows(starts, np.int32),
        lengths=all_rows(lengths, np.int32),
        others=tuple(all_rows(part, part[0].dtype) for part in others),
        width=width,
        num_chunks=num_chunks,
    )


def _joined(ranges: Sequence[TextRanges], sizes: Sizes) -> tuple[np.ndarray, np.ndarray]:
    """Returns an array with the ids of all batches, and where each text starts in it."""
    values = ranges[0].values
    is_shared = all(each.values is values for each in ranges)
    if is_shared and len(values) <= MAX_RESIDENT:
        return values, np.stack([each.starts for each in ranges])
    lengths = np.stack([each.lengths for each in ranges])
    ends = np.cumsum(lengths).reshape(lengths.shape)
    joined = np.zeros(sizes.at_least("ids", ends[-1, -1]), np.int32)
    joined[: ends[-1, -1]] = np.concatenate([ids_of(each) for each in ranges])
    return joined, ends - lengths


def ids_of(ranges: TextRanges) -> np.ndarray:
    """Returns the ids of texts, one text after the other."""
    ends = np.cumsum(ranges.lengths)
    shifts = np.repeat(ranges.starts - (ends - ranges.lengths), ranges.lengths)
    return ranges.values[np.arange(len(shifts)) + shifts]


def _width(lengths: np.ndarray, sizes: Sizes, is_padded: bool) -> int:
    """Returns the width of the chunks of some texts."""
    if is_padded:
        return sizes.at_least("longest", lengths.max(initial=1))
    mean = lengths.mean() / _CHUNKS_PER_TEXT
    return sizes.fixed("width", max(_MIN_WIDTH, 1 << int(np.ceil(np.log2(mean + 1)))))
