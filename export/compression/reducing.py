"""Makes a model smaller, step by step, while its parts are still separate."""

from __future__ import annotations

import keras

from tf_charagram.export.compression.options import ShrinkOptions
from tf_charagram.export.compression.quantization import QuantizedEncoder
from tf_charagram.export.compression.tables import projected, pruned
from tf_charagram.models.prefix_sums import fold


def reduced(
    vectorizer: keras.layers.Layer, encoder: keras.layers.Layer, options: ShrinkOptions
) -> tuple[keras.layers.Layer, keras.layers.Layer]:
    """Returns the smaller pair that options describe, all but `max_mb`; see `shrink`."""
    if options.max_ngrams is not None:
        vectorizer, encoder = pruned(vectorizer, encoder, options.max_ngrams)
    if options.dim is not None:
        encoder = projected(encoder, options.dim)
    # Folding adds rows of single n-grams, which must be whole and still be there.
    vectorizer, encoder = fold(vectorizer, encoder)
    if options.dtype != "float32":
        encoder = QuantizedEncoder(encoder, options.dtype)
    return vectorizer, encoder
