"""Quantized tables, whose rows are converted to float32 when a batch reads them."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.encoders import ENCODERS, encoder_class
from tf_charagram.encoders.averaging import Dan, Projection, WordAverage
from tf_charagram.encoders.base import Encoder
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.encoders.words import divisors
from tf_charagram.errors import ConfigError
from tf_charagram.layers._ops.chunked import WeightedIds
from tf_charagram.layers._ops.ragged import sum_rows
from tf_charagram.layers.base import ConfiguredLayer
from tf_charagram.layers.embedding_table import embedding_tables
from tf_charagram.models._storage.stored_tables import stored_table
from tf_charagram.text.base import settings_of

_QUANTIZABLE = (Charagram, WordAverage, Projection, Dan)


class _QuantizedSum(ConfiguredLayer):
    """Sums the rows of each text in a quantized table; inference only.

    Args:
        table: float32 `(num_rows, dim)`.
        table_dtype: `"float16"` or `"int8"`; a row of int8 has a scale.

    Call arguments:
        ids: `tf.RaggedTensor` int32 `(batch, None)`, or `WeightedIds`.

    Returns:
        float32 `(batch, dim)`; zeros for an empty row.

    Raises:
        ConfigError: A number is not finite, or too large for float16.
    """

    def __init__(self, table: np.ndarray, table_dtype: str, **kwargs: Any) -> None:
        super().__init__(**{"trainable": False, **kwargs})
        self.table_dtype = table_dtype
        self.scales = None
        rows, scales = stored_table(table, table_dtype)
        if scales is not None:
            self.scales = keras.Variable(scales, dtype="float32", trainable=False, name="scales")
        # No autocast: the whole table would become float32.
        self.rows = keras.Variable(
            rows, dtype=table_dtype, trainable=False, autocast=False, name="rows"
        )
        self.built = True

    def call(self, ids: tf.RaggedTensor | WeightedIds) -> tf.Tensor:
        """Returns the sums of the rows of each text."""
        weights = None
        if isinstance(ids, WeightedIds):
            ids, weights = ids
        # Each row is converted once per batch.
        touched, positions = tf.unique(ids.values)
        # At least one row must be read, so a batch without ids reads row 0.
        is_empty = tf.equal(tf.size(touched), 0)
        touched = tf.pad(touched, [[0, tf.cast(is_empty, tf.int32)]])
        rows = tf.gather(self.rows.value, touched)
        rows = tf.cast(rows, tf.float32)
        if self.scales is not None:
            rows *= tf.gather(self.scales.value, touched)
        return sum_rows(rows, ids.with_values(positions), weights)


class QuantizedEncoder(Encoder, ConfiguredLayer):
    """An encoder that sums or averages rows of a quantized table; inference only.

    Layers after the sum are shared with the original encoder.

    Args:
        encoder: A `charagram`, `word_average`, `projection` or `dan` encoder.
        table_dtype: `"float16"` or `"int8"`.

    Call arguments:
        ids: `tf.RaggedTensor` int32 `(batch, None)`, or `WeightedIds`.

    Returns:
        float32 `(batch, dim)`.

    Raises:
        ConfigError: The encoder is of another kind.
    """

    def __init__(self, encoder: keras.layers.Layer, table_dtype: str) -> None:
        problem = quantization_problem(encoder)
        if problem is not None:
            raise ConfigError(f"{problem} Use dtype=float32.")
        super().__init__(name=f"quantized_{encoder.name}", trainable=False)
        [table] = embedding_tables(encoder)
        self.sum = _QuantizedSum(table.numpy(), table_dtype, name="table")
        self.num_rows = encoder.num_rows
        self.dim = encoder.dim
        self.vectorizer = encoder.vectorizer
        self.is_mean = not isinstance(encoder, Charagram)
        if not self.is_mean:
            self.bias = encoder.bias
            self.function = keras.activations.get(encoder.activation)
        # A projection has one layer, a DAN a list, the other encoders no layer.
        layers = getattr(encoder, "dense", None) or []
        self.dense = list(layers) if isinstance(layers, list) else [layers]
        self._original = settings_of(encoder)
        self.built = True

    def call(self, ids: tf.RaggedTensor | WeightedIds, training: bool = False) -> tf.Tensor:
        """Returns the embeddings of texts."""
        embedding = self.sum(ids)
        if self.is_mean:
            embedding /= divisors(ids)
        else:
            embedding = self.function(embedding + self.bias)
        for dense in self.dense:
            embedding = dense(embedding)
        return embedding

    def get_config(self) -> dict[str, Any]:
        """Returns the options of the original encoder and `table_dtype`."""
        config = {**super().get_config(), **self._original}
        return {**config, "table_dtype": self.sum.table_dtype}


def quantization_problem(encoder: keras.layers.Layer) -> str | None:
    """Explains why an encoder cannot be quantized and which can; `None` if it can."""
    if type(encoder) in _QUANTIZABLE:
        return None
    names = ", ".join(name for name in ENCODERS if encoder_class(name) in _QUANTIZABLE)
    return (
        f"{type(encoder).__name__} cannot be quantized: only encoders that sum or average the rows "
        f"of a table can, {names}."
    )
