"""How models apply their encoder, so that one long text costs no more than itself."""

from __future__ import annotations

from functools import partial

import tensorflow as tf
from keras.layers import Layer

from tf_charagram.encoders.base import is_padded
from tf_charagram.layers.by_length import by_length

# Most steps that are padded at a time, characters or words.
_MAX_STEPS = 32_768


def encoded(encoder: Layer, ids: tf.RaggedTensor, training: bool = False) -> tf.Tensor:
    """Returns the vectors of texts given as ids, float32 `(batch, dim)`.

    An encoder that pads gets texts of similar length at a time, but for training, which has its own
    batches: with a text of 50,000 characters, seven texts would take gigabytes.
    """
    if training or not is_padded(encoder):
        return encoder(ids, training=training)
    compose = partial(encoder, training=False)
    return by_length(compose, ids, _MAX_STEPS, encoder.dim, per_value=False)
