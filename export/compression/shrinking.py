"""Makes a model smaller for serving."""

from __future__ import annotations

import keras

from tf_charagram.export.compression.budget import fitting_options
from tf_charagram.export.compression.options import ShrinkOptions
from tf_charagram.export.compression.reducing import reduced


def shrink(
    vectorizer: keras.layers.Layer, encoder: keras.layers.Layer, options: ShrinkOptions
) -> tuple[keras.layers.Layer, keras.layers.Layer]:
    """Makes a model smaller.

    First n-grams are left out, then the embedding is projected, then n-grams are folded (see
    `tf_charagram.models.prefix_sums`), and last the table is quantized. The result is for
    `TextEmbedder(vectorizer, encoder)`, to encode and to export; it cannot be trained on.

    Args:
        vectorizer: Of the model that training saved.
        encoder: Of the model.
        options: What to do; by default, nothing but fold.

    Returns:
        The smaller vectorizer and encoder; those given are left as they are.

    Raises:
        ConfigError: The model cannot be made smaller in this way; the message says in which it can.

    Example:
        >>> from tf_charagram.encoders.charagram import Charagram
        >>> from tf_charagram.text.vectorizer import NgramVectorizer
        >>> vectorizer = NgramVectorizer.from_texts(["cat", "cats", "dog"])
        >>> encoder = Charagram(num_rows=vectorizer.num_rows, dim=8)
        >>> options = ShrinkOptions(dtype="int8", max_ngrams=10, dim=4)
        >>> vectorizer, encoder = shrink(vectorizer, encoder, options)
        >>> vectorizer.num_rows, encoder.dim
        (10, 4)
    """
    if options.max_mb is not None:
        options = fitting_options(vectorizer, encoder, options.max_mb)
    return reduced(vectorizer, encoder, options)
