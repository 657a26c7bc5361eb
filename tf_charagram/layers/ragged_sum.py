"""Sums of embedding rows, one sum for each ragged row of ids, with row-sparse gradients.

The sum is a product of a sparse matrix in CSR form, one row a text, with the embedding table. Its
gradient is the product with the transposed matrix; transposing a CSR matrix is a counting sort. On
two cores, for 200 texts of 160 ids and 300 dimensions, the product takes half the time of
`SparseSegmentSum` and the gradient a tenth of that of `SparseSegmentSumGrad`.
"""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf


def row_ids(ids: tf.RaggedTensor) -> tf.Tensor:
    """Returns the row each value of a ragged tensor is in, int32 `(num_values,)`."""
    starts = tf.cast(ids.row_splits[1:-1], tf.int32)
    num_values = tf.shape(ids.values)[0]
    # Trailing empty rows start after the last value, hence the one place more.
    first = tf.scatter_nd(starts[:, tf.newaxis], tf.ones_like(starts), [num_values + 1])
    return tf.cumsum(first)[:-1]


def _csr_matrix(ids: tf.RaggedTensor, num_columns: tf.Tensor) -> tf.Tensor:
    indices = tf.stack([row_ids(ids), ids.values], axis=1)
    # TensorFlow aborts the process on a matrix without rows or columns.
    shape = tf.maximum(tf.stack([ids.nrows(tf.int64), tf.cast(num_columns, tf.int64)]), 1)
    return tf.raw_ops.SparseTensorToCSRSparseMatrix(
        indices=tf.cast(indices, tf.int64), values=tf.ones_like(ids.values, tf.float32),
        dense_shape=shape,
    )  # fmt: skip


def _matmul(matrix: tf.Tensor, dense: tf.Tensor) -> tf.Tensor:
    return tf.raw_ops.SparseMatrixMatMul(a=matrix, b=dense)


def _at_least_one_row(dense: tf.Tensor) -> tf.Tensor:
    is_empty = tf.shape(dense)[0] == 0
    return tf.cond(is_empty, lambda: tf.zeros([1, dense.shape[1]]), lambda: dense)


def _first_rows(dense: tf.Tensor, num_rows: tf.Tensor) -> tf.Tensor:
    # A slice copies even when it takes everything.
    is_all = tf.shape(dense)[0] == num_rows
    return tf.cond(is_all, lambda: dense, lambda: dense[:num_rows])


def sum_rows(table: tf.Tensor, ids: tf.RaggedTensor) -> tf.Tensor:
    """Returns the sum of the rows of `table` that each row of `ids` names.

    An id that occurs twice counts twice; an empty row gives zeros. The gradient is dense.

    Args:
        table: float32 `(num_rows, dim)`.
        ids: int32 `(batch, None)` with int64 row splits, values in `[0, num_rows)`.

    Returns:
        float32 `(batch, dim)`.
    """

    @tf.custom_gradient
    def product(table: tf.Tensor) -> tuple[tf.Tensor, Any]:
        num_rows = tf.shape(table)[0]
        matrix = _csr_matrix(ids, num_rows)

        def gradient(upstream: tf.Tensor) -> tf.Tensor:
            transposed = tf.raw_ops.SparseMatrixTranspose(input=matrix, type=tf.float32)
            return _first_rows(_matmul(transposed, _at_least_one_row(upstream)), num_rows)

        sums = _matmul(matrix, _at_least_one_row(table))
        return _first_rows(sums, tf.cast(ids.nrows(), tf.int32)), gradient

    return product(table)


def gather_rows(values: tf.Tensor, indices: tf.Tensor) -> tf.Tensor:
    """`tf.gather` whose gradient is a sparse product; `tf.gather`'s own scatters row by row.

    Args:
        values: float32 `(num_rows, dim)`.
        indices: int32 `(n,)`.

    Returns:
        float32 `(n, dim)`.
    """
    splits = tf.range(tf.shape(indices, tf.int64)[0] + 1)
    return sum_rows(values, tf.RaggedTensor.from_row_splits(indices, splits, validate=False))


class RaggedEmbeddingSum(keras.layers.Layer):
    """Sums the embeddings of ragged ids (Charagram, section 3, inside of equation 1).

    While training, only the rows a batch names are read, and the gradient of the table is a
    `tf.IndexedSlices` in which every row occurs once: what the optimizers of
    `tf_charagram.optimizers` expect.

    Args:
        num_rows: Height of the table.
        dim: Width of the table.
        initializer: Keras initializer of the table.

    Call arguments:
        ids: `tf.RaggedTensor` int32 `(batch, None)`.
        training: Whether the gradient of the table should be sparse.

    Returns:
        float32 `(batch, dim)`; zeros for an empty row.
    """

    def __init__(
        self,
        *,
        num_rows: int,
        dim: int,
        initializer: str | keras.initializers.Initializer = "uniform",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.num_rows = num_rows
        self.dim = dim
        self.initializer = keras.initializers.get(initializer)
        self.table = self.add_weight(
            shape=(num_rows, dim), initializer=self.initializer, dtype="float32", name="table"
        )
        self.built = True

    def call(self, ids: tf.RaggedTensor, training: bool = False) -> tf.Tensor:
        """Returns the sums of the rows of each text."""
        table = self.table.value
        if not training:
            return sum_rows(tf.convert_to_tensor(table), ids)
        touched, positions = tf.unique(ids.values)
        rows = tf.gather(table, touched)
        return sum_rows(rows, ids.with_values(positions))

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor arguments."""
        return {
            **super().get_config(),
            "num_rows": self.num_rows,
            "dim": self.dim,
            "initializer": keras.initializers.serialize(self.initializer),
        }
