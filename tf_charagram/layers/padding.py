"""Padding of ragged ids, for layers that need rectangles: recurrent and convolutional ones."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_charagram.layers.embedding_table import EmbeddingTable
from tf_charagram.layers.ragged_sum import sum_rows


def to_padded(ids: tf.RaggedTensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Pads ids at the end with 0, and says which of them are real.

    There is at least one step, so that layers with a time axis take empty rows and batches too.

    Args:
        ids: int32 or int64 `(batch, None)`.

    Returns:
        Of the same type, `(batch, time)`, and a bool mask of the same shape.
    """
    starts, lengths, steps = _steps(ids)
    mask = steps < lengths
    # Position 0 of the values is the padding.
    positions = tf.where(mask, starts + steps + 1, 0)
    return tf.gather(tf.concat([tf.zeros([1], ids.dtype), ids.values], axis=0), positions), mask


def to_padded_groups(ids: tf.RaggedTensor) -> tuple[tf.RaggedTensor, tf.Tensor]:
    """Pads groups of ids at the end with empty ones, and says which of them are real.

    Args:
        ids: int32 or int64 `(batch, None, None)`.

    Returns:
        Of the same type, `(batch * time, None)`, and a bool mask `(batch, time)`; `time` is at
        least 1.
    """
    starts, lengths, steps = _steps(ids)
    # A padded group begins where the next real one does.
    begins = tf.gather(ids.values.row_splits, starts + tf.minimum(steps, lengths))
    splits = tf.concat([tf.reshape(begins, [-1]), ids.values.row_splits[-1:]], axis=0)
    groups = tf.RaggedTensor.from_row_splits(ids.flat_values, splits, validate=False)
    return groups, steps < lengths


def _steps(ids: tf.RaggedTensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Returns where the rows start, their lengths, both `(batch, 1)`, and the steps `(time,)`.

    In int64, because what int32 is compared with and added to is in host memory on a GPU, too.
    """
    starts = tf.cast(ids.row_splits[:-1], tf.int64)
    lengths = tf.cast(ids.row_lengths(), tf.int64)
    steps = tf.range(tf.maximum(tf.reduce_max(lengths), 1))
    return starts[:, tf.newaxis], lengths[:, tf.newaxis], steps


def gather_rows(values: tf.Tensor, indices: tf.Tensor) -> tf.Tensor:
    """Gathers rows with a gradient that is a sparse product; `tf.gather`'s own scatters row by row.

    Args:
        values: float32 `(num_rows, dim)`, at least one row.
        indices: int32 or int64 `(n,)`.

    Returns:
        float32 `(n, dim)`.
    """
    splits = tf.range(tf.shape(indices, tf.int64)[0] + 1)
    return sum_rows(values, tf.RaggedTensor.from_row_splits(indices, splits, validate=False))


@keras.saving.register_keras_serializable(package="tf_charagram")
class PaddedEmbedding(EmbeddingTable):
    """Looks ragged ids up in a table and pads the vectors with zeros.

    Ids may come in groups, for instance words and their n-grams; a group has the sum of its rows.

    Only the rows that a batch names are read; padding names no row. Arguments and errors are those
    of `EmbeddingTable`.

    Call arguments:
        ids: `tf.RaggedTensor` int32 `(batch, None)`, or `(batch, None, None)` in groups.
        training: Whether the table is being trained, see `EmbeddingTable`.

    Returns:
        float32 `(batch, time, dim)`, zeros at padding, and a bool mask `(batch, time)`, true at
        real steps, which come first. `time` is at least 1.
    """

    def call(self, ids: tf.RaggedTensor, training: bool = False) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the padded vectors and their mask."""
        touched, positions = tf.unique(ids.flat_values, out_idx=tf.int64)
        ids = ids.with_flat_values(positions + 1)
        rows = self.rows(touched, training)
        rows = tf.concat([tf.zeros([1, self.dim], rows.dtype), rows], axis=0)
        if ids.ragged_rank > 1:
            groups, mask = to_padded_groups(ids)
            vectors = sum_rows(rows, groups)
        else:
            padded, mask = to_padded(ids)
            vectors = gather_rows(rows, tf.reshape(padded, [-1]))
        return tf.reshape(vectors, tf.concat([tf.shape(mask), [self.dim]], axis=0)), mask

    def compute_output_spec(
        self, ids: keras.KerasTensor, **kwargs: Any
    ) -> tuple[keras.KerasTensor, keras.KerasTensor]:
        """Returns symbolic vectors and their mask for symbolic ids."""
        del kwargs
        batch = ids.shape[0]
        vectors = keras.KerasTensor((batch, None, self.dim), "float32")
        return vectors, keras.KerasTensor((batch, None), "bool")
