"""Messages between the workers of a training run, by TensorFlow's collective operations."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import tensorflow as tf

from tf_charagram.errors import LostWorkerError
from tf_charagram.layers.embedding_table import Gradient
from tf_charagram.optimizers.row_sparse import sum_equal_rows

# TensorFlow's own strategies number their groups from 1.
_GROUP_KEY = 7_001
# More rows than any exchange has at once.
_MAX_ROWS = 2**20
# Sparse gradients are padded to a multiple of this, because each new size costs a message.
_ROWS_MULTIPLE = 1024
_PIECE_NUMBERS = 4_000_000
# Which of these TensorFlow raises depends on who waits for whom.
_LOST_WORKER_ERRORS = (
    tf.errors.UnavailableError, tf.errors.AbortedError, tf.errors.CancelledError,
    tf.errors.InternalError, tf.errors.DeadlineExceededError, tf.errors.UnknownError,
)  # fmt: skip


class Exchange:
    """The other workers of a training run, as seen by one of them.

    All workers call the same methods in the same order, with tensors of equal shape unless a method
    says otherwise; each call waits for the others. With a single worker, every method returns its
    input.

    All workers have the whole batch and compute its loss from the vectors of all texts. The work of
    the encoder is divided in one of two ways:

    * By rows, for tables whose rows are summed: worker `i` of `n` sums and trains the rows `r` with
      `r % n == i`, and only the partial sums are exchanged (`own_ids`, `total`). `merge_rows`
      brings the whole table up to date.
    * By texts, for all other encoders: each worker encodes its share of the texts; the vectors are
      gathered (`encode_share`), and the gradients of the weights summed (`sum_gradients`).

    Args:
        rank: Number of this worker; 0 is the chief, which evaluates and writes.
        size: Number of workers.
    """

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size
        #: The strategy that connects the workers, and whose health checks end with it.
        self.strategy: tf.distribute.Strategy | None = None
        self._num_places = 0
        self._functions: dict[tuple[str, tf.DType, int], Callable[[tf.Tensor], tf.Tensor]] = {}

    @property
    def is_alone(self) -> bool:
        """Whether there is no other worker."""
        return self.size == 1

    @property
    def is_chief(self) -> bool:
        """Whether this worker evaluates and writes."""
        return self.rank == 0

    # Within a step.

    def sum(self, values: tf.Tensor) -> tf.Tensor:
        """Returns the sum over the workers, identical to the bit on all; without a gradient."""
        if self.is_alone:
            return values
        return tf.raw_ops.CollectiveReduceV2(
            input=values, merge_op="Add", final_op="Id", **self._group(values)
        )

    def gather(self, values: tf.Tensor) -> tf.Tensor:
        """Returns the rows of all workers by rank, `(size * n, ...)`; without a gradient."""
        if self.is_alone:
            return values
        return tf.raw_ops.CollectiveGatherV2(input=values, **self._group(values))

    def _group(self, values: tf.Tensor) -> dict[str, Any]:
        # All workers trace functions in the same order, so equal numbers meet. TensorFlow ties a
        # number to one shape, and batches differ in size.
        self._num_places += 1
        num_rows = tf.shape(values)[0] % _MAX_ROWS if values.shape.rank else 0
        return {
            "group_size": self.size, "group_key": _GROUP_KEY, "ordering_token": [],
            "instance_key": self._num_places * _MAX_ROWS + num_rows, "communication_hint": "ring",
        }  # fmt: skip

    def total(self, part: tf.Tensor) -> tf.Tensor:
        """Returns the sum of the workers' parts of a tensor.

        All workers compute the same from the sum, so each knows its gradient, which is also the
        gradient of each part.
        """
        if self.is_alone:
            return part

        @tf.custom_gradient
        def summed(part: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
            return self.sum(part), lambda upstream: upstream

        return summed(part)

    def own_ids(self, ids: tf.RaggedTensor) -> tf.RaggedTensor:
        """Returns the ids of the table rows that this worker trains, `(batch, None)`."""
        kept = tf.squeeze(tf.where(tf.equal(ids.values % self.size, self.rank)), axis=1)
        splits = tf.searchsorted(kept, tf.cast(ids.row_splits, tf.int64), out_type=tf.int64)
        return tf.RaggedTensor.from_row_splits(tf.gather(ids.values, kept), splits, validate=False)

    def own_rows(self, values: tf.Tensor, first: int = 0) -> tf.Tensor:
        """Sets the rows of a table that other workers train to zero.

        Args:
            values: `(n, ...)`.
            first: Row of the table that the first of them is.
        """
        rows = tf.range(first, first + tf.shape(values)[0])
        is_own = tf.reshape(rows % self.size == self.rank, [-1, *[1] * (values.shape.rank - 1)])
        return tf.where(is_own, values, tf.zeros([], values.dtype))

    def share(self, size: int | tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns first and last (exclusive) of the rows of this worker, of `size` rows."""
        max_rows = self._max_share(size)
        first = tf.minimum(self.rank * max_rows, size)
        return first, tf.minimum(first + max_rows, size)

    def _max_share(self, size: int | tf.Tensor) -> Any:
        return (size + self.size - 1) // self.size

    def all_rows(self, own: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
        """Returns all rows, `(size, dim)`, of which each worker has its share.

        Each worker knows the gradient of all rows, as in `total`, and takes that of its own.

        Args:
            own: The share of this worker, `(n, dim)`.
            size: Number of all rows.
        """
        if self.is_alone:
            return own
        max_rows = self._max_share(tf.cast(size, tf.int64))

        @tf.custom_gradient
        def gathered(padded: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
            first = self.rank * max_rows
            return self.gather(padded), lambda upstream: upstream[first : first + max_rows]

        padded = tf.pad(own, [[0, max_rows - tf.shape(own, tf.int64)[0]], [0, 0]])
        return gathered(padded)[:size]

    def encode_share(
        self, encoder: Callable[..., tf.Tensor], ids: tf.RaggedTensor, training: bool
    ) -> tf.Tensor:
        """Returns the vectors of all texts, of which each worker computes its share.

        Args:
            encoder: Keras layer from ragged ids to `(batch, dim)`.
            ids: Ids of all texts, int32 `(batch, None)`.
            training: Passed to the encoder.

        Returns:
            float32 `(batch, dim)`. The gradient reaches the weights through the share alone.
        """
        num_texts = tf.shape(ids.row_splits)[0] - 1
        first, last = self.share(num_texts)
        splits = ids.row_splits[first : last + 1]
        own = tf.RaggedTensor.from_row_splits(
            ids.values[splits[0] : splits[-1]], splits - splits[0], validate=False
        )
        return self.all_rows(encoder(own, training=training), num_texts)

    def sum_gradients(self, gradients: Sequence[Gradient]) -> list[Gradient]:
        """Returns the sums of gradients over the workers; sparse ones have distinct rows."""
        return [
            sum_equal_rows(self._all_slices(gradient))
            if isinstance(gradient, tf.IndexedSlices)
            else self.sum(gradient)
            for gradient in gradients
        ]

    def _all_slices(self, gradient: tf.IndexedSlices) -> tf.IndexedSlices:
        """Returns the rows of the sparse gradients of all workers; a row may occur repeatedly."""
        if self.is_alone:
            return gradient
        num_rows = tf.shape(gradient.indices)[:1]
        all_nums = self.gather(num_rows)
        max_rows = -(-tf.reduce_max(all_nums) // _ROWS_MULTIPLE) * _ROWS_MULTIPLE
        missing = max_rows - num_rows[0]
        indices = self.gather(tf.pad(gradient.indices, [[0, missing]]))
        values = self.gather(tf.pad(gradient.values, [[0, missing], [0, 0]]))
        is_real = tf.reshape(tf.sequence_mask(all_nums, max_rows), [-1])
        kept = tf.reshape(tf.where(is_real), [-1])
        return tf.IndexedSlices(
            tf.gather(values, kept), tf.gather(indices, kept), gradient.dense_shape
        )

    # Between steps.

    def any(self, is_true: bool) -> bool:
        """Returns whether `is_true` holds on any worker."""
        return is_true if self.is_alone else self.numbers(float(is_true))[0] > 0

    def numbers(self, *values: float) -> list[float]:
        """Returns the sums of numbers over the workers."""
        if self.is_alone:
            return list(values)
        return self._run("sum", tf.constant(values, tf.float64)).numpy().tolist()

    def of_chief(self, *values: float) -> list[float]:
        """Returns the chief's numbers."""
        return self.numbers(*(value if self.is_chief else 0.0 for value in values))

    def wait(self) -> None:
        """Waits until all workers are here."""
        self.numbers(0.0)

    def json(self, value: Any) -> list[Any]:
        """Returns the values of all workers, by rank."""
        if self.is_alone:
            return [value]
        data = json.dumps(value).encode()
        max_bytes = int(self._run("gather", tf.constant([len(data)])).numpy().max())
        padded = tf.constant(list(data.ljust(max_bytes)), tf.int32)
        texts = self._run("gather", padded).numpy().reshape(self.size, max_bytes)
        return [json.loads(bytes(row.astype("uint8"))) for row in texts]

    def ragged(self, ids: tf.RaggedTensor) -> list[tf.RaggedTensor]:
        """Returns the ragged tensors of all workers, by rank; shapes may differ.

        Args:
            ids: int32 `(num_rows, None)`.
        """
        if self.is_alone:
            return [ids]
        lengths = tf.cast(ids.row_lengths(), tf.int64)
        own = tf.stack([tf.shape(lengths)[0], tf.shape(ids.values)[0]])
        sizes = self._run("gather", own).numpy().reshape(self.size, 2)
        columns = [self._padded(lengths, sizes[:, 0]), self._padded(ids.values, sizes[:, 1])]
        return [
            tf.RaggedTensor.from_row_lengths(
                values[:num_values], row_lengths[:num_rows], validate=False
            )
            for row_lengths, values, (num_rows, num_values) in zip(*columns, sizes, strict=True)
        ]

    def _padded(self, values: tf.Tensor, sizes: np.ndarray) -> tf.Tensor:
        """Returns the values of each worker, padded to equal length, `(size, max_length)`."""
        max_rows = -(-int(sizes.max()) // _ROWS_MULTIPLE) * _ROWS_MULTIPLE
        padded = tf.pad(values, [[0, max_rows - sizes[self.rank]]])
        return tf.reshape(self._run("gather", padded), [self.size, max_rows])

    def copy_from_chief(self, variables: Iterable[tf.Variable]) -> None:
        """Assigns the chief's values to variables."""
        for variable in variables:
            self._add_up(variable, lambda piece, _: piece * int(self.is_chief))

    def merge_rows(self, variables: Iterable[tf.Variable]) -> None:
        """Takes over the rows of variables that other workers train."""
        for variable in variables:
            self._add_up(variable, self.own_rows)

    def _add_up(self, variable: tf.Variable, own: Callable[[tf.Tensor, int], tf.Tensor]) -> None:
        """Assigns the sum of `own(rows, first)` over the workers, some rows at a time."""
        if self.is_alone:
            return
        for rows in _pieces(variable):
            piece = variable[rows] if variable.shape.rank else variable.read_value()
            # Collective operations support no unsigned types.
            numbers = tf.cast(piece, tf.int64) if piece.dtype.is_integer else piece
            total = tf.cast(self._run("sum", own(numbers, rows.start)), piece.dtype)
            (variable[rows] if variable.shape.rank else variable).assign(total)

    def _run(self, name: str, values: tf.Tensor) -> tf.Tensor:
        """Runs `sum` or `gather` outside of a graph."""
        key = (name, values.dtype, values.shape.rank)
        if key not in self._functions:
            spec = tf.TensorSpec([None] * values.shape.rank, values.dtype)
            function = tf.function(getattr(self, name), autograph=False)
            self._functions[key] = function.get_concrete_function(spec)
        with self.watched():
            return self._functions[key](values)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Translates errors of collective operations.

        Raises:
            LostWorkerError: Another worker is gone.
        """
        try:
            yield
        except _LOST_WORKER_ERRORS as error:
            if self.is_alone:
                raise
            lines = [line for line in str(error.message).split("\n") if ":" in line[:-1]]
            reason = next(iter(lines), type(error).__name__)[:200]
            raise LostWorkerError(
                f"Another worker was lost ({reason}). Go on from the last checkpoint with the same "
                "command and --resume."
            ) from error


def _pieces(variable: tf.Variable) -> list[slice]:
    """Returns the row ranges in which a variable is exchanged; a scalar is one piece."""
    if not variable.shape.rank:
        return [slice(0, 1)]
    # A variable may have no fixed shape.
    num_rows, *others = tf.shape(variable).numpy().tolist()
    rows = max(1, _PIECE_NUMBERS // max(1, math.prod(others)))
    return [slice(first, min(first + rows, num_rows)) for first in range(0, num_rows, rows)]


ALONE = Exchange()
