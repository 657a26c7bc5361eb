"""Batches of pairs as a function of the step, so that training can go on from any step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
import tensorflow as tf

from tf_charagram.data.pipeline.store import PairBlock, PairStore
from tf_charagram.errors import ConfigError

#: Batches among which pairs of like length are brought together.
BUCKET_BATCHES = 32


class Segment(NamedTuple):
    """Consecutive steps whose batches come from one block of the store.

    Attributes:
        first: The first step.
        num: How many there are.
        epoch: The epoch they are in.
        block: The block.
        offset: Which step of the block, in this epoch, the first one is.
    """

    first: int
    num: int
    epoch: int
    block: int
    offset: int


class Stream(Protocol):
    """Batches as a function of the step.

    Attributes:
        unit: What an epoch visits each of once, for instance "pairs".
    """

    unit: str

    @property
    def steps_per_epoch(self) -> int:
        """Number of batches that cover everything once."""

    def num_examples(self, step: int) -> int:
        """Returns how much is in the steps before a step."""

    def segments(self, first_step: int, count: int) -> Iterator[Segment]:
        """Yields stretches of steps."""

    def dataset(self, segment: Segment) -> tf.data.Dataset:
        """Returns the batches of a stretch."""


class PairStream:
    """The batches of a training run, each a pure function of the seed and its step.

    Every epoch visits every pair once, in an order drawn anew; no state is kept and no shuffle
    buffer filled, so a run resumes at any step with exactly the batches it would have seen. Where
    the store has several blocks, an epoch visits them one after the other, in a new order too.

    Args:
        store: The pairs, as ids.
        batch_size: Pairs a batch; the last one of a block may have fewer.
        mega_batches: Batches that come together, as one pool; see `ParaphraseModel.compile`.
        seed: Seed of the orders.
        file_order_first: Whether the first epoch keeps the order of the file, most confident pairs
            first (Charagram, section 4.1.4).
        bucket_by_length: Whether the pairs of 32 batches at a time are sorted by length before they
            are cut into batches, so that little padding is needed. Then the batches are brought in
            an order drawn by lot, but for one with fewer pairs, which stays the last.

    Raises:
        ConfigError: The batch size is below 2: a pair's negatives come from the others.
    """

    unit = "pairs"

    def __init__(
        self,
        store: PairStore,
        *,
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
        self.store = store
        self.num_pairs = store.num_pairs
        self.batch_size = batch_size
        self.mega_batches = mega_batches
        self.seed = seed
        self.file_order_first = file_order_first
        self.bucket_by_length = bucket_by_length

    @property
    def steps_per_epoch(self) -> int:
        """Number of batches, or pools of batches, that cover all pairs once."""
        return sum(map(self._num_steps, range(self.store.num_blocks)))

    @property
    def updates_per_epoch(self) -> int:
        """Number of batches that cover all pairs once, also where several make a pool."""
        sizes = map(self.store.size_of, range(self.store.num_blocks))
        return sum(-(-size // self.batch_size) for size in sizes)

    @property
    def _pool_size(self) -> int:
        return self.batch_size * self.mega_batches

    def _num_steps(self, block: int) -> int:
        return -(-self.store.size_of(block) // self._pool_size)

    def num_examples(self, step: int) -> int:
        """Returns the number of pairs in the steps before a step."""
        epoch, offset = divmod(step, self.steps_per_epoch)
        number = epoch * self.num_pairs
        for block in self._blocks(epoch):
            number += min(offset * self._pool_size, self.store.size_of(block))
            offset = max(0, offset - self._num_steps(block))
        return number

    def segments(self, first_step: int, count: int) -> Iterator[Segment]:
        """Yields the steps `first_step` to `first_step + count - 1`, block by block."""
        step, end = first_step, first_step + count
        while step < end:
            epoch, offset = divmod(step, self.steps_per_epoch)
            for block in self._blocks(epoch):
                num_steps = self._num_steps(block)
                if offset < num_steps and step < end:
                    num = min(num_steps - offset, end - step)
                    yield Segment(step, num, epoch, block, offset)
                    step += num
                offset = max(0, offset - num_steps)

    def _blocks(self, epoch: int) -> list[int]:
        blocks = np.arange(self.store.num_blocks)
        if not self._is_in_order(epoch):
            blocks = np.random.default_rng([self.seed, epoch]).permutation(blocks)
        return blocks.tolist()

    def _is_in_order(self, epoch: int) -> bool:
        return self.file_order_first and epoch == 0

    def dataset(self, segment: Segment) -> tf.data.Dataset:
        """Returns the batches of a segment: the ids of lefts, then rights, and their keys."""
        block = self.store.load(segment.block, in_order=self._is_in_order(segment.epoch))

        def batch(chosen: tf.Tensor) -> tuple[tf.RaggedTensor, tf.Tensor]:
            return rows_of(block.ids, chosen), tf.gather(block.keys, chosen)

        # Few operations a batch, one thread: on two cores, what the input pipeline uses the
        # training lacks.
        return step_batches(*self._texts_of(segment, block), batch, prefetch=64)

    def _texts_of(self, segment: Segment, block: PairBlock) -> tuple[np.ndarray, np.ndarray]:
        """Returns the rows of a segment's steps in one vector, and where each step begins."""
        if self.bucket_by_length and not self._is_in_order(segment.epoch):
            steps = self._bucketed(segment, block)
        else:
            first = segment.offset * self._pool_size
            last = min(first + segment.num * self._pool_size, block.num_pairs)
            steps = split_batches(self._order(np.arange(first, last), segment), self._pool_size)
        splits = np.cumsum([0, *(2 * len(pairs) for pairs in steps)])
        texts = np.concatenate([side for p in steps for side in (2 * p, 2 * p + 1)])
        return texts, splits

    def _bucketed(self, segment: Segment, block: PairBlock) -> list[np.ndarray]:
        """Returns the pairs of each step of a segment, of like length in each batch."""
        lengths = block.ids.row_lengths().numpy().reshape(-1, 2).max(axis=1)
        window_steps = -(-BUCKET_BATCHES // self.mega_batches)
        size = window_steps * self._pool_size
        end = segment.offset + segment.num
        first_window = segment.offset // window_steps
        steps: list[np.ndarray] = []
        for window in range(first_window, -(-end // window_steps)):
            places = np.arange(window * size, min((window + 1) * size, block.num_pairs))
            pairs = self._order(places, segment)
            batches = split_batches(
                pairs[np.argsort(lengths[pairs], kind="stable")], self.batch_size
            )
            random = np.random.default_rng([self.seed, segment.epoch, segment.block, window])
            num_full = len(pairs) // self.batch_size
            batches[:num_full] = [batches[i] for i in random.permutation(num_full)]
            steps += split_batches(np.concatenate(batches), self._pool_size)
        begin = segment.offset - first_window * window_steps
        return steps[begin : begin + segment.num]

    def _order(self, places: np.ndarray, segment: Segment) -> np.ndarray:
        """Returns the pairs at some places of a block, in the order of an epoch."""
        if self._is_in_order(segment.epoch):
            return places
        number = segment.epoch * self.store.num_blocks + segment.block
        seed = tf.constant([self.seed, number], tf.int64)
        last = self.store.size_of(segment.block) - 1
        return tf.random.experimental.index_shuffle(tf.constant(places), seed, last).numpy()


def step_batches(
    rows: np.ndarray, splits: np.ndarray, make_batch: Callable[[tf.Tensor], Any], *, prefetch: int
) -> tf.data.Dataset:
    """Returns the batches of some steps.

    Args:
        rows: What the steps are made of, one step after the other.
        splits: Where each step begins in `rows`, and where the last one ends.
        make_batch: Gives the batch of the rows of a step; in the graph of the pipeline.
        prefetch: Batches that are ready before they are asked for.
    """
    all_rows, places = tf.constant(rows), tf.constant(splits)

    def batch(step: tf.Tensor) -> Any:
        return make_batch(all_rows[places[step] : places[step + 1]])

    options = tf.data.Options()
    # The thread that tunes sleeps for longer and longer, and the end of an iterator waits for it:
    # up to 2 s.
    options.autotune.enabled = False
    steps = tf.data.Dataset.range(len(splits) - 1)
    return steps.map(batch).prefetch(prefetch).with_options(options)


def split_batches(places: np.ndarray, size: int) -> list[np.ndarray]:
    """Returns pieces of equal size, of which the last may be smaller."""
    return np.split(places, range(size, len(places), size))


def rows_of(ids: tf.RaggedTensor, chosen: tf.Tensor) -> tf.RaggedTensor:
    """Returns some rows; `tf.gather` reads the lengths of all rows for every batch."""
    splits = ids.row_splits
    places = tf.ragged.range(
        tf.gather(splits, chosen), tf.gather(splits, chosen + 1), row_splits_dtype=splits.dtype
    )
    return places.with_values(tf.gather(ids.values, places.values))
