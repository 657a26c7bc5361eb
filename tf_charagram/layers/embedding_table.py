"""The base of the layers that look ids up in a table."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, TypeAlias
from weakref import ref

import keras
import tensorflow as tf

from tf_charagram.errors import check_positive
from tf_charagram.layers.base import ConfiguredLayer

#: Of a weight; of a table that is looked up, the rows that a batch names.
Gradient: TypeAlias = tf.Tensor | tf.IndexedSlices

# Tables with fewer numbers take no time worth a warning.
_LARGE = 2_000_000

_device: ContextVar[str | None] = ContextVar("device of new tables", default=None)
_dtype: ContextVar[str] = ContextVar("type of new tables", default="float32")
_is_filled: ContextVar[bool] = ContextVar("whether new tables are filled", default=True)


@contextmanager
def tables_in(dtype: str) -> Iterator[None]:
    """Sets the type of tables made inside: `"float32"`, or `"bfloat16"` to save memory.

    A layer computes with the same float32 numbers then. A table in bfloat16 is to be trained by an
    optimizer of `tf_charagram.optimizers`, which rounds its rows stochastically; others lose small
    updates.

    Example:
        >>> from tf_charagram.encoders import Charagram
        >>> with tables_in("bfloat16"):
        ...     encoder = Charagram(num_rows=100, dim=8)
        >>> encoder.ngram_table.dtype, encoder.bias.dtype
        ('bfloat16', 'float32')
    """
    token = _dtype.set(dtype)
    try:
        yield
    finally:
        _dtype.reset(token)


@contextmanager
def tables_on(device: str | None) -> Iterator[None]:
    """Places tables made inside on a device, such as one that has room for them.

    Args:
        device: Its name; `None` leaves the choice to TensorFlow.
    """
    token = _device.set(device)
    try:
        yield
    finally:
        _device.reset(token)


@contextmanager
def unfilled_tables() -> Iterator[None]:
    """Leaves the memory of tables made inside uninitialized, as they are to be assigned next.

    Random numbers for a table of 60,000 x 384 take longer than all else that loading it takes.
    """
    token = _is_filled.set(False)
    try:
        yield
    finally:
        _is_filled.reset(token)


class EmbeddingTable(ConfiguredLayer):
    """Holds a table of embeddings, one row per id.

    Trained by an optimizer of `tf_charagram.optimizers`, the table has a sparse gradient, a
    `tf.IndexedSlices` in which each row that a batch names occurs once, so that a step costs no
    more than these rows. By any other optimizer it has a dense one, because those of Keras are
    wrong about rows that occur twice, as they do when a model calls an encoder twice. A warning
    says so if the table is large. The optimizer is that of the compiled model; in a training loop
    without one, it is the last of ours that was built with the table.

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
        self._device = _device.get()
        with self.beside_table():
            self.table = self.add_weight(
                shape=(num_rows, dim), initializer=self._initial, dtype=_dtype.get(), name="table"
            )
        self.built = True
        self._has_warned = False
        # XLA compiles neither ragged nor CSR operations; with a GPU, Keras would try.
        self.supports_jit = False

    def _initial(self, shape: tuple[int, ...], dtype: str) -> tf.Tensor:
        if not _is_filled.get():
            return tf.raw_ops.Empty(shape=shape, dtype=dtype)
        if dtype == "float32":
            return self.initializer(shape, dtype=dtype)

        def rounded() -> tf.Tensor:
            # A graph does not take over the device that it is called on.
            with self.beside_table():
                return tf.cast(self.initializer(shape, dtype="float32"), dtype)

        # From the same numbers. As a graph, which needs the memory of two tables in float32, not of
        # three.
        return tf.function(rounded, autograph=False)()

    def beside_table(self) -> AbstractContextManager[Any]:
        """Returns a context whose operations run where `tables_on` has put the table."""
        return nullcontext() if self._device is None else tf.device(self._device)

    def _has_sparse_gradient(self) -> bool:
        """Whether the optimizer that trains the table updates single rows; asked in a call only."""
        # Where Keras has `training` from, too: the outermost layer is the model that is trained.
        optimizer = getattr(self._get_call_context().entry_layer, "optimizer", None)
        if optimizer is None:
            optimizer = getattr(self.table, _OPTIMIZER, lambda: None)()
        optimizer = getattr(optimizer, "inner_optimizer", optimizer)
        if getattr(optimizer, "sums_equal_rows", False):
            return True
        if self.table.trainable and self.num_rows * self.dim > _LARGE and not self._has_warned:
            self._has_warned = True
            known = "" if optimizer is None else f" by {type(optimizer).__name__}"
            warnings.warn(
                f"Each step{known} rewrites the whole table '{self.table.path}', {self.num_rows:,} "
                f"x {self.dim}. tf_charagram.optimizers.LazyAdam updates only the rows of the "
                "batch: compile the model with it, or, in a training loop of your own, call "
                "`optimizer.build(model.trainable_variables)` before the first step.",
                stacklevel=2,
            )
        return False

    def rows(self, indices: tf.Tensor, training: bool) -> tf.Tensor:
        """Returns some rows of the table, float32 `(n, dim)`; the gradient is as the class says.

        Args:
            indices: int32 `(n,)`, distinct.
            training: Whether the table is being trained; if not, no gradient is asked for.
        """
        if not training or self._has_sparse_gradient():
            return tf.cast(tf.gather(self.table.value, indices), tf.float32)
        # Unlike that of `tf.gather`, its gradient is dense for indices of this rank.
        rows = tf.gather_nd(self.table.value, indices[:, tf.newaxis, tf.newaxis])
        return tf.cast(tf.squeeze(rows, axis=1), tf.float32)


#: Attribute of a table: reference to the optimizer of ours that was built with it.
_OPTIMIZER = "_row_sparse_optimizer"


def mark_row_sparse(
    variables: Iterable[keras.Variable], optimizer: keras.optimizers.Optimizer
) -> None:
    """Notes that an optimizer that updates single rows was built with some variables."""
    for variable in variables:
        setattr(variable, _OPTIMIZER, ref(optimizer))


def embedding_tables(layer: keras.layers.Layer) -> list[keras.Variable]:
    """Returns the tables that a layer, such as an encoder, looks its ids up in."""
    parts = vars(layer).values()
    return [part.table for part in parts if isinstance(part, EmbeddingTable)]
