"""Sums of embedding rows, one sum per ragged row of ids, with row-sparse gradients.

The sum is a product of a sparse matrix in CSR form, one row per text, with the embedding table. Its
gradient is the product with the transposed matrix; transposing a CSR matrix is a counting sort. On
two cores, for 200 texts of 160 ids and 300 dimensions, the product takes half the time of
`SparseSegmentSum` and the gradient a tenth of that of `SparseSegmentSumGrad`.
"""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tf_charagram.layers.embedding_table import EmbeddingTable


def row_ids(ids: tf.RaggedTensor) -> tf.Tensor:
    """Returns the row each value of a ragged tensor is in, int64 `(num_values,)`."""
    ends = tf.cast(ids.row_splits[tf.newaxis, 1:], tf.int64)
    positions = tf.range(tf.shape(ids.values, tf.int64)[0])
    rows = tf.raw_ops.UpperBound(
        sorted_inputs=ends, values=positions[tf.newaxis], out_type=tf.int64
    )
    return tf.reshape(rows, [-1])


def sum_rows(table: tf.Tensor, ids: tf.RaggedTensor) -> tf.Tensor:
    """Computes the sum of the rows of `table` that each row of `ids` names.

    An id that occurs twice counts twice; an empty row gives zeros. The gradient is dense.

    Args:
        table: float32 `(num_rows, dim)`, at least one row.
        ids: int32 `(batch, None)`, values in `[0, num_rows)`.

    Returns:
        float32 `(batch, dim)`.
    """
    sums = _sum_rows(table, ids.values, tf.cast(ids.row_splits, tf.int64))
    sums.set_shape([ids.shape[0], table.shape[1]])
    return sums


# Traced once per process: TensorFlow keeps each graph in which a custom gradient was traced.
@tf.function(
    input_signature=[
        tf.TensorSpec([None, None], tf.float32),
        tf.TensorSpec([None], tf.int32),
        tf.TensorSpec([None], tf.int64),
    ],
    autograph=False,
)
def _sum_rows(table: tf.Tensor, values: tf.Tensor, row_splits: tf.Tensor) -> tf.Tensor:
    ids = tf.RaggedTensor.from_row_splits(values, row_splits, validate=False)
    batch = ids.nrows()
    # TensorFlow aborts the process on a matrix without rows.
    shape = tf.stack([tf.maximum(batch, 1), tf.shape(table, tf.int64)[0]])
    indices = tf.stack([row_ids(ids), tf.cast(values, tf.int64)], axis=1)

    def matrix() -> tf.Tensor:
        return tf.raw_ops.SparseTensorToCSRSparseMatrix(
            indices=indices, values=tf.ones_like(values, tf.float32), dense_shape=shape
        )

    @tf.custom_gradient
    def product(table: tf.Tensor) -> tuple[tf.Tensor, Any]:
        def gradient(upstream: tf.Tensor) -> tf.Tensor:
            # A second matrix, which TensorFlow knows to be the first: matrices cannot leave a
            # function.
            transposed = tf.raw_ops.SparseMatrixTranspose(input=matrix(), type=tf.float32)
            upstream = tf.pad(upstream, [[0, shape[0] - batch], [0, 0]])
            return tf.raw_ops.SparseMatrixMatMul(a=transposed, b=upstream)

        return tf.raw_ops.SparseMatrixMatMul(a=matrix(), b=table)[:batch], gradient

    return product(table)


@keras.saving.register_keras_serializable(package="tf_charagram")
class RaggedEmbeddingSum(EmbeddingTable):
    """Sums the embeddings of ragged ids (Charagram, section 3, inside of equation 1).

    While training with a sparse gradient, see `EmbeddingTable`, and of a table in bfloat16 always,
    only the rows that a batch names are read. Arguments and errors are those of `EmbeddingTable`.

    Call arguments:
        ids: `tf.RaggedTensor` int32 `(batch, None)`.
        training: Whether the gradient of the table may be sparse.

    Returns:
        float32 `(batch, dim)`; zeros for an empty row.
    """

    def call(self, ids: tf.RaggedTensor, training: bool = False) -> tf.Tensor:
        """Returns the sums of the rows of each text."""
        is_float32 = self.table.dtype == "float32"
        if is_float32 and not (training and self._has_sparse_gradient()):
            return sum_rows(tf.convert_to_tensor(self.table.value), ids)
        return sum_rows(*self.touched_rows(ids, training))

    def compute_output_spec(self, ids: keras.KerasTensor, **kwargs: Any) -> keras.KerasTensor:
        """Returns a symbolic float32 `(batch, dim)` for symbolic ids."""
        del kwargs
        return keras.KerasTensor((ids.shape[0], self.dim), "float32")

    def touched_rows(
        self, ids: tf.RaggedTensor, training: bool = True
    ) -> tuple[tf.Tensor, tf.RaggedTensor]:
        """Returns the rows that ids name, each once and at least one, and the ids among these."""
        touched, positions = tf.unique(ids.values)
        # A batch without any id touches row 0, with a zero gradient: no row at all is not allowed.
        is_empty = tf.cast(tf.equal(tf.size(touched), 0), tf.int32)
        touched = tf.pad(touched, [[0, is_empty]])
        return self.rows(touched, training), ids.with_values(positions)
