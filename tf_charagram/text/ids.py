"""Ids of texts outside the graph, as training data has them."""

from __future__ import annotations

from collections.abc import Callable

import keras
import tensorflow as tf

from tf_charagram.text.tensors import string_tensor


def ids_function(vectorizer: keras.layers.Layer) -> Callable[[list[str]], tf.RaggedTensor]:
    """Returns the function that gives the ids of a list of texts, int32 `(num_texts, None)`."""
    signature = [tf.TensorSpec([None], tf.string)]
    function = tf.function(vectorizer.__call__, input_signature=signature, autograph=False)
    return lambda texts: function(string_tensor(texts))
