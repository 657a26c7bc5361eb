"""Graphs that embed: padded groups of similar length, and both halves of a batch in parallel."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import ParamSpec, TypeVar

import tensorflow as tf
from keras.layers import Layer

from tf_charagram.encoders.base import is_padded
from tf_charagram.layers._ops.chunked import WeightedIds
from tf_charagram.layers._ops.ragged import by_length
from tf_charagram.models.base import TEXTS

P = ParamSpec("P")
R = TypeVar("R")

# Characters or words per padded group.
_MAX_STEPS = 32_768
# Below this size, one core is as fast.
_MIN_BYTES = 4_000


def encoded(
    encoder: Layer,
    ids: tf.RaggedTensor,
    weights: tf.Tensor | None = None,
    training: bool = False,
) -> tf.Tensor:
    """Returns the vectors of texts, float32 `(batch, dim)`, from their ids.

    Outside training, an encoder that pads gets groups of texts of similar length: padded together,
    seven texts would take gigabytes if one of them has 50,000 characters.

    Args:
        encoder: The encoder.
        ids: int32 `(batch, None)`.
        weights: The factor of the row of each id, for an encoder that sums rows; `None` for 1.
        training: Whether the encoder is trained.
    """
    if weights is not None:
        return encoder(WeightedIds(ids, weights), training=training)
    if training or not is_padded(encoder):
        return encoder(ids, training=training)
    compose = partial(encoder, training=False)
    return by_length(compose, ids, _MAX_STEPS, encoder.dim, per_value=False)


def first_call_alone(function: Callable[P, R]) -> Callable[P, R]:
    """Returns an equal function whose first call ends before other threads start theirs.

    TensorFlow optimizes a graph when it is called first. Threads that call it meanwhile would all
    optimize it, too: with 16 threads, that took ten times as long.

    Args:
        function: A `tf.function` that is traced once.
    """
    lock = Lock()
    has_run = False

    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        nonlocal has_run
        if not has_run:
            with lock:
                # Another thread may have run it while this one waited for the lock.
                if not has_run:
                    result = function(*args, **kwargs)
                    has_run = True
                    return result
        return function(*args, **kwargs)

    return call


def in_halves(embed: Callable[[tf.Tensor], tf.Tensor]) -> Callable[[tf.Tensor], tf.Tensor]:
    """Returns an equal function that embeds both halves of a large batch in parallel.

    `tf.function` would order the look-ups of both halves in a table, although they change nothing;
    `tf.compat.v1.wrap_function` does not.

    Args:
        embed: Function from strings `(batch,)` to float32 `(batch, dim)`. Rows must not depend on
            each other.

    Returns:
        A function to call within a `tf.function`.
    """
    # Without inlining, the graph exists once, and the branch not taken costs nothing.
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
        return tf.cond(num_bytes < _MIN_BYTES, lambda: whole(texts), lambda: both(texts))

    return tf.compat.v1.wrap_function(embed_in_halves, TEXTS)
