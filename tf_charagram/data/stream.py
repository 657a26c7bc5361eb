"""Batches of pairs as a function of the step, so that training can go on from any step."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tf_charagram.errors import ConfigError


class PairStream:
    """The batches of a training run, each a pure function of the seed and its step.

    Every epoch visits every pair once, in an order drawn anew; no state is kept and no shuffle
    buffer filled, so a run resumes at any step with exactly the batches it would have seen.

    Args:
        ids: n-gram ids of the distinct texts, `tf.RaggedTensor` int32 `(num_texts, None)`.
        text_keys: Equal for equal texts, int32 `(num_texts,)`.
        left: Index of the first text of each pair, int32 `(num_pairs,)`.
        right: Of the second.
        batch_size: Pairs a batch; the last one of an epoch may have fewer.
        seed: Seed of the orders.
        file_order_first: Whether the first epoch keeps the order of the file, most confident pairs
            first (Charagram, section 4.1.4).

    Raises:
        ConfigError: The batch size is below 2: a pair's negatives come from the others.
    """

    def __init__(
        self,
        ids: tf.RaggedTensor,
        text_keys: np.ndarray,
        left: np.ndarray,
        right: np.ndarray,
        *,
        batch_size: int,
        seed: int = 0,
        file_order_first: bool = False,
    ) -> None:
        if batch_size < 2:
            raise ConfigError(
                "`batch_size` must be at least 2: the negatives of a pair come from the others of "
                f"its batch. Received: batch_size={batch_size}"
            )
        self.num_pairs = len(left)
        self.batch_size = batch_size
        self.seed = seed
        self.file_order_first = file_order_first
        self._ids = ids
        self._text_keys = tf.constant(text_keys, tf.int32)
        self._left, self._right = tf.constant(left, tf.int32), tf.constant(right, tf.int32)

    @property
    def steps_per_epoch(self) -> int:
        """Number of batches that cover all pairs once."""
        return -(-self.num_pairs // self.batch_size)

    def dataset(self, first_step: int, num_steps: int) -> tf.data.Dataset:
        """Returns the batches of steps `first_step` to `first_step + num_steps - 1`."""
        texts, splits = map(tf.constant, self._texts_of(first_step, num_steps))

        def batch(number: tf.Tensor) -> tuple[tf.RaggedTensor, tf.Tensor]:
            chosen = texts[splits[number] : splits[number + 1]]
            return tf.gather(self._ids, chosen), tf.gather(self._text_keys, chosen)

        # Few operations a batch: on two cores, what the input pipeline uses the training lacks.
        batches = tf.data.Dataset.range(num_steps).map(batch, num_parallel_calls=1)
        return batches.prefetch(64)

    def _texts_of(self, first_step: int, num_steps: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns the texts of many batches in one vector, int32, and where each batch begins."""
        steps = np.arange(first_step, first_step + num_steps)
        starts = steps % self.steps_per_epoch * self.batch_size
        sizes = np.minimum(self.batch_size, self.num_pairs - starts)
        splits = np.append(0, np.cumsum(sizes))
        places = np.arange(splits[-1]) - np.repeat(splits[:-1] - starts, sizes)
        epochs = np.repeat(steps // self.steps_per_epoch, sizes)
        pairs = np.empty(len(places), np.int64)
        for epoch in np.unique(epochs).tolist():
            inside = epochs == epoch
            pairs[inside] = self._order(tf.constant(places[inside]), tf.constant(epoch, tf.int64))
        texts = np.empty(2 * len(pairs), np.int32)
        lefts = np.arange(len(pairs)) + np.repeat(splits[:-1], sizes)
        texts[lefts] = self._left.numpy()[pairs]
        texts[lefts + np.repeat(sizes, sizes)] = self._right.numpy()[pairs]
        return texts, 2 * splits

    def batch(self, step: tf.Tensor) -> tuple[tf.RaggedTensor, tf.Tensor]:
        """Returns the ids of the lefts and rights of a step's pairs, and the keys of the texts."""
        pairs = self.pairs(step)
        texts = tf.concat([tf.gather(self._left, pairs), tf.gather(self._right, pairs)], axis=0)
        return tf.gather(self._ids, texts), tf.gather(self._text_keys, texts)

    def pairs(self, step: tf.Tensor) -> tf.Tensor:
        """Returns which pairs make up a step's batch, int64 `(batch,)`."""
        epoch, position = step // self.steps_per_epoch, step % self.steps_per_epoch
        start = position * self.batch_size
        positions = tf.range(start, tf.minimum(start + self.batch_size, self.num_pairs))
        return self._order(positions, epoch)

    def _order(self, positions: tf.Tensor, epoch: tf.Tensor) -> tf.Tensor:
        """Returns the pairs at some positions of an epoch."""
        shuffled = tf.random.experimental.index_shuffle(
            positions, tf.stack([tf.constant(self.seed, tf.int64), epoch]), self.num_pairs - 1
        )
        if not self.file_order_first:
            return shuffled
        return tf.where(epoch == 0, positions, shuffled)
