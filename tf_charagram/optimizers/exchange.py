"""What the workers of a training give each other, by TensorFlow's collective operations."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import tensorflow as tf

from tf_charagram.errors import LostWorkerError

# The groups of TensorFlow's own strategies are numbered from 1.
_GROUP = 7_001
# Numbers of rows that are told apart; so many are exchanged at once nowhere.
_SIZES = 2**20
# Sparse gradients are padded to a multiple of this: few sizes, for each is made known by messages.
_ROWS = 1024
# Numbers of a variable that are exchanged at a time.
_PIECE = 4_000_000
# What TensorFlow raises depends on who waits for whom.
_SIGNS_OF_LOSS = (
    tf.errors.UnavailableError, tf.errors.AbortedError, tf.errors.CancelledError,
    tf.errors.InternalError, tf.errors.DeadlineExceededError, tf.errors.UnknownError,
)  # fmt: skip


class Exchange:
    """The other workers of a training, as one of them sees them.

    All workers call the same methods in the same order; each waits for the others. Tensors are of
    equal shape on all workers. Alone, every method gives back what it got.

    Args:
        rank: Number of this worker; 0 is the chief, which evaluates and writes.
        size: Number of workers.
    """

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size
        self._num_places = 0
        self._functions: dict[tuple[str, tf.DType, int], Callable[[tf.Tensor], tf.Tensor]] = {}

    @property
    def is_alone(self) -> bool:
        """Whether there is no other worker."""
        return self.size == 1

    @property
    def is_chief(self) -> bool:
        """Whether this one evaluates and writes."""
        return self.rank == 0

    # In a step.

    def sum(self, values: tf.Tensor) -> tf.Tensor:
        """Returns the sum over the workers, bit for bit the same on all; without a gradient."""
        if self.is_alone:
            return values
        return tf.raw_ops.CollectiveReduceV2(
            input=values, merge_op="Add", final_op="Id", **self._group(values)
        )

    def gather(self, values: tf.Tensor) -> tf.Tensor:
        """Returns the rows of all workers, in their order, `(size * n, ...)`; no gradient."""
        if self.is_alone:
            return values
        return tf.raw_ops.CollectiveGatherV2(input=values, **self._group(values))

    def _group(self, values: tf.Tensor) -> dict[str, Any]:
        # Functions are traced in the same order on all workers, so equal numbers meet. To
        # TensorFlow a number has one shape for ever, and batches differ in size.
        self._num_places += 1
        size = tf.shape(values)[0] % _SIZES if values.shape.rank else 0
        return {
            "group_size": self.size, "group_key": _GROUP, "ordering_token": [],
            "instance_key": self._num_places * _SIZES + size, "communication_hint": "ring",
        }  # fmt: skip

    def total(self, part: tf.Tensor) -> tf.Tensor:
        """Returns the sum of a tensor of which each worker has a part.

        What follows is computed by all workers alike, so the gradient of the sum is known to each,
        and is that of its part.
        """
        if self.is_alone:
            return part

        @tf.custom_gradient
        def summed(part: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
            return self.sum(part), lambda upstream: upstream

        return summed(part)

    def share(self, size: int | tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns first and last (exclusive) of the rows of this worker, of `size` rows."""
        most = self.most(size)
        first = tf.minimum(self.rank * most, size)
        return first, tf.minimum(first + most, size)

    def most(self, size: int | tf.Tensor) -> Any:
        """Returns the number of rows of the workers that have most, of `size` rows."""
        return (size + self.size - 1) // self.size

    def all_rows(self, own: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
        """Returns all rows, of which each worker has its share.

        As for `total`, the gradient of all rows is known to each worker; each takes that of its
        own.

        Args:
            own: The share of this worker, `(n, dim)`.
            size: Number of all rows.
        """
        if self.is_alone:
            return own
        most = self.most(tf.cast(size, tf.int64))

        @tf.custom_gradient
        def gathered(padded: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
            first = self.rank * most
            return self.gather(padded), lambda upstream: upstream[first : first + most]

        padded = tf.pad(own, [[0, most - tf.shape(own, tf.int64)[0]], [0, 0]])
        return gathered(padded)[:size]

    def all_slices(self, gradient: tf.IndexedSlices) -> tf.IndexedSlices:
        """Returns the rows of the sparse gradients of all workers; one may occur several times."""
        if self.is_alone:
            return gradient
        number = tf.shape(gradient.indices)[:1]
        numbers = self.gather(number)
        most = -(-tf.reduce_max(numbers) // _ROWS) * _ROWS
        missing = most - number[0]
        indices = self.gather(tf.pad(gradient.indices, [[0, missing]]))
        values = self.gather(tf.pad(gradient.values, [[0, missing], [0, 0]]))
        is_there = tf.reshape(tf.sequence_mask(numbers, most), [-1])
        kept = tf.reshape(tf.where(is_there), [-1])
        return tf.IndexedSlices(
            tf.gather(values, kept), tf.gather(indices, kept), gradient.dense_shape
        )

    # Between steps.

    def any(self, is_true: bool) -> bool:
        """Returns whether something is true for one of the workers."""
        return is_true if self.is_alone else self.numbers(float(is_true))[0] > 0

    def numbers(self, *values: float) -> list[float]:
        """Returns the sums of numbers over the workers."""
        if self.is_alone:
            return list(values)
        with self.watched():
            return self._run("sum", tf.constant(values, tf.float64)).numpy().tolist()

    def of_chief(self, *values: float) -> list[float]:
        """Returns the numbers of the chief."""
        return self.numbers(*(value if self.is_chief else 0.0 for value in values))

    def wait(self) -> None:
        """Waits until all workers are here."""
        self.numbers(0.0)

    def json(self, value: Any) -> list[Any]:
        """Returns a value of each worker, in their order."""
        if self.is_alone:
            return [value]
        data = json.dumps(value).encode()
        with self.watched():
            most = int(self._run("gather", tf.constant([len(data)])).numpy().max())
            padded = tf.constant(list(data.ljust(most)), tf.int32)
            texts = self._run("gather", padded).numpy().reshape(self.size, most)
        return [json.loads(bytes(row.astype("uint8"))) for row in texts]

    def ragged(self, ids: tf.RaggedTensor) -> list[tf.RaggedTensor]:
        """Returns the ragged tensor of each worker, in their order, int32 `(num_rows, None)`."""
        if self.is_alone:
            return [ids]
        lengths = tf.cast(ids.row_lengths(), tf.int64)
        own = tf.stack([tf.shape(lengths)[0], tf.shape(ids.values)[0]])
        with self.watched():
            sizes = self._run("gather", own).numpy().reshape(self.size, 2)
            columns = [self._padded(lengths, sizes[:, 0]), self._padded(ids.values, sizes[:, 1])]
        return [
            tf.RaggedTensor.from_row_lengths(
                values[:num_values], row_lengths[:num_rows], validate=False
            )
            for row_lengths, values, (num_rows, num_values) in zip(*columns, sizes, strict=True)
        ]

    def _padded(self, values: tf.Tensor, sizes: np.ndarray) -> tf.Tensor:
        """Returns a row for each worker with what it has, padded to the same length."""
        most = -(-int(sizes.max()) // _ROWS) * _ROWS
        padded = tf.pad(values, [[0, most - sizes[self.rank]]])
        return tf.reshape(self._run("gather", padded), [self.size, most])

    def copy_from_chief(self, variables: Iterable[tf.Variable]) -> None:
        """Gives variables the values that they have on the chief."""
        for variable in variables:
            self.add_up(variable, lambda piece, _: piece if self.is_chief else tf.zeros_like(piece))

    def add_up(self, variable: tf.Variable, own: Callable[[tf.Tensor, slice], tf.Tensor]) -> None:
        """Gives a variable the sum of what the workers have of it, piece by piece.

        Args:
            variable: The variable.
            own: Returns of some rows, and of which these are, what this worker adds.
        """
        if self.is_alone:
            return
        for rows in _pieces(variable):
            piece = variable[rows] if variable.shape.rank else variable.read_value()
            # Collective operations know no unsigned numbers.
            numbers = tf.cast(piece, tf.int64) if piece.dtype.is_integer else piece
            with self.watched():
                total = tf.cast(self._run("sum", own(numbers, rows)), piece.dtype)
            (variable[rows] if variable.shape.rank else variable).assign(total)

    def _run(self, name: str, values: tf.Tensor) -> tf.Tensor:
        """Runs `sum` or `gather` outside of a graph."""
        key = (name, values.dtype, values.shape.rank)
        if key not in self._functions:
            spec = tf.TensorSpec([None] * values.shape.rank, values.dtype)
            function = tf.function(getattr(self, name), autograph=False)
            self._functions[key] = function.get_concrete_function(spec)
        return self._functions[key](values)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Says what it means if a collective operation fails.

        Raises:
            LostWorkerError: Another worker is gone.
        """
        try:
            yield
        except _SIGNS_OF_LOSS as error:
            if self.is_alone:
                raise
            lines = [line for line in str(error.message).split("\n") if ":" in line[:-1]]
            reason = next(iter(lines), type(error).__name__)[:200]
            raise LostWorkerError(
                f"Another worker was lost ({reason}). Go on from the last checkpoint with the same "
                "command and --resume."
            ) from error


def _pieces(variable: tf.Variable) -> list[slice]:
    """Returns the ranges of rows in which a variable is exchanged; a scalar is one piece."""
    if not variable.shape.rank:
        return [slice(0, 1)]
    # A variable may have no fixed shape.
    num_rows, *others = tf.shape(variable).numpy().tolist()
    rows = max(1, _PIECE // max(1, math.prod(others)))
    return [slice(first, min(first + rows, num_rows)) for first in range(0, num_rows, rows)]


ALONE = Exchange()
