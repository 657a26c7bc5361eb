"""A table of embeddings cut by rows over devices, for one that is larger than a device.

A sum of rows may be computed in parts: each device sums the rows that it holds for all texts of
a batch, and these partial sums are added. Ids and `(batch, dim)` numbers move between devices, and
on the way back the gradient of the sums; rows, their gradients and their moments never do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from tf_charagram.layers.divided_rows import DividedRows
from tf_charagram.layers.ragged_sum import RaggedEmbeddingSum, sum_rows, sum_rows_gradient
from tf_charagram.optimizers.exchange import ALONE, Exchange


class CutTable:
    """The parts of the table of a `RaggedEmbeddingSum`, one variable per device.

    Row r of the table belongs to part `r % num_parts`, as its row `r // num_parts`, so that
    frequent n-grams are spread evenly, wherever in the vocabulary they are. The table itself stays
    as it was when it was cut, until `assemble`.

    Args:
        layer: Whose table is cut. While it is trained, it sums by the parts from now on.
        devices: Device of each part that this process holds, such as `"GPU:1"`.
        num_parts: Parts in all, with those that other processes hold. Default: one per device.
        first_part: Number of the first part held.
        exchange: The processes that hold the others; with all of them, every part is held once.

    Attributes:
        table: The whole table.
        parts: The parts, keras variables `(height, dim)` on their devices.
        rows: Which rows they hold.

    Raises:
        ConfigError: There are more parts than rows, or the parts held are not among them.
    """

    def __init__(
        self,
        layer: RaggedEmbeddingSum,
        devices: Sequence[str],
        *,
        num_parts: int | None = None,
        first_part: int = 0,
        exchange: Exchange = ALONE,
    ) -> None:
        self.table = layer.table
        self.devices = tuple(devices)
        num_parts = len(self.devices) if num_parts is None else num_parts
        self.rows = DividedRows(layer.num_rows, num_parts, first_part, len(self.devices), exchange)
        self.parts = [
            self._part(number, device)
            for number, device in zip(self.rows.held, self.devices, strict=True)
        ]
        self._are_picked = False
        self.cut()
        layer.cut_table = self

    def _part(self, number: int, device: str) -> keras.Variable:
        with tf.device(device):
            part = keras.Variable(
                "zeros",
                shape=(self.rows.height(number), self.table.shape[1]),
                dtype=self.table.dtype,
                trainable=self.table.trainable,
                name=f"table_part_{number}",
            )
        setattr(part, _ORIGIN, Origin(self.table, partial(self.rows.places, number)))
        return part

    def cut(self) -> None:
        """Copies the rows of the table into the parts."""
        self.rows.cut(self.table.value, [part.value for part in self.parts])

    def assemble(self) -> None:
        """Copies the parts into the table; rows of parts that are not held stay as they are."""
        self.rows.assemble([part.value for part in self.parts], self.table.value)

    def sums(self, ids: tf.RaggedTensor) -> tf.Tensor:
        """Computes the sum of the rows that each row of ids names, over all parts.

        The gradient of each part is a `tf.IndexedSlices` that names each row that the ids name
        once, and no other.

        Args:
            ids: int32 `(batch, None)`, values in `[0, num_rows)`.

        Returns:
            float32 `(batch, dim)`; zeros for an empty row.
        """
        held = zip(self.rows.held, self.devices, self.parts, strict=True)
        sums = [self._partial_sums(*part, ids) for part in held]
        return self.rows.exchange.total(tf.add_n(sums))

    def take_own_ids(self) -> Callable[[tf.RaggedTensor], tf.RaggedTensor]:
        """Has `sums` take ids that are picked already; returns what picks them.

        What is summed again and again need not be picked anew each time. Exactly one part
        must be held.
        """
        (number,) = self.rows.held
        self._are_picked = True

        def pick(ids: tf.RaggedTensor) -> tf.RaggedTensor:
            picked = self._pick(number, ids)
            return picked.with_values(tf.cast(picked.values, ids.dtype))

        return pick

    def _partial_sums(
        self, number: int, device: str, part: keras.Variable, ids: tf.RaggedTensor
    ) -> tf.Tensor:
        """Computes the sums over one part, on its device, and their gradient there, too."""
        with tf.device(device):
            touched, positions = self._own(number, ids)
            # A table without rows is not allowed, and the ids may name none of this part.
            padded = tf.concat([touched, tf.zeros([1], touched.dtype)], axis=0)
            rows = tf.stop_gradient(tf.cast(tf.gather(part.value, padded), tf.float32))

            # That of `tf.gather` would be the same, but the rows would leave the device. The part
            # comes as its handle, for a variable would be read as a whole.
            @tf.custom_gradient
            def product(handle: tf.Tensor) -> tuple[tf.Tensor, Any]:
                def gradient(upstream: tf.Tensor) -> tf.IndexedSlices:
                    with tf.device(device):
                        values = sum_rows_gradient(upstream, positions, tf.size(padded))
                        shape = tf.constant(part.shape.as_list(), tf.int64)
                        return tf.IndexedSlices(values[:-1], touched, shape)

                del handle
                return sum_rows(rows, positions), gradient

            return product(part.value.handle)

    def _own(self, number: int, ids: tf.RaggedTensor) -> tuple[tf.Tensor, tf.RaggedTensor]:
        """Returns the rows of a part that ids name, each once, and the ids among these."""
        picked = ids if self._are_picked else self._pick(number, ids)
        touched, positions = tf.unique(picked.values, out_idx=tf.int64)
        return touched, picked.with_values(positions)

    def _pick(self, number: int, ids: tf.RaggedTensor) -> tf.RaggedTensor:
        """Returns the rows of a part that ids name, as ragged as these, int64."""
        # In int64, for the int32 kernels of a GPU compute in host memory.
        values, row_splits = tf.cast(ids.values, tf.int64), tf.cast(ids.row_splits, tf.int64)
        own = tf.squeeze(tf.where(tf.equal(values % self.rows.num_parts, number)), axis=1)
        return tf.RaggedTensor.from_row_splits(
            tf.gather(values, own) // self.rows.num_parts,
            tf.searchsorted(own, row_splits, out_type=tf.int64),
            validate=False,
        )


#: Attribute of a part: its `Origin`.
_ORIGIN = "_origin"


class Origin(NamedTuple):
    """Where the rows of a variable belong.

    Attributes:
        table: The whole table; the variable itself if it is not a part.
        places: Returns which rows of the whole some rows of the variable are.
    """

    table: keras.Variable
    places: Callable[[tf.Tensor], tf.Tensor]


def origin_of(variable: keras.Variable) -> Origin:
    """Returns where the rows of a table, or of a part of one, belong."""
    return getattr(variable, _ORIGIN, Origin(variable, tf.identity))


def summed_tables(layer: keras.layers.Layer) -> list[RaggedEmbeddingSum]:
    """Returns the parts of a layer, such as an encoder, that can be cut."""
    return [part for part in vars(layer).values() if isinstance(part, RaggedEmbeddingSum)]


def cut_tables(layer: keras.layers.Layer) -> list[CutTable]:
    """Returns the cut tables of a layer, such as an encoder."""
    tables = (part.cut_table for part in summed_tables(layer))
    return [table for table in tables if table is not None]


def trained_variables(layer: keras.layers.Layer) -> list[keras.Variable]:
    """Returns the trainable variables of a layer, the parts of a table in the table's place."""
    parts = {id(table.table): table.parts for table in cut_tables(layer)}
    variables = layer.trainable_variables
    return [part for variable in variables for part in parts.get(id(variable), [variable])]
