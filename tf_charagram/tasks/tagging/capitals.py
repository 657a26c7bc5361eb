"""Finds tokens with a capital, inside the graph: what lower-casing hides from a tagger."""

from __future__ import annotations

import tensorflow as tf

from tf_charagram.text.normalize import normalized_code_points


def has_capital(tokens: tf.Tensor) -> tf.Tensor:
    """Returns which tokens have a character that lower-casing changes.

    Lower-casing is that of the vectorizers, code point by code point, so that U+0130, whose lower
    case has two, is no capital.

    Args:
        tokens: String tensor `(num_tokens,)`, UTF-8; broken bytes are no capitals.

    Returns:
        bool `(num_tokens,)`.
    """
    with tf.device("CPU:0"):
        # White space is changed by both.
        is_capital = normalized_code_points(True) != normalized_code_points(False)
        codes = tf.strings.unicode_decode(tokens, "UTF-8", errors="replace")
        # Code points past the table have no case, and neither has its last one a lower case.
        flags = tf.gather(is_capital, tf.minimum(codes.values, len(is_capital) - 1))
        return tf.reduce_any(codes.with_values(flags), axis=1)
