"""Batches as a pure function of the seed and the step, so that training resumes at any step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from tf_charagram._common.devices import on_cpu

# The shuffling operation uses only 8 bits of a seed for a few thousand examples.
_NUM_SEEDS = 2**8
#: Number of batches to sort by length together.
BUCKET_BATCHES = 32
# Bounds the memory of the order of a segment.
_MAX_EXAMPLES = 1_000_000


class Segment(NamedTuple):
    """Consecutive steps of an epoch.

    Attributes:
        first: The first step.
        num: Number of steps.
        epoch: Their epoch.
        offset: The first step, counted from the start of the epoch.
    """

    first: int
    num: int
    epoch: int
    offset: int


class TextRanges(NamedTuple):
    """The ids of some texts, as ranges of an array.

    Attributes:
        values: int32 `(num_ids,)`.
        starts: Position of the first id of each text, int64 `(num_texts,)`.
        lengths: Number of ids of each text, int64 `(num_texts,)`.
    """

    values: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray

    @classmethod
    def of(cls, ids: tf.RaggedTensor) -> TextRanges:
        """Returns the ranges of the rows of a ragged tensor."""
        splits = ids.row_splits.numpy().astype(np.int64)
        return cls(ids.values.numpy(), splits[:-1], np.diff(splits))


class Stream(ABC):
    """Base class: the batches of a training run, each a function of seed and step.

    Every epoch visits every example once, in a new order. There is no state and no shuffle buffer,
    so a run resumes at any step with exactly the batches it would have seen.

    Args:
        num_examples: Examples per epoch.
        step_size: Examples per step; the last step of an epoch may have fewer.
        unit: Name of the examples in messages, such as `"pairs"`.
        prefetch: Number of batches to prepare ahead.
        seed: Seed of the orders.
        lengths: Returns the lengths of examples. If given, the examples of 32 batches at a time are
            sorted by length before they are split into batches, to reduce padding. The batches then
            come in random order, but a smaller batch stays last.
    """

    def __init__(
        self,
        num_examples: int,
        *,
        step_size: int,
        unit: str,
        prefetch: int,
        seed: int,
        lengths: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> None:
        self.size = num_examples
        self.step_size = step_size
        self.unit = unit
        self.seed = seed
        self._prefetch = prefetch
        self._lengths = lengths

    def open(self) -> None:  # noqa: B027  (optional)
        """Prepares the batches, once; call before training."""

    @property
    def steps_per_epoch(self) -> int:
        """Number of steps in an epoch."""
        return -(-self.size // self.step_size)

    def num_examples(self, step: int) -> int:
        """Returns the number of examples before a step."""
        epoch, offset = divmod(step, self.steps_per_epoch)
        return epoch * self.size + offset * self.step_size

    def segments(self, first_step: int, count: int) -> Iterator[Segment]:
        """Yields the steps `first_step` to `first_step + count - 1`, at most an epoch at a time."""
        step = first_step
        end = first_step + count
        max_steps = max(1, _MAX_EXAMPLES // self.step_size)
        while step < end:
            epoch, offset = divmod(step, self.steps_per_epoch)
            num = min(self.steps_per_epoch - offset, end - step, max_steps)
            yield Segment(step, num, epoch, offset)
            step += num

    @on_cpu
    def dataset(self, segment: Segment) -> tf.data.Dataset:
        """Returns the batches of a segment, each assembled in the graph of the input pipeline."""
        steps = self._rows(segment)
        splits = tf.constant(np.cumsum([0, *map(len, steps)]))
        rows = tf.constant(np.concatenate(steps))
        assemble = self._assembler(segment)

        def batch(step: tf.Tensor) -> Any:
            return assemble(rows[splits[step] : splits[step + 1]])

        options = tf.data.Options()
        # The end of an iterator waits for the tuning thread, which sleeps for up to 2 s.
        options.autotune.enabled = False
        # Few operations per batch and one thread, because training needs the cores.
        batches = tf.data.Dataset.range(len(steps)).map(batch)
        return batches.prefetch(self._prefetch).with_options(options)

    def host_batches(self, segment: Segment) -> Iterator[tuple[Any, ...]]:
        """Yields the batches of a segment as NumPy arrays, with `TextRanges` in place of ids."""
        batches = on_cpu(iter)(self.dataset(segment))
        # Not in a device scope around the loop, which would be that of the caller, too.
        take_next = on_cpu(next)
        while (batch := take_next(batches, None)) is not None:
            ids, *others = batch
            yield TextRanges.of(ids), *(other.numpy() for other in others)

    def _rows(self, segment: Segment) -> list[np.ndarray]:
        """Returns the rows of the batch of each step of a segment: by default, the examples."""
        return self._order(segment)

    def _order(self, segment: Segment) -> list[np.ndarray]:
        """Returns the examples of each step of a segment."""
        if self._lengths is None or self._is_in_order(segment.epoch):
            # A shuffled order needs no neighbors: any part of it can be computed alone.
            first = segment.offset * self.step_size
            last = first + segment.num * self.step_size
            return split_batches(self._shuffled(first, last, segment.epoch), self.step_size)
        # Windows of batches are sorted as a whole, so a segment that begins or ends within one
        # takes a part of its batches: every segment sees the same batches.
        size = BUCKET_BATCHES * self.step_size
        end = segment.offset + segment.num
        first_window = segment.offset // BUCKET_BATCHES
        last_window = (end - 1) // BUCKET_BATCHES
        steps: list[np.ndarray] = []
        for window in range(first_window, last_window + 1):
            examples = self._shuffled(window * size, (window + 1) * size, segment.epoch)
            order = np.argsort(self._lengths(examples), kind="stable")
            batches = split_batches(examples[order], self.step_size)
            # Not in the order of their lengths; a smaller batch stays last.
            num_full = len(batches) - (len(batches[-1]) < self.step_size)
            random = np.random.default_rng([self.seed, segment.epoch, 0, window])
            steps += [batches[i] for i in random.permutation(num_full)]
            steps += batches[num_full:]
        begin = segment.offset - first_window * BUCKET_BATCHES
        return steps[begin : begin + segment.num]

    def _is_in_order(self, epoch: int) -> bool:
        """Returns whether an epoch visits the examples in their order."""
        return False

    def _shuffled(self, first: int, last: int, epoch: int) -> np.ndarray:
        """Returns the examples from `first` to before `last` in the order of an epoch."""
        positions = np.arange(first, min(last, self.size))
        if self._is_in_order(epoch):
            return positions
        return shuffled(positions, self.size, [self.seed, epoch])

    @abstractmethod
    def _assembler(self, segment: Segment) -> Callable[[tf.Tensor], Any]:
        """Returns the function that assembles a batch of a segment from its rows."""


class ExampleStream(Stream):
    """The batches of a training run on examples in memory.

    Args:
        num_examples: Number of examples.
        make_batch: Makes a batch of the examples with given indices, int64 `(n,)`; runs in the
            graph of the input pipeline.
        batch_size: Examples per batch; the last batch of an epoch may have fewer.
        unit: Name of the examples in messages, such as `"sentences"`.
        seed: Seed of the orders.
        lengths: `(num_examples,)`, for batches of examples of similar length.
    """

    def __init__(
        self,
        num_examples: int,
        make_batch: Callable[[tf.Tensor], Any],
        *,
        batch_size: int,
        unit: str,
        seed: int = 0,
        lengths: np.ndarray | None = None,
    ) -> None:
        super().__init__(
            num_examples,
            step_size=batch_size,
            unit=unit,
            prefetch=16,
            seed=seed,
            lengths=None if lengths is None else lengths.__getitem__,
        )
        self._make_batch = make_batch

    def orders(self, segment: Segment, num_steps: int) -> list[np.ndarray]:
        """Returns the examples of a segment without assembling batches.

        Args:
            segment: The steps.
            num_steps: Steps to join.

        Returns:
            The indices of the examples of each `num_steps` steps, int64 `(n,)`.
        """
        steps = self._rows(segment)
        return [
            np.concatenate(steps[first : first + num_steps])
            for first in range(0, len(steps), num_steps)
        ]

    def _assembler(self, segment: Segment) -> Callable[[tf.Tensor], Any]:
        return self._make_batch


def split_batches(rows: np.ndarray, size: int) -> list[np.ndarray]:
    """Splits rows into pieces of equal size; the last may be smaller."""
    return np.split(rows, range(size, len(rows), size))


@on_cpu
def shuffled(positions: np.ndarray, size: int, seed: Sequence[int]) -> np.ndarray:
    """Returns the numbers at some positions of a random order of `0 ... size - 1`.

    Args:
        positions: int64 `(n,)`.
        size: How many numbers to shuffle.
        seed: Two integers.
    """
    seeds = tf.constant(seed, tf.int64)
    if max(seed) >= _NUM_SEEDS:
        # Mixed, so that all bits of the seed influence the bits that the operation uses.
        seeds = tf.constant(np.random.SeedSequence(seed).generate_state(2), tf.int64)
    return tf.random.experimental.index_shuffle(tf.constant(positions), seeds, size - 1).numpy()
