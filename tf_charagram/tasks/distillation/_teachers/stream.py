"""Batches of texts with the vectors of a teacher, together with paraphrase pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.data.typos import Typos
from tf_charagram.tasks.distillation._teachers.lines import (
    MeanOfTeachers,
    TeacherLines,
    nearest_lines,
    normalized,
)
from tf_charagram.tasks.paraphrase._corpus.pair_stream import text_keys
from tf_charagram.text._algorithm.batches import to_bytes
from tf_charagram.training._loop.stream import Segment, Stream, shuffled, split_batches

# Seeds the order of the pairs differently from the order of the lines.
_PAIRS = 1
_NUM_NEIGHBORS = 32


class PairTexts(NamedTuple):
    """Paraphrase pairs in memory.

    Attributes:
        lefts: First texts.
        rights: Second texts.
        keys: Equal for texts that differ only in case and white space, int64 `(num_pairs, 2)`.
    """

    lefts: Sequence[str]
    rights: Sequence[str]
    keys: np.ndarray

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> PairTexts:
        """Reads pairs into memory."""
        pairs = list(pairs)
        lefts = [left for left, _ in pairs]
        rights = [right for _, right in pairs]
        keys = np.stack([text_keys(lefts).numpy(), text_keys(rights).numpy()], axis=1)
        return cls(lefts, rights, keys)


class DistillStream(Stream):
    """The batches of a training run with a teacher.

    Each batch is `(ids, vectors, neighbors, cosines, keys)`: the ids of the lines, then of the
    lefts and rights of the pairs, `tf.RaggedTensor` int32 `(n + 2p, None)`; the vectors of the
    lines, of unit length, float32 `(n, dim)`; the two rows of each pair of neighbors, int32
    `(m, 2)`, and their cosines, float32 `(m,)`; and equal numbers for equal texts of the pairs,
    int64 `(2p,)`.

    An epoch visits every line once. Some lines of a batch bring along one of their nearest lines,
    a different one in every epoch. Pairs have epochs of their own, with a fixed number per step.
    Texts become ids when their batch is assembled, so every epoch has other typos, and memory holds
    only the texts. Everything is a function of seed and step.

    Args:
        lines: The lines.
        pairs: The pairs; `None` for batches without pairs.
        vectorizer: Makes the ids.
        batch_size: Lines per batch, and pairs per batch, if there are as many. The last batch of an
            epoch may have fewer lines.
        errors: Adds typos to lines and to one side of pairs.
        neighbor_batch_size: Lines per batch that bring along one of their 32 nearest lines.
        judge: Decides which lines are neighbors, and their cosines. Default: `lines`.
        dim: Width of the vectors. If smaller than the teacher's, its vectors are projected.
        seed: Seed of the orders and the typos.

    Raises:
        ConfigError: `dim` is larger than the teacher's.
    """

    def __init__(
        self,
        lines: TeacherLines,
        pairs: PairTexts | None,
        vectorizer: keras.layers.Layer,
        *,
        batch_size: int,
        errors: Typos,
        dim: int,
        neighbor_batch_size: int = 0,
        judge: MeanOfTeachers | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(len(lines), step_size=batch_size, unit="texts", prefetch=16, seed=seed)
        num_pairs = 0 if pairs is None else len(pairs.lefts)
        self._lines = lines
        self._pairs = pairs
        self._num_pairs = num_pairs
        self._pair_batch_size = min(batch_size, num_pairs)
        self._vectorizer = vectorizer
        self._errors = errors
        self._neighbor_batch_size = neighbor_batch_size
        self._judge = lines if judge is None else judge
        self._nearest: np.ndarray | None = None
        self._dim = dim
        self._projection = None if dim == lines.dim else lines.principal_directions(dim)

    def open(self) -> None:
        """Finds the nearest lines of all lines, if batches need them."""
        if self._neighbor_batch_size and self._nearest is None:
            self._nearest = nearest_lines(self._judge, _NUM_NEIGHBORS, seed=self.seed)

    def _rows(self, segment: Segment) -> list[np.ndarray]:
        """Returns the line and pair numbers of each step; pairs are numbered after all lines."""
        first = segment.offset * self.step_size
        last = min(first + segment.num * self.step_size, self.size)
        order = shuffled(np.arange(first, last), self.size, [self.seed, 2 * segment.epoch])
        line_batches = split_batches(order, self.step_size)
        if not self._num_pairs:
            return line_batches
        batches = []
        for step, lines in enumerate(line_batches, start=segment.first):
            batches.append(np.concatenate([lines, self.size + self._pairs_of(step)]))
        return batches

    def _pairs_of(self, step: int) -> np.ndarray:
        """Returns the pair numbers of a step, which may span two epochs of pairs."""
        first = step * self._pair_batch_size
        # Positions in the endless sequence of epochs, each in its own random order.
        positions = np.arange(first, first + self._pair_batch_size)
        epochs = positions // self._num_pairs
        parts = []
        for epoch in np.unique(epochs).tolist():
            in_epoch = positions[epochs == epoch] % self._num_pairs
            parts.append(shuffled(in_epoch, self._num_pairs, [self.seed, 2 * epoch + _PAIRS]))
        return np.concatenate(parts)

    def _assembler(self, segment: Segment) -> Callable[[tf.Tensor], Any]:
        types = (tf.string, tf.float32, tf.int32, tf.float32, tf.int64)

        def assemble(rows: tf.Tensor) -> tuple[tf.RaggedTensor | tf.Tensor, ...]:
            texts, vectors, neighbors, cosines, keys = tf.numpy_function(
                lambda rows: self._examples(rows, segment.epoch), [rows], types
            )
            # `numpy_function` forgets the shapes.
            texts.set_shape([None])
            vectors.set_shape([None, self._dim])
            neighbors.set_shape([None, 2])
            cosines.set_shape([None])
            keys.set_shape([None])
            return self._vectorizer.training_ids(texts), vectors, neighbors, cosines, keys

        return assemble

    def _examples(self, rows: np.ndarray, epoch: int) -> tuple[np.ndarray, ...]:
        """Returns the texts and the other parts of a batch."""
        # The draws of a batch depend only on its epoch and its first line, so that a resumed run
        # gets the same typos and neighbors.
        random = np.random.default_rng([self.seed, epoch, int(rows[0])])
        is_line = rows < self.size
        numbers, neighbors = self._with_neighbors(rows[is_line], random)
        vectors = self._lines.vectors(numbers)
        judged = vectors if self._judge is self._lines else self._judge.vectors(numbers)
        left, right = neighbors.T
        cosines = np.einsum("ij,ij->i", judged[left], judged[right])
        if self._projection is not None:
            vectors = normalized(vectors @ self._projection)
        texts = self._errors.add([self._lines.texts[number] for number in numbers], random)
        keys = np.zeros(0, np.int64)
        if self._pairs is not None:
            chosen = (rows[~is_line] - self.size).tolist()
            lefts = [self._pairs.lefts[number] for number in chosen]
            rights = [self._pairs.rights[number] for number in chosen]
            # Typos in one side only: the other one shows the correct form.
            if random.integers(2) == 0:
                lefts = self._errors.add(lefts, random)
            else:
                rights = self._errors.add(rights, random)
            texts += lefts + rights
            # Lefts, then rights, as the texts.
            keys = self._pairs.keys[chosen].T.reshape(-1)
        encoded = np.array([to_bytes(text) for text in texts], object)
        return encoded, vectors, neighbors, cosines, keys

    def _with_neighbors(
        self, numbers: np.ndarray, random: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Returns the line numbers of a batch with neighbors appended, and the pairs of rows."""
        if self._nearest is None:
            return numbers, np.zeros((0, 2), np.int32)
        # Missing neighbors are -1, after all others.
        counts = (self._nearest[numbers] >= 0).sum(axis=1)
        positions = np.flatnonzero(counts)[: self._neighbor_batch_size]
        ranks = random.integers(counts[positions])
        drawn = self._nearest[numbers[positions], ranks]
        drawn_positions = len(numbers) + np.arange(len(positions))
        neighbors = np.stack([positions, drawn_positions], axis=1).astype(np.int32)
        return np.concatenate([numbers, drawn]), neighbors
