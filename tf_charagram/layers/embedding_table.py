"""Layers that look ids up in a table of embeddings."""

from __future__ import annotations

import ctypes
import math
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import ref

import keras
import numpy as np
import tensorflow as tf

from tf_charagram._common.devices import CPU
from tf_charagram.errors import check_positive
from tf_charagram.layers._ops.chunked import ChunkedIds, Ids, WeightedIds
from tf_charagram.layers._ops.ragged import gather_padded, sum_rows, to_padded
from tf_charagram.layers.base import ConfiguredLayer

# Bytes of a huge page.
_PAGE = 1 << 21
# From Linux' <sys/mman.h>; the second, since 6.1, is for pages that are in memory already.
_HUGEPAGE, _COLLAPSE = 14, 25
# Rewriting smaller tables takes no time worth a warning.
_LARGE = 2_000_000

_is_filled: ContextVar[bool] = ContextVar("whether new tables are filled", default=True)


@contextmanager
def unfilled_tables() -> Iterator[None]:
    """Leaves tables made inside uninitialized, because they are assigned next.

    Drawing a table of 60,000 x 384 takes longer than everything else in loading it.
    """
    token = _is_filled.set(False)
    try:
        yield
    finally:
        _is_filled.reset(token)


class _EmbeddingTable(ConfiguredLayer):
    """Holds a table of embeddings, one row per id.

    With an optimizer of `tf_charagram.optimizers`, the table has a sparse gradient, a
    `tf.IndexedSlices` that names each row of a batch once, so that a step costs no more than these
    rows. With any other optimizer the gradient is dense, because Keras' own are wrong about rows
    that occur twice, as they do when a model calls an encoder twice; a warning says so if the table
    is large. The optimizer is that of the compiled model; in a training loop without one, it is the
    last of ours that was built with the table.

    Args:
        num_rows: Height of the table.
        dim: Width of the table.
        initializer: Keras initializer of the table.

    Raises:
        ConfigError: `num_rows` or `dim` is below 1.
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
        check_positive(num_rows=num_rows, dim=dim)
        self.num_rows = num_rows
        self.dim = dim
        self.initializer = keras.initializers.get(initializer)
        self.table = self.add_weight(shape=(num_rows, dim), initializer=self._initial, name="table")
        self.built = True
        self._has_warned = False
        # XLA compiles neither ragged nor CSR operations; with a GPU, Keras would try.
        self.supports_jit = False

    def _initial(self, shape: tuple[int, ...], dtype: str) -> tf.Tensor:
        if not _is_filled.get():
            return tf.raw_ops.Empty(shape=shape, dtype=dtype)
        return self.initializer(shape, dtype=dtype)

    def _has_sparse_gradient(self) -> bool:
        """Returns whether the optimizer of the table updates single rows; only within a call."""
        # Keras finds `training` there, too: the outermost layer is the model that is trained.
        model = self._get_call_context().entry_layer
        optimizer = getattr(model, "optimizer", None)
        if optimizer is None:
            optimizer = getattr(self.table, _OPTIMIZER, lambda: None)()
        optimizer = getattr(optimizer, "inner_optimizer", optimizer)
        if getattr(optimizer, "sums_equal_rows", False):
            return True
        is_large = self.num_rows * self.dim > _LARGE
        if is_large and self.table.trainable and not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"Each step rewrites the whole table '{self.table.path}', {self.num_rows:,} "
                f"x {self.dim}. tf_charagram.optimizers.LazyAdam updates only the rows of the "
                "batch: compile the model with it, or, in a training loop of your own, call "
                "`optimizer.build(model.trainable_variables)` before the first step.",
                stacklevel=2,
            )
        return False

    def rows(self, indices: tf.Tensor, training: bool) -> tf.Tensor:
        """Returns rows of the table, float32 `(n, dim)`, with the gradient described above.

        Args:
            indices: int32 `(n,)`, distinct.
            training: Whether the table is trained; if not, no gradient is taken.
        """
        if not training or self._has_sparse_gradient():
            return tf.gather(self.table.value, indices)
        # For indices of this rank, the gradient is dense, unlike the gradient of `tf.gather`.
        positions = tf.reshape(indices, [-1, 1, 1])
        rows = tf.gather_nd(self.table.value, positions)
        return tf.squeeze(rows, axis=1)


#: Attribute of a table: reference to the optimizer that was built with it.
_OPTIMIZER = "_row_sparse_optimizer"


def mark_row_sparse(
    variables: Iterable[keras.Variable], optimizer: keras.optimizers.Optimizer
) -> None:
    """Tells variables that an optimizer that updates single rows was built with them."""
    for variable in variables:
        setattr(variable, _OPTIMIZER, ref(optimizer))


def embedding_tables(layer: keras.layers.Layer) -> list[keras.Variable]:
    """Returns the embedding tables of a layer, such as an encoder."""
    parts = vars(layer).values()
    return [part.table for part in parts if isinstance(part, _EmbeddingTable)]


@keras.saving.register_keras_serializable(package="tf_charagram")
class RaggedEmbeddingSum(_EmbeddingTable):
    """Sums the embeddings of ragged ids (Charagram, section 3, inside of equation 1).

    Rows are summed on the CPU. Only the rows of a batch are read while training with a sparse
    gradient, and from a table on another device. Arguments and errors are those of
    `_EmbeddingTable`.

    Call arguments:
        ids: `tf.RaggedTensor` int32 `(batch, None)`, `ChunkedIds` or `WeightedIds`.
        training: Whether the gradient of the table may be sparse.

    Returns:
        float32 `(batch, dim)`; zeros for an empty row.
    """

    def call(self, ids: Ids | WeightedIds, training: bool = False) -> tf.Tensor:
        """Returns the sums of the rows of each text."""
        table = self.table.value
        if isinstance(ids, ChunkedIds):
            return ids.sum_by_text(ids.vectors(table))
        weights = None
        if isinstance(ids, WeightedIds):
            ids, weights = ids
        is_sparse = training and self._has_sparse_gradient()
        if is_sparse or _is_elsewhere(table):
            rows, positions = self.touched_rows(ids, training)
            return sum_rows(rows, positions, weights)
        return sum_rows(tf.convert_to_tensor(table), ids, weights)

    def compute_output_spec(self, ids: keras.KerasTensor, **kwargs: Any) -> keras.KerasTensor:
        """Returns a symbolic float32 `(batch, dim)` for symbolic ids."""
        del kwargs
        return keras.KerasTensor((ids.shape[0], self.dim), "float32")

    def touched_rows(
        self, ids: tf.RaggedTensor, training: bool = True
    ) -> tuple[tf.Tensor, tf.RaggedTensor]:
        """Returns the distinct rows that ids name, at least one, and ids into these."""
        touched, positions = tf.unique(ids.values, out_idx=ids.dtype)
        # At least one row is needed, so a batch without ids touches row 0, with a zero gradient.
        num_added = tf.cast(tf.equal(tf.size(touched), 0), tf.int32)
        touched = tf.concat([touched, tf.zeros([num_added], touched.dtype)], axis=0)
        return self.rows(touched, training), ids.with_values(positions)


@keras.saving.register_keras_serializable(package="tf_charagram")
class PaddedEmbedding(_EmbeddingTable):
    """Looks ragged ids up in a table and pads the vectors with zeros.

    Only the rows of the batch are read. Arguments and errors are those of `_EmbeddingTable`.

    Call arguments:
        ids: `tf.RaggedTensor` int32 `(batch, None)`.
        training: Whether the table is being trained.

    Returns:
        float32 `(batch, time, dim)`, zeros at padding, and a bool mask `(batch, time)`, true at
        real steps, which come first. `time` is at least 1.
    """

    def call(self, ids: Ids, training: bool = False) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the padded vectors and their mask."""
        rows, padded, mask = self.distinct_rows(ids, training)
        return gather_padded(rows, padded), mask

    def distinct_rows(
        self, ids: Ids, training: bool = False
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Returns the distinct rows that ids name, and padded ids into these.

        Returns:
            float32 `(1 + num_distinct, dim)`, row 0 of zeros for padding; int64 `(batch, time)`,
            int32 compiled by XLA; and the mask.
        """
        if isinstance(ids, ChunkedIds):
            rows = tf.gather(self.table.value, ids.rows)
            rows = tf.pad(rows, [[1, 0], [0, 0]])
            padded = tf.where(ids.mask, ids.slots + 1, 0)
            return rows, padded, ids.mask
        touched, positions = tf.unique(ids.values, out_idx=tf.int64)
        rows = self.rows(touched, training)
        padding = tf.zeros([1, self.dim], rows.dtype)
        rows = tf.concat([padding, rows], axis=0)
        padded, mask = to_padded(ids.with_values(positions + 1))
        return rows, padded, mask

    def compute_output_spec(
        self, ids: keras.KerasTensor, **kwargs: Any
    ) -> tuple[keras.KerasTensor, keras.KerasTensor]:
        """Returns symbolic vectors and their mask for symbolic ids."""
        del kwargs
        batch = ids.shape[0]
        vectors = keras.KerasTensor((batch, None, self.dim), "float32")
        return vectors, keras.KerasTensor((batch, None), "bool")


def _is_elsewhere(variable: tf.Variable) -> bool:
    """Returns whether a variable is on a GPU or the like; in a graph, it may have no device."""
    return "CPU" not in (variable.device or CPU)


def read_in_place(variable: tf.Variable) -> None:
    """Makes reads of a variable return its memory, even after updates of single rows."""
    tf.raw_ops.DisableCopyOnRead(resource=variable.handle)


def use_huge_pages(table: tf.Variable) -> None:
    """Asks Linux to hold a table in pages of 2 MB; has no effect elsewhere, or if refused.

    A batch reads rows from all over a table, and with pages of 4 kB nearly every row needs a lookup
    of its address: encoding with 277,000 rows takes 1.28 times as long, and a training step of 100
    word pairs with 111,000 rows 1.02 to 1.1 times.

    Args:
        table: A variable; small ones, and those on a GPU, are left as they are.
    """
    size = table.shape.num_elements() * table.dtype.size
    if sys.platform != "linux" or size < 2 * _PAGE:
        return
    read_in_place(table)
    tensor = table.read_value()
    if "CPU" not in tensor.device:
        return
    start = np.asarray(memoryview(tensor)).ctypes.data
    # Whole pages only: up from the start, and down from the end.
    first = math.ceil(start / _PAGE) * _PAGE
    last = (start + size) // _PAGE * _PAGE
    address = ctypes.c_void_p(first)
    length = ctypes.c_size_t(last - first)
    madvise = ctypes.CDLL(None).madvise
    madvise(address, length, _HUGEPAGE)
    madvise(address, length, _COLLAPSE)
