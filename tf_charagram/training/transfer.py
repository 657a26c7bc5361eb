"""Two-stage training: a saved model is trained on new texts, its vocabulary grown by their units.

This is the cumulative training of CSE (section 5.1): first on phrases, then on sentences.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.errors import ConfigError
from tf_charagram.layers.embedding_table import embedding_tables
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.vectorizer import NgramVectorizer

#: Small, so that texts nearly keep their embeddings; not 0, or texts of new n-grams alone would
#: have no direction.
_SCALE_OF_NEW_NGRAMS = 0.1


def grow_from(
    path: str | Path,
    vectorizer: keras.layers.Layer,
    make_encoder: Callable[[keras.layers.Layer], keras.layers.Layer],
) -> tuple[keras.layers.Layer, keras.layers.Layer]:
    """Returns the vectorizer and the encoder of a saved model, with room for new texts.

    Units that the model knows keep their vectors, and texts of such units their embeddings. New
    words and characters have the vectors that `make_encoder` gave them, new n-grams a tenth of
    theirs: most texts have some of them beside known ones, which already say what the text means.

    Args:
        path: Run or model folder.
        vectorizer: What the new texts alone would be trained with.
        make_encoder: Returns a new encoder for a vectorizer.

    Raises:
        RunError: The folder holds no model, or a damaged one.
        ConfigError: The model reads texts in another way, or its encoder has other weights.
    """
    old = TextEmbedder.load(path)
    grown, rows = old.vectorizer.grown(vectorizer)
    encoder = make_encoder(grown)
    if isinstance(grown, NgramVectorizer):
        _scale_rows(encoder, np.setdiff1d(np.arange(grown.num_rows), rows), _SCALE_OF_NEW_NGRAMS)
    transfer(old.encoder, encoder, rows)
    return grown, encoder


def transfer(old: keras.layers.Layer, new: keras.layers.Layer, rows: np.ndarray) -> None:
    """Gives an encoder the weights of another with the same settings, whose units it has too.

    Args:
        old: The encoder to read; not changed.
        new: The encoder to change. Rows of tables that no old one goes to stay as they are.
        rows: The row in the new tables of each row of the old ones, int64 `(old.num_rows,)`.

    Raises:
        ConfigError: The two do not have the same weights.
    """
    old_tables, new_tables = (
        {table.path for table in embedding_tables(encoder)} for encoder in (old, new)
    )
    shapes, new_shapes = _shapes(old, old_tables), _shapes(new, new_tables)
    if shapes != new_shapes or (old.num_rows,) != rows.shape:
        raise ConfigError(
            "Both encoders must have the same weights, and `rows` one row for each of "
            f"{old.num_rows}. Received: {shapes}, {new_shapes}, rows of shape {rows.shape}"
        )
    sources = {weight.path: weight for weight in old.weights}
    for weight in new.weights:
        source = sources[weight.path].value
        if weight.path in new_tables:
            # In place: a table may take most of the memory.
            source = tf.cast(source, weight.dtype)
            weight.value.scatter_update(tf.IndexedSlices(source, tf.constant(rows)))
        else:
            weight.assign(source)


def _scale_rows(encoder: keras.layers.Layer, rows: np.ndarray, scale: float) -> None:
    for table in embedding_tables(encoder):
        table.value.scatter_mul(tf.IndexedSlices(tf.cast(scale, table.dtype), tf.constant(rows)))


def _shapes(encoder: keras.layers.Layer, tables: set[str]) -> dict[str, tuple[int | None, ...]]:
    """Returns the shapes of the weights by path; of tables without the number of rows."""
    return {
        weight.path: (None, *weight.shape[1:]) if weight.path in tables else tuple(weight.shape)
        for weight in encoder.weights
    }
