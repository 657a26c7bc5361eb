"""Batches of labelled examples as a function of the step, so that training can go on from any."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from tf_charagram.data.pipeline.stream import BUCKET_BATCHES, Segment, split_batches, step_batches

#: Batches that are ready before they are asked for.
_PREFETCH = 16


class ExampleStream:
    """The batches of a training run on examples that are in memory.

    Every epoch visits every example once, in an order drawn anew. A batch is a pure function of the
    seed and its step, so a run resumes at any step with exactly the batches it would have seen.

    Args:
        num_examples: How many there are.
        make_batch: Gives the batch of some examples, from their numbers, int64 `(n,)`; in the graph
            of the pipeline.
        batch_size: Examples a batch; the last one of an epoch may have fewer.
        unit: What an example is called, for instance `"sentences"`.
        seed: Seed of the orders.
        lengths: `(num_examples,)`. If given, the examples of 32 batches at a time are sorted by
            length before they are cut into batches, so that little padding is needed; the batches
            come in an order drawn by lot.
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
        self.size = num_examples
        self.unit = unit
        self._make_batch = make_batch
        self._batch_size = batch_size
        self._seed = seed
        self._lengths = lengths

    @property
    def steps_per_epoch(self) -> int:
        """Number of batches that cover all examples once."""
        return -(-self.size // self._batch_size)

    def num_examples(self, step: int) -> int:
        """Returns the number of examples in the steps before a step."""
        epoch, offset = divmod(step, self.steps_per_epoch)
        return epoch * self.size + min(offset * self._batch_size, self.size)

    def segments(self, first_step: int, count: int) -> Iterator[Segment]:
        """Yields the steps `first_step` to `first_step + count - 1`, epoch by epoch."""
        step, end = first_step, first_step + count
        while step < end:
            epoch, offset = divmod(step, self.steps_per_epoch)
            num = min(self.steps_per_epoch - offset, end - step)
            yield Segment(step, num, epoch, 0, offset)
            step += num

    def dataset(self, segment: Segment) -> tf.data.Dataset:
        """Returns the batches of a segment."""
        batches = self.epoch(segment.epoch)[segment.offset : segment.offset + segment.num]
        splits = np.cumsum([0, *map(len, batches)])
        return step_batches(np.concatenate(batches), splits, self._make_batch, prefetch=_PREFETCH)

    def epoch(self, epoch: int) -> list[np.ndarray]:
        """Returns the examples of each batch of an epoch."""
        random = np.random.default_rng([self._seed, epoch])
        order = random.permutation(self.size)
        if self._lengths is None:
            return split_batches(order, self._batch_size)
        batches = []
        for window in split_batches(order, BUCKET_BATCHES * self._batch_size):
            window = window[np.argsort(self._lengths[window], kind="stable")]
            batches += split_batches(window, self._batch_size)
        # One with fewer examples stays the last, for `num_examples` counts on that.
        num_full = self.size // self._batch_size
        batches[:num_full] = [batches[i] for i in random.permutation(num_full)]
        return batches
