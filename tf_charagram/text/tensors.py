"""Python strings as tensors."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from tf_charagram.text.batches import to_bytes


def string_tensor(texts: Sequence[str | bytes]) -> tf.Tensor:
    """Returns texts as UTF-8, a string tensor `(num_texts,)`; surrogates are as in `to_bytes`."""
    try:
        return tf.constant(texts, tf.string)  # Takes a third of the time.
    except ValueError:  # A surrogate.
        return tf.constant([to_bytes(text) for text in texts], tf.string)
