"""Many training steps in one program, compiled by XLA for a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import tensorflow as tf

from tf_charagram.data.stream import Segment, Stream
from tf_charagram.encoders.base import is_padded
from tf_charagram.layers.chunked import PADDING, ChunkedIds, distinct_ids
from tf_charagram.layers.xla import stored
from tf_charagram.training.packing import PackedBatches, Sizes, pack


def has_gpu() -> bool:
    """Returns whether TensorFlow has a GPU."""
    return bool(tf.config.list_logical_devices("GPU"))


@contextmanager
def full_precision() -> Iterator[None]:
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

    The step is the same as on a CPU, but batches are `ChunkedIds`, whose shapes XLA knows. Steps
    past the last one, and all from the first whose loss or gradient is not finite, are computed
    like the others and change nothing: to end the loop early, the host would have to wait for the
    result of every step.

    Args:
        model: The compiled model.
        stream: The batches.
        encoder: The encoder that is trained.
    """

    def __init__(self, model: Any, stream: Stream, encoder: Any) -> None:
        self.stream = stream
        self._model, self._num_rows = model, encoder.num_rows
        self._sizes = Sizes()
        self._is_padded = is_padded(encoder)
        self._resident: tuple[np.ndarray, tf.Tensor] | None = None
        self._programs: dict[tuple[Any, ...], Any] = {}

    def run(self, segment: Segment) -> Iterator[float]:
        """Trains for the steps of a segment; yields the mean loss after each program.

        Raises:
            tf.errors.InvalidArgumentError: The loss or its gradient is not finite. The weights are
                those of the step before.
        """
        batches = self.stream.host_batches(segment)
        packed = pack(batches, segment.num, self._sizes, is_padded=self._is_padded)
        with ThreadPoolExecutor(1) as pool:
            # The host takes as long to start the operations of a program as the device to run them,
            # so the next batches are packed in another thread.
            upcoming = pool.submit(next, packed, None)
            while (group := upcoming.result()) is not None:
                upcoming = pool.submit(next, packed, None)
                loss, is_finite = self._train(group)
                if not is_finite.numpy():
                    raise tf.errors.InvalidArgumentError(
                        None, None, "The loss or its gradient is not finite"
                    )
                yield float(loss)

    def _train(self, batches: PackedBatches) -> tuple[tf.Tensor, tf.Tensor]:
        """Trains on packed batches; returns mean loss, and whether all steps were finite."""
        arrays = (batches.firsts, batches.sizes, batches.texts, batches.lengths, *batches.others)
        # A program knows shapes, but no numbers, so sizes are passed as the shape of a tensor.
        ids = (self._on_device(batches.values), tf.range(batches.width))
        firsts, sizes, *others = (tf.constant(array) for array in arrays)
        num_distinct = self._call(self._max_distinct, *ids, firsts, sizes)
        slots = tf.range(self._sizes.at_least("slots", int(num_distinct)))
        num_steps = tf.constant(batches.num_steps)
        return self._call(self._steps, *ids, firsts, sizes, num_steps, slots, *others)

    def _call(self, function: Callable[..., Any], *arguments: tf.Tensor) -> Any:
        """Runs a program, which is compiled once for each combination of shapes."""
        key = (function.__name__, *(tuple(each.shape) for each in arguments))
        with full_precision():
            if key not in self._programs:
                program = tf.function(function, jit_compile=True, autograph=False)
                self._programs[key] = program.get_concrete_function(*arguments)
            return self._programs[key](*arguments)

    def _on_device(self, values: np.ndarray) -> tf.Tensor:
        """Copies ids to the device, only once if all programs use the same array."""
        if self._resident is None or self._resident[0] is not values:
            # TensorFlow keeps int32 tensors in host memory.
            tensor = tf.identity(tf.bitcast(tf.constant(values), tf.float32))
            self._resident = values, tensor
        return self._resident[1]

    def _max_distinct(
        self, values: tf.Tensor, offsets: tf.Tensor, firsts: tf.Tensor, sizes: tf.Tensor
    ) -> tf.Tensor:
        """Returns the largest number of distinct ids of a batch."""

        def step(number: tf.Tensor, most: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            ids = _ids(values, offsets, firsts[number], sizes[number])
            _, is_last = distinct_ids(tf.reshape(ids, [-1]), self._num_rows)
            return number + 1, tf.maximum(most, tf.reduce_sum(tf.cast(is_last, tf.int32)))

        return _repeat(step, firsts.shape[0], tf.constant(1))

    def _steps(
        self,
        values: tf.Tensor,
        offsets: tf.Tensor,
        firsts: tf.Tensor,
        sizes: tf.Tensor,
        num_steps: tf.Tensor,
        slots: tf.Tensor,
        *others: tf.Tensor,
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Trains on packed batches; see `_train`."""

        def step(number: tf.Tensor, is_finite: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            ids = _ids(values, offsets, firsts[number], sizes[number])
            texts, lengths, *parts = (array[number] for array in others)
            chunked = self._chunked(ids, slots.shape[0], texts, lengths)
            is_real = number < num_steps
            is_done = self._model.step_if(is_finite & is_real, (chunked, *parts))
            return number + 1, is_finite & (is_done | ~is_real)

        is_finite = _repeat(step, firsts.shape[0], tf.constant(True))
        return self._model.loss_tracker.result(), is_finite

    def _chunked(
        self, ids: tf.Tensor, num_slots: int, texts: tf.Tensor, lengths: tf.Tensor
    ) -> ChunkedIds:
        flat = tf.reshape(ids, [-1])
        numbers, is_last = distinct_ids(flat, self._num_rows)
        rows = tf.tensor_scatter_nd_update(
            tf.fill([num_slots], PADDING), tf.where(is_last, numbers, PADDING)[:, tf.newaxis], flat
        )
        slots = tf.where(ids == PADDING, num_slots, tf.reshape(numbers, tf.shape(ids)))
        return ChunkedIds(*stored(rows, slots, texts, lengths))


def _ids(values: tf.Tensor, offsets: tf.Tensor, firsts: tf.Tensor, sizes: tf.Tensor) -> tf.Tensor:
    """Returns the ids of the chunks of a batch, int32 `(num_chunks, width)`."""
    ids = tf.gather(tf.bitcast(values, tf.int32), firsts[:, tf.newaxis] + offsets)
    (ids,) = stored(tf.where(offsets < sizes[:, tf.newaxis], ids, PADDING))
    return ids


def _repeat(
    step: Callable[[tf.Tensor, tf.Tensor], tuple[tf.Tensor, tf.Tensor]],
    num_steps: int,
    start: tf.Tensor,
) -> tf.Tensor:
    """Calls a function for each step with its number and the result of the one before."""
    _, result = tf.while_loop(
        lambda number, _: number < num_steps,
        step,
        [tf.constant(0), start],
        maximum_iterations=num_steps,
    )
    return result
