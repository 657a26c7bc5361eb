"""Look-up tables whose memory is freed with them."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


class LookupTable(tf.lookup.StaticHashTable):
    """A table from keys to rows.

    TensorFlow keeps the memory of a table that has a name, even after the table is deleted. A graph
    that is saved needs the name; a table that is used from Python does not, and gets none.

    Args:
        keys: Distinct keys, `(num_keys,)`.
        rows: A row for each key, integers `(num_keys,)`.
        default: The row of all other keys.
    """

    def __init__(self, keys: Any, rows: Any, default: int) -> None:
        super().__init__(tf.lookup.KeyValueTensorInitializer(keys, rows), default)

    def _create_resource(self) -> tf.Tensor:
        if not tf.executing_eagerly():
            return super()._create_resource()
        return tf.raw_ops.AnonymousHashTable(key_dtype=self.key_dtype, value_dtype=self.value_dtype)
