"""How the work of a training step is divided between workers.

All workers have the whole batch, and compute its loss alike from the vectors of all texts; what is
divided is the work of the encoder. Where its table is cut, each worker sums the rows of its own
parts for all texts, and nothing but these sums is exchanged. Elsewhere each encodes its share of
the texts; their vectors are gathered, and the gradients of the weights added: dense ones as they
are, those of a table row by row.
"""

from __future__ import annotations

from collections.abc import Sequence

import keras
import tensorflow as tf

from tf_charagram.layers.embedding_table import Gradient
from tf_charagram.optimizers.exchange import Exchange
from tf_charagram.optimizers.table_rows import sum_equal_rows


def encode_share(
    encoder: keras.layers.Layer, ids: tf.RaggedTensor, training: bool, exchange: Exchange
) -> tf.Tensor:
    """Returns the vectors of all texts, of which each worker computes its share.

    Args:
        encoder: Keras layer from ragged ids to `(batch, dim)`.
        ids: Of all texts, int32 `(batch, None)`.
        training: As for the encoder.
        exchange: The other workers.

    Returns:
        float32 `(batch, dim)`. Its gradient gives those of the weights by the texts of the share.
    """
    num_texts = tf.shape(ids.row_splits)[0] - 1
    own = some_rows(ids, *exchange.share(num_texts))
    return exchange.all_rows(encoder(own, training=training), num_texts)


def some_rows(ids: tf.RaggedTensor, first: tf.Tensor, last: tf.Tensor) -> tf.RaggedTensor:
    """Returns the rows `first` to `last - 1` of ragged ids."""
    splits = ids.row_splits[first : last + 1]
    values = ids.values[splits[0] : splits[-1]]
    return tf.RaggedTensor.from_row_splits(values, splits - splits[0], validate=False)


def summed_gradients(gradients: Sequence[Gradient], exchange: Exchange) -> list[Gradient]:
    """Returns the sums of gradients over the workers; sparse ones have distinct rows."""
    return [
        sum_equal_rows(exchange.all_slices(gradient))
        if isinstance(gradient, tf.IndexedSlices)
        else exchange.sum(gradient)
        for gradient in gradients
    ]
