"""Served graphs that keep two cores busy with one batch of texts."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from tf_charagram.models.base import TEXTS

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
