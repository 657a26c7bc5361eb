"""Batches on their way to the device that trains."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import tensorflow as tf

# Batches that wait on the device, so that no step waits for a copy.
_NUM_WAITING = 2


class RaggedParts(NamedTuple):
    """The tensors of a ragged tensor.

    Between a `tf.data.Dataset` and a step, a ragged tensor is a variant, which TensorFlow takes
    apart in host memory only.

    Attributes:
        values: `(num_values,)`.
        row_splits: int64 `(num_rows + 1,)`.
    """

    values: tf.Tensor
    row_splits: tf.Tensor


def to_parts(batch: Iterable[Any]) -> tuple[Any, ...]:
    """Returns a batch as tensors that can stay on a GPU: ragged ones in parts, int32 as int64.

    TensorFlow keeps what goes into a function as int32 in host memory.

    Args:
        batch: Tensors, and ragged tensors of one ragged dimension.
    """

    def dense(tensor: tf.Tensor) -> tf.Tensor:
        return tf.cast(tensor, tf.int64) if tensor.dtype == tf.int32 else tensor

    return tuple(
        RaggedParts(dense(tensor.values), dense(tensor.row_splits))
        if isinstance(tensor, tf.RaggedTensor)
        else dense(tensor)
        for tensor in batch
    )


def from_parts(batch: Iterable[Any]) -> tuple[Any, ...]:
    """Returns a batch with its ragged tensors, also if they are whole already."""
    return tuple(
        tf.RaggedTensor.from_row_splits(*part, validate=False)
        if isinstance(part, RaggedParts)
        else part
        for part in batch
    )


def first_gpu() -> str | None:
    """Returns the name of the GPU that steps run on, or `None` if they run on the CPU."""
    return next((device.name for device in tf.config.list_logical_devices("GPU")), None)


def on_device(batches: tf.data.Dataset, device: str) -> tf.data.Dataset:
    """Returns batches that are copied to a device before they are asked for.

    Args:
        batches: Tuples of tensors, and of ragged tensors of one ragged dimension.
        device: Its name, for instance `"GPU:0"`.

    Returns:
        What `to_parts` makes of them; nothing may be applied to this dataset.
    """
    parts = batches.map(lambda *batch: to_parts(batch))
    copied = parts.apply(tf.data.experimental.prefetch_to_device(device, _NUM_WAITING))
    # TensorFlow does not know how many they are, and Keras would warn at their end.
    copied.cardinality = batches.cardinality
    return copied
