"""Many training steps in one program, compiled by XLA for a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import tensorflow as tf

from tf_charagram._common.weights import MAX_WEIGHTED_ROWS
from tf_charagram.encoders.base import is_padded
from tf_charagram.layers._ops.chunked import PADDING, chunked_ids, cut_into_chunks, unpacked
from tf_charagram.layers._ops.row_gradients import keep_if, values_of
from tf_charagram.optimizers.row_sparse import RowSparseOptimizer
from tf_charagram.training._loop.packing import PackedBatches, Sizes, ids_of, pack
from tf_charagram.training._loop.stream import Segment, Stream, TextRanges
from tf_charagram.training.step_model import StepModel

# Batches whose distinct ids are counted before the first program.
_NUM_COUNTED = 10


@contextmanager
def _full_precision() -> Iterator[None]:
    """Computes products in float32; on a GPU, TensorFlow would round their factors to TF32.

    In TF32, cosines are good to 1e-3 only, and other negatives are chosen.
    """
    before = tf.config.experimental.tensor_float_32_execution_enabled()
    tf.config.experimental.enable_tensor_float_32_execution(False)
    try:
        yield
    finally:
        tf.config.experimental.enable_tensor_float_32_execution(before)


class CompiledSteps:
    """Runs the steps of a `StepModel` on a stream, many at a time, without returning to the host.

    The step is the same as on a CPU, but batches are `ChunkedIds`, whose shapes XLA knows. To end
    a loop early, the host would have to wait for the result of every step. So all steps of a
    program are computed, and some change nothing: those past the last batch, and all from the first
    whose loss or gradient is not finite, or which has more distinct ids than there is room for.

    Args:
        model: The compiled model.
        stream: The batches.
    """

    def __init__(self, model: StepModel, stream: Stream) -> None:
        self._stream = stream
        self._model = model
        self._num_rows = model.encoder.num_rows
        self._is_padded = is_padded(model.encoder)
        self._sizes = Sizes()
        # The largest number of distinct ids in a batch of the last program.
        self._num_distinct = 0
        self._resident: tuple[np.ndarray, tf.Tensor] | None = None
        self._programs: dict[tuple[Any, ...], Any] = {}

    def run(self, segment: Segment) -> Iterator[float]:
        """Trains for the steps of a segment; yields the mean loss after each program.

        Raises:
            tf.errors.InvalidArgumentError: The loss or its gradient is not finite. The weights are
                those of the step before.
        """
        batches = self._stream.host_batches(segment)
        packed = pack(batches, segment.num, self._sizes, is_padded=self._is_padded)
        with ThreadPoolExecutor(1) as pool:
            # The host takes as long to start the operations of a program as the device to run them,
            # so the next batches are packed in another thread.
            upcoming = pool.submit(next, packed, None)
            while (group := upcoming.result()) is not None:
                upcoming = pool.submit(next, packed, None)
                yield self._train(group)

    def _train(self, batches: PackedBatches) -> float:
        """Trains on packed batches; returns the mean loss."""
        # A program knows shapes, but no numbers: sizes are passed as the shape of a tensor.
        arguments = (
            self._on_device(batches.values),
            tf.range(batches.width),
            tf.range(batches.num_chunks),
            *map(tf.constant, (batches.starts, batches.lengths, *batches.others)),
        )
        if not self._num_distinct:
            self._num_distinct = _max_distinct(batches, self._model.has_weights)
        first_step, num_done = int(self._model.step), 0
        while True:
            slots = tf.range(self._sizes.at_least("slots", self._num_distinct))
            limits = tf.constant([num_done, batches.num_steps])
            loss, is_finite, num_distinct = self._call(limits, slots, *arguments)
            self._num_distinct = int(num_distinct)
            if not is_finite:
                raise tf.errors.InvalidArgumentError(
                    None, None, "The loss or its gradient is not finite"
                )
            num_done = int(self._model.step) - first_step
            if num_done == batches.num_steps:
                return float(loss)

    def _call(self, *arguments: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Runs a program, which is compiled once for each combination of shapes."""
        shapes = tuple(tuple(each.shape) for each in arguments)
        with _full_precision():
            if shapes not in self._programs:
                program = tf.function(self._steps, jit_compile=True, autograph=False)
                self._programs[shapes] = program.get_concrete_function(*arguments)
            return self._programs[shapes](*arguments)

    def _on_device(self, values: np.ndarray) -> tf.Tensor:
        """Copies ids to the device, only once if all programs use the same array."""
        if self._resident is None or self._resident[0] is not values:
            # TensorFlow keeps int32 tensors in host memory.
            tensor = tf.identity(tf.bitcast(tf.constant(values), tf.float32))
            self._resident = values, tensor
        return self._resident[1]

    def _steps(
        self,
        limits: tf.Tensor,
        slots: tf.Tensor,
        bits: tf.Tensor,
        offsets: tf.Tensor,
        chunks: tf.Tensor,
        starts: tf.Tensor,
        lengths: tf.Tensor,
        *others: tf.Tensor,
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Trains on packed batches.

        Args:
            limits: The first step that is to be done, and the first that is not.
            slots: Its size is the room for distinct ids.
            bits: Ids as float32 of the same bits.
            offsets: The numbers up to the width of a chunk.
            chunks: Its size is the number of chunks of a batch.
            starts: Position in the ids of the first id of each text, `(steps, texts)`.
            lengths: Number of ids of each text, `(steps, texts)`.
            *others: The other parts of the batches.

        Returns:
            Mean loss, whether all steps were finite, and the largest number of distinct ids.
        """
        values, num_slots = tf.bitcast(bits, tf.int32), slots.shape[0]
        num_chunks = None if self._is_padded else chunks.shape[0]

        def step(
            number: tf.Tensor, goes_on: tf.Tensor, is_finite: tf.Tensor, most: tf.Tensor
        ) -> tuple[tf.Tensor, ...]:
            cut = cut_into_chunks(starts[number], lengths[number], offsets, num_chunks)
            ids, weights = tf.gather(values, cut.positions), None
            if self._model.has_weights:
                ids, weights = unpacked(ids)
            ids = tf.where(cut.is_real, ids, PADDING)
            chunked, num_distinct = chunked_ids(
                ids, cut.texts, lengths[number], self._num_rows, num_slots
            )
            batch = (chunked._replace(weights=weights), *(part[number] for part in others))
            is_wanted = (limits[0] <= number) & (number < limits[1])
            fits = num_distinct <= num_slots
            is_tried = goes_on & is_wanted & fits
            is_step_finite = step_if(self._model, is_tried, batch)
            is_finite &= is_step_finite | ~is_tried
            # After a step that could not be done, its successors would be out of order.
            goes_on &= ~is_wanted | (fits & is_step_finite)
            return number + 1, goes_on, is_finite, tf.maximum(most, num_distinct)

        capacity = starts.shape[0]
        _, _, is_finite, most = tf.while_loop(
            lambda number, *_: number < capacity,
            step,
            [tf.constant(0), tf.constant(True), tf.constant(True), tf.constant(1)],
            maximum_iterations=capacity,
        )
        return self._model.loss_tracker.result(), is_finite, most


def step_if(model: StepModel, is_wanted: tf.Tensor, batch: tuple[Any, ...]) -> tf.Tensor:
    """Trains on one batch in a program compiled by XLA.

    Args:
        model: The compiled model.
        is_wanted: Whether the step is to change anything, bool scalar.
        batch: A batch of `ChunkedIds` and other tensors.

    Returns:
        Whether loss and gradients are finite, bool scalar; if not, nothing changes.
    """
    loss, gradients = model.loss_and_gradients(lambda: model.loss_of(*batch, training=True))
    optimizer = model.optimizer
    rate = tf.convert_to_tensor(optimizer.learning_rate)
    sums = [tf.reduce_sum(values_of(gradient)) for gradient in gradients]
    is_finite = tf.math.is_finite(tf.add_n([loss, rate, *sums]))
    is_wanted &= is_finite
    # A table that is updated by row stays as it is if no row is named. All other variables are
    # put back, which for a table would take a copy of it.
    kept, updated_by_row = [], set()
    for gradient, variable in zip(gradients, model.trained_variables, strict=True):
        is_by_row = isinstance(optimizer, RowSparseOptimizer)
        if is_by_row and isinstance(gradient, tf.IndexedSlices):
            updated_by_row |= {id(table) for table in optimizer.tables_of(variable.value)}
            gradient = keep_if(is_wanted, gradient)
        kept.append(gradient)
    others = [each for each in _changing_variables(model) if id(each) not in updated_by_row]
    before = [variable.read_value() for variable in others]
    optimizer.apply(kept, model.trained_variables)
    model.loss_tracker.update_state(loss)
    model.step.assign_add(1)
    for variable, value in zip(others, before, strict=True):
        variable.assign(tf.where(is_wanted, variable, value))
    return is_finite


def _changing_variables(model: StepModel) -> list[tf.Variable]:
    """Returns all that steps change, including metrics."""
    unchanged = {id(weight.value) for weight in model.all_weights if not weight.trainable}
    unchanged |= {id(target) for target in model.penalties.targets}
    metrics = [variable.value for metric in model.metrics for variable in metric.variables]
    distinct = {id(each): each for each in [*model.checkpoint_variables, *metrics]}
    return [each for key, each in distinct.items() if key not in unchanged]


def _max_distinct(batches: PackedBatches, has_weights: bool) -> int:
    """Counts the distinct ids of some of the batches; returns the largest number, at least 1."""
    texts = zip(batches.starts[:_NUM_COUNTED], batches.lengths[:_NUM_COUNTED], strict=True)
    ids = (ids_of(TextRanges(batches.values, *ranges)) for ranges in texts)
    if has_weights:
        ids = (each % MAX_WEIGHTED_ROWS for each in ids)
    return max(1, *(len(np.unique(each)) for each in ids))
