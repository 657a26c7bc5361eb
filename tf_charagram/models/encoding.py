"""How models apply their encoder, so that one long text costs no more than itself."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import TypeVar

import numpy as np
import tensorflow as tf
from keras.layers import Layer
from numpy.typing import NDArray

from tf_charagram.encoders.base import is_padded
from tf_charagram.layers.by_length import by_length
from tf_charagram.models.base import TEXTS

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


# Fewer bytes are embedded as fast by one core, and other requests may want the other.
_LEAST_BYTES = 4_000


def in_halves(embed: Callable[[tf.Tensor], tf.Tensor]) -> Callable[[tf.Tensor], tf.Tensor]:
    """Returns a function that does the same, and both halves of a large batch at the same time.

    `tf.function` orders operations on the same table, so that the second half would wait for the
    first one's look-ups, though these change nothing; `tf.compat.v1.wrap_function` does not.

    Args:
        embed: From strings `(batch,)` to float32 `(batch, dim)`, where the row of a text does not
            depend on the others.

    Returns:
        To be called within a `tf.function`.
    """
    # Not inlined, the graph is in the function once, and its operations are not run, or skipped
    # one by one, for the branch that is not taken.
    whole = tf.function(
        embed,
        input_signature=TEXTS,
        autograph=False,
        experimental_attributes={"_noinline": True},
    )

    def both(texts: tf.Tensor) -> tf.Tensor:
        middle = tf.size(texts) // 2
        return tf.concat([whole(texts[:middle]), whole(texts[middle:])], axis=0)

    def embed_in_halves(texts: tf.Tensor) -> tf.Tensor:
        num_bytes = tf.reduce_sum(tf.strings.length(texts))
        return tf.cond(num_bytes < _LEAST_BYTES, lambda: whole(texts), lambda: both(texts))

    return tf.compat.v1.wrap_function(embed_in_halves, TEXTS)


T = TypeVar("T", bound=Hashable)


def distinct(texts: Iterable[T]) -> tuple[list[T], NDArray[np.int64]]:
    """Returns each text once, in the order of first occurrence, and where each one is in it.

    Example:
        >>> texts, row_indices = distinct(["a", "b", "a"])
        >>> texts, row_indices.tolist()
        (['a', 'b'], [0, 1, 0])
    """
    index: dict[T, int] = {}
    row_indices = [index.setdefault(text, len(index)) for text in texts]
    return list(index), np.array(row_indices, np.int64)
