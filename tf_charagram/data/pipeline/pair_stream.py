"""Training pairs: read, turned into ids, and streamed in batches."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.data.pipeline.corpus import PairCorpus
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
from tf_charagram.layers.ragged import gather_ragged
from tf_charagram.optimizers.exchange import ALONE, Exchange
from tf_charagram.text.tensors import ids_function


class PairStream(Stream):
    """The batches of a training run on pairs: ids of lefts, then of rights, and their keys.

    If the store has several blocks, an epoch visits them one after the other, in a new order.

    Args:
        store: The pairs, as ids.
        fill: Fills the store; called once, by `open`. Default: the store is full.
        batch_size: Pairs per batch; the last batch of a block may have fewer.
        mega_batches: Batches in a pool of candidates; see `ParaphraseModel.compile`.
        seed: Seed of the orders.
        file_order_first: Whether the first epoch keeps the order of the file, most confident pairs
            first (Charagram, section 4.1.4).
        bucket_by_length: Whether to sort the pairs of 32 batches at a time by length before
            splitting them into batches, to reduce padding. The batches then come in random order,
            but a smaller batch stays last.

    Raises:
        ConfigError: The batch size is below 2, so a pair has no negatives.
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
        """Computes the ids of all pairs, once."""
        if self._fill is not None:
            self._fill()
            self._fill = None

    def close(self) -> None:
        """Removes the ids that did not fit into memory."""
        self.store.remove()

    def num_updates(self, step: int) -> int:
        """Returns the number of batches before a step, which may be a pool of several."""
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
        """Returns the pairs of each step of a segment, with similar lengths in each batch."""
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


class TrainingPairs:
    """The pairs of a run and the vectorizer made from their texts.

    Args:
        corpus: The pairs; surveyed by the constructor.
        make_vectorizer: Makes the vectorizer from all texts and from those with typos, which it may
            ignore.

    Attributes:
        corpus: The pairs, surveyed.
        vectorizer: Made from all texts.

    Raises:
        CharagramError: Files cannot be read or hold no pairs.
    """

    def __init__(
        self,
        corpus: PairCorpus,
        make_vectorizer: Callable[[Iterable[str], Iterable[str]], keras.layers.Layer],
    ) -> None:
        self.corpus = corpus
        texts = corpus.survey()
        self.vectorizer = make_vectorizer(texts, corpus.texts_with_typos())
        # A hashing vectorizer reads no texts, but the survey must finish.
        deque(texts, maxlen=0)

    def stream(
        self,
        vectorizer: keras.layers.Layer,
        folder: Path,
        *,
        batch_size: int,
        mega_batches: int = 1,
        ids_per_char: int = 1,
        max_ids_in_memory: int,
        seed: int = 0,
        file_order_first: bool = False,
        bucket_by_length: bool = False,
        exchange: Exchange = ALONE,
    ) -> PairStream:
        """Returns the batches of a run; their ids are computed by `open`.

        Args:
            vectorizer: The attribute `vectorizer`, or an extended one.
            folder: Folder for ids that do not fit into memory.
            batch_size: As for `PairStream`.
            mega_batches: As for `PairStream`.
            ids_per_char: Approximate number of ids per character.
            max_ids_in_memory: Approximate number of ids to hold in memory.
            seed: Seed of the orders and of the assignment of pairs to blocks.
            file_order_first: As for `PairStream`.
            bucket_by_length: As for `PairStream`.
            exchange: As for `PairStore.fill`.
        """
        num_blocks = -(-self.corpus.num_chars * ids_per_char // max_ids_in_memory)
        block_size = -(-self.corpus.num_pairs // num_blocks)
        # Blocks hold whole pools.
        pool_size = batch_size * mega_batches
        store = PairStore(
            self.corpus.num_pairs,
            -(-block_size // pool_size) * pool_size,
            folder,
            seed=seed,
            keeps_order=file_order_first,
        )
        return PairStream(
            store,
            fill=lambda: store.fill(self.corpus, ids_function(vectorizer), exchange),
            batch_size=batch_size,
            mega_batches=mega_batches,
            seed=seed,
            file_order_first=file_order_first,
            bucket_by_length=bucket_by_length,
        )
