"""Batches are copied to the training device ahead of time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import tensorflow as tf

# Number of batches on the device, so that no step waits for a copy.
_NUM_PREFETCHED = 2


class RaggedParts(NamedTuple):
    """The components of a ragged tensor.

    A `tf.data.Dataset` passes a ragged tensor to a step as a variant, which TensorFlow unpacks in
    host memory only.

    Attributes:
        values: `(num_values,)`.
        row_splits: int64 `(num_rows + 1,)`.
    """

    values: tf.Tensor
    row_splits: tf.Tensor


def to_parts(batch: Iterable[Any]) -> tuple[Any, ...]:
    """Returns a batch as tensors that can stay on a GPU: ragged ones in parts, int32 as int64.

    TensorFlow keeps int32 arguments of functions in host memory.

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
    """Returns a batch with ragged tensors instead of parts."""
    return tuple(
        tf.RaggedTensor.from_row_splits(*part, validate=False)
        if isinstance(part, RaggedParts)
        else part
        for part in batch
    )


def first_gpu() -> str | None:
    """Returns the name of the first GPU; `None` without a GPU."""
    return next((device.name for device in tf.config.list_logical_devices("GPU")), None)


def on_device(batches: tf.data.Dataset, device: str) -> tf.data.Dataset:
    """Prefetches batches to a device.

    Args:
        batches: Tuples of tensors, and of ragged tensors of one ragged dimension.
        device: Its name, for instance `"GPU:0"`.

    Returns:
        The batches in the form of `to_parts`; must be the last transformation of a dataset.
    """
    parts = batches.map(lambda *batch: to_parts(batch))
    copied = parts.apply(tf.data.experimental.prefetch_to_device(device, _NUM_PREFETCHED))
    # TensorFlow does not know the number of batches, and Keras would warn at their end.
    copied.cardinality = batches.cardinality
    return copied
