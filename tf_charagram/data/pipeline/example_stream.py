"""Batches of labelled examples that are in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from tf_charagram.data.pipeline.stream import (
    BUCKET_BATCHES,
    Segment,
    Stream,
    bucketed_batches,
    shuffle_full_batches,
    split_batches,
)


class ExampleStream(Stream):
    """The batches of a training run on examples that are in memory.

    Args:
        num_examples: Number of examples.
        make_batch: Returns the batch of the examples of given indices, int64 `(n,)`; runs in the
            graph of the input pipeline.
        batch_size: Examples per batch; the last batch of an epoch may have fewer.
        unit: What an example is called, for instance `"sentences"`.
        seed: Seed of the orders.
        lengths: `(num_examples,)`. If given, the examples of 32 batches at a time are sorted by
            length before they are split into batches, so that little padding is needed; the batches
            come in random order.
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
        super().__init__(num_examples, step_size=batch_size, unit=unit, prefetch=16, seed=seed)
        self._make_batch = make_batch
        self._lengths = lengths

    def epoch(self, epoch: int) -> list[np.ndarray]:
        """Returns the indices of the examples of each batch of an epoch."""
        random = np.random.default_rng([self.seed, epoch])
        order = random.permutation(self.size)
        if self._lengths is None:
            return split_batches(order, self.step_size)
        batches: list[np.ndarray] = []
        for window in split_batches(order, BUCKET_BATCHES * self.step_size):
            batches += bucketed_batches(window, self._lengths, self.step_size)
        shuffle_full_batches(batches, self.step_size, random)
        return batches

    def orders(self, segment: Segment, num_steps: int) -> list[np.ndarray]:
        """Returns the steps of a segment without assembling their batches.

        Args:
            segment: Of which steps.
            num_steps: Steps at a time.

        Returns:
            For each `num_steps` steps the indices of their examples, int64 `(n,)`.
        """
        steps = self._rows(segment)
        return [
            np.concatenate(steps[first : first + num_steps])
            for first in range(0, len(steps), num_steps)
        ]

    def _rows(self, segment: Segment) -> list[np.ndarray]:
        return self.epoch(segment.epoch)[segment.offset : segment.offset + segment.num]

    def _assembler(self, segment: Segment) -> Callable[[tf.Tensor], Any]:
        return self._make_batch
