"""Batches of training pairs whose ids are in a store."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from tf_charagram.data.pipeline.store import PairStore
from tf_charagram.data.pipeline.stream import (
    BUCKET_BATCHES,
    Segment,
    Stream,
    bucketed_batches,
    shuffle_full_batches,
    shuffled,
    split_batches,
)
from tf_charagram.errors import ConfigError
from tf_charagram.layers.ragged_rows import gather_ragged


class PairStream(Stream):
    """The batches of a training run on pairs: the ids of lefts, then of rights, and their keys.

    Where the store has several blocks, an epoch visits them one after the other, in a new order.

    Args:
        store: The pairs, as ids.
        fill: Fills the store; called once, by `open`. Default: it is filled already.
        batch_size: Pairs per batch; the last batch of a block may have fewer.
        mega_batches: Batches that come together, as one pool; see `ParaphraseModel.compile`.
        seed: Seed of the orders.
        file_order_first: Whether the first epoch keeps the order of the file, most confident pairs
            first (Charagram, section 4.1.4).
        bucket_by_length: Whether the pairs of 32 batches at a time are sorted by length before they
            are split into batches, so that little padding is needed. The batches then come in
            random order, except that one with fewer pairs stays the last.

    Raises:
        ConfigError: The batch size is below 2: a pair's negatives come from the others.
    """

    def __init__(
        self,
        store: PairStore,
        *,
        fill: Callable[[], None] | None = None,
        batch_size: int,
        mega_batches: int = 1,
        seed: int = 0,
        file_order_first: bool = False,
        bucket_by_length: bool = False,
    ) -> None:
        if batch_size < 2:
            raise ConfigError(
                "`batch_size` must be at least 2: the negatives of a pair come from the others of "
                f"its batch. Received: batch_size={batch_size}"
            )
        super().__init__(
            store.num_pairs,
            step_size=batch_size * mega_batches,
            unit="pairs",
            prefetch=64,
            seed=seed,
            block_size=store.block_size,
        )
        self.store = store
        self.batch_size, self.mega_batches = batch_size, mega_batches
        self.file_order_first = file_order_first
        self.bucket_by_length = bucket_by_length
        self._fill = fill

    def open(self) -> None:
        """Computes the ids of all pairs, unless they are there."""
        if self._fill is not None:
            self._fill()
            self._fill = None

    def close(self) -> None:
        """Removes the ids that did not fit into memory."""
        self.store.remove()

    def num_updates(self, step: int) -> int:
        """Returns the number of batches in the steps before a step, which may be pools of them."""
        epoch, offset = divmod(step, self.steps_per_epoch)
        number = epoch * sum(map(self._num_batches, self._block_sizes))
        for block in self._block_order(epoch):
            number += self._num_batches(min(offset * self.step_size, self._block_sizes[block]))
            offset = max(0, offset - self._num_steps(block))
        return number

    def _num_batches(self, num_pairs: int) -> int:
        return -(-num_pairs // self.batch_size)

    def _block_order(self, epoch: int) -> list[int]:
        blocks = super()._block_order(epoch)
        if self._is_in_order(epoch):
            return blocks
        return np.random.default_rng([self.seed, epoch]).permutation(blocks).tolist()

    def _is_in_order(self, epoch: int) -> bool:
        return self.file_order_first and epoch == 0

    def _assembler(
        self, segment: Segment
    ) -> Callable[[tf.Tensor], tuple[tf.RaggedTensor, tf.Tensor]]:
        block = self.store.load(segment.block, in_order=self._is_in_order(segment.epoch))
        return lambda texts: (gather_ragged(block.ids, texts), tf.gather(block.keys, texts))

    def _rows(self, segment: Segment) -> list[np.ndarray]:
        """Returns the rows of the texts of each step, lefts first."""
        if self.bucket_by_length and not self._is_in_order(segment.epoch):
            steps = self._bucketed(segment)
        else:
            first = segment.offset * self.step_size
            last = min(first + segment.num * self.step_size, self._block_sizes[segment.block])
            steps = split_batches(self._shuffled(first, last, segment), self.step_size)
        return [np.concatenate([2 * pairs, 2 * pairs + 1]) for pairs in steps]

    def _bucketed(self, segment: Segment) -> list[np.ndarray]:
        """Returns the pairs of each step of a segment, of similar length in each batch."""
        block = self.store.load(segment.block)
        lengths = block.ids.row_lengths().numpy().reshape(-1, 2).max(axis=1)
        window_steps = -(-BUCKET_BATCHES // self.mega_batches)
        size = window_steps * self.step_size
        end = segment.offset + segment.num
        first_window = segment.offset // window_steps
        steps: list[np.ndarray] = []
        for window in range(first_window, -(-end // window_steps)):
            last = min((window + 1) * size, block.num_pairs)
            pairs = self._shuffled(window * size, last, segment)
            batches = bucketed_batches(pairs, lengths, self.batch_size)
            random = np.random.default_rng([self.seed, segment.epoch, segment.block, window])
            shuffle_full_batches(batches, self.batch_size, random)
            steps += split_batches(np.concatenate(batches), self.step_size)
        begin = segment.offset - first_window * window_steps
        return steps[begin : begin + segment.num]

    def _shuffled(self, first: int, last: int, segment: Segment) -> np.ndarray:
        """Returns the pairs `first` to `last - 1` of a block in the order of an epoch."""
        positions = np.arange(first, last)
        if self._is_in_order(segment.epoch):
            return positions
        number = segment.epoch * len(self._block_sizes) + segment.block
        return shuffled(positions, self._block_sizes[segment.block], [self.seed, number])
