"""Batches as a pure function of the seed and the step, so that training resumes at any step."""

# ruff: noqa: B027  (most streams have nothing to open or to close)

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from tf_charagram.data.pipeline.device import first_gpu, on_device

# Of a seed, the operation that shuffles uses 8 bits for some thousand examples.
_NUM_SEEDS = 2**8
#: Batches among which examples of similar length are brought together.
BUCKET_BATCHES = 32


class Segment(NamedTuple):
    """Consecutive steps whose batches come from one block of examples.

    Attributes:
        first: The first step.
        num: Number of steps.
        epoch: The epoch they are in.
        block: Index of the block.
        offset: The first step, counted from the first step of the block in this epoch.
    """

    first: int
    num: int
    epoch: int
    block: int
    offset: int


class Stream(ABC):
    """Base of the streams: the batches of a training run, each a function of seed and step.

    Every epoch visits every example once, in a new order. No state is kept and no shuffle buffer
    filled, so a run resumes at any step with exactly the batches it would have seen. Examples may
    come in blocks of equal size, which an epoch visits one after the other.

    Args:
        num_examples: Examples per epoch.
        step_size: Examples per step; the last step of a block may have fewer.
        unit: What an example is called, for instance `"pairs"`.
        prefetch: Batches that are prepared before they are asked for.
        seed: Seed of the orders.
        block_size: Examples per block; the last block may have fewer. Defaults to one block.
    """

    def __init__(
        self,
        num_examples: int,
        *,
        step_size: int,
        unit: str,
        prefetch: int,
        seed: int,
        block_size: int | None = None,
    ) -> None:
        self.size = num_examples
        self.step_size = step_size
        self.unit = unit
        self.seed = seed
        self._prefetch = prefetch
        block_size = block_size or max(1, num_examples)
        self._block_sizes = [
            min(block_size, num_examples - first) for first in range(0, num_examples, block_size)
        ]

    def open(self) -> None:
        """Computes what all batches need, unless that is done; to be called before training."""

    def close(self) -> None:
        """Removes what was written for the time of training only."""

    @property
    def steps_per_epoch(self) -> int:
        """Number of steps that visit every example once."""
        return sum(map(self._num_steps, range(len(self._block_sizes))))

    def num_updates(self, step: int) -> int:
        """Returns the number of updates of the weights in the steps before a step."""
        return step

    def num_examples(self, step: int) -> int:
        """Returns the number of examples in the steps before a step."""
        epoch, offset = divmod(step, self.steps_per_epoch)
        number = epoch * self.size
        for block in self._block_order(epoch):
            number += min(offset * self.step_size, self._block_sizes[block])
            offset = max(0, offset - self._num_steps(block))
        return number

    def segments(self, first_step: int, count: int) -> Iterator[Segment]:
        """Yields the steps `first_step` to `first_step + count - 1`, block by block."""
        step, end = first_step, first_step + count
        while step < end:
            epoch, offset = divmod(step, self.steps_per_epoch)
            for block in self._block_order(epoch):
                num_steps = self._num_steps(block)
                if offset < num_steps and step < end:
                    num = min(num_steps - offset, end - step)
                    yield Segment(step, num, epoch, block, offset)
                    step += num
                offset = max(0, offset - num_steps)

    def dataset(self, segment: Segment, device: str | None = None) -> tf.data.Dataset:
        """Returns the batches of a segment, each assembled in the graph of the input pipeline.

        Args:
            segment: Of which steps.
            device: Where the batches are copied to, as `on_device` does. Default: to the GPU if
                there is one; on the CPU they stay as they are.
        """
        device = device or first_gpu()
        steps = self._rows(segment)
        splits = tf.constant(np.cumsum([0, *map(len, steps)]))
        rows = tf.constant(np.concatenate(steps))
        assemble = self._assembler(segment)

        def batch(step: tf.Tensor) -> Any:
            return assemble(rows[splits[step] : splits[step + 1]])

        options = tf.data.Options()
        # The thread that tunes sleeps for longer and longer, and the end of an iterator waits for
        # it: up to 2 s.
        options.autotune.enabled = False
        # Few operations per batch, one thread: on two cores, what the input pipeline uses the
        # training lacks.
        batches = tf.data.Dataset.range(len(steps)).map(batch)
        batches = batches.prefetch(self._prefetch).with_options(options)
        return batches if device is None else on_device(batches, device)

    @abstractmethod
    def _rows(self, segment: Segment) -> list[np.ndarray]:
        """Returns the rows that the batch of each step of a segment is assembled from."""

    @abstractmethod
    def _assembler(self, segment: Segment) -> Callable[[tf.Tensor], Any]:
        """Returns the function that assembles a batch of a segment from its rows."""

    def _block_order(self, epoch: int) -> list[int]:
        return list(range(len(self._block_sizes)))

    def _num_steps(self, block: int) -> int:
        return -(-self._block_sizes[block] // self.step_size)


def bucketed_batches(window: np.ndarray, lengths: np.ndarray, batch_size: int) -> list[np.ndarray]:
    """Returns batches of similar length: `window`, a few batches of examples, sorted by length."""
    order = np.argsort(lengths[window], kind="stable")
    return split_batches(window[order], batch_size)


def shuffle_full_batches(
    batches: list[np.ndarray], batch_size: int, random: np.random.Generator
) -> None:
    """Shuffles batches in place; a smaller one stays the last, as `num_examples` counts on."""
    num_full = len(batches) - (len(batches[-1]) < batch_size)
    batches[:num_full] = [batches[i] for i in random.permutation(num_full)]


def split_batches(rows: np.ndarray, size: int) -> list[np.ndarray]:
    """Returns pieces of equal size, of which the last may be smaller."""
    return np.split(rows, range(size, len(rows), size))


def shuffled(positions: np.ndarray, size: int, seed: Sequence[int]) -> np.ndarray:
    """Returns what is at some positions of a random order of `0 ... size - 1`.

    Args:
        positions: int64 `(n,)`.
        size: Number of what is shuffled.
        seed: Two integers.
    """
    seeds = tf.constant(seed, tf.int64)
    if max(seed) >= _NUM_SEEDS:
        seeds = tf.constant(np.random.SeedSequence(seed).generate_state(2), tf.int64)
    return tf.random.experimental.index_shuffle(tf.constant(positions), seeds, size - 1).numpy()
