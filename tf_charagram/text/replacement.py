"""Parts of texts replaced by others, all of a batch at once."""

from __future__ import annotations

import tensorflow as tf

from tf_charagram.text.normalize import FlatTexts


def replaced(texts: FlatTexts, words: tf.Tensor, right: tf.RaggedTensor) -> FlatTexts:
    """Puts words in the places of others.

    Args:
        texts: The batch.
        words: Where the others begin and end in its symbols, in order, int64 `(num_words, 2)`.
        right: The symbols of the new ones, int32 `(num_words, None)`.

    Returns:
        The batch, its texts longer or shorter.
    """
    starts, ends = tf.unstack(words, axis=1)
    size, num_words = tf.size(texts.symbols, tf.int64), tf.size(starts)
    # What is between the words and what they are, in turn; then the new words.
    splits = [[0], tf.reshape(words, [-1]), [size], size + right.row_splits[1:]]
    pieces = tf.RaggedTensor.from_row_splits(
        tf.concat([texts.symbols, right.values], axis=0), tf.concat(splits, axis=0), validate=False
    )
    old, new = 2 * tf.range(num_words), 2 * num_words + 1 + tf.range(num_words)
    order = tf.concat([tf.reshape(tf.stack([old, new], axis=1), [-1]), [2 * num_words]], axis=0)
    growth = tf.cumsum(right.row_lengths() - (ends - starts))
    growth = tf.cast(tf.concat([[0], growth], axis=0), tf.int32)

    def moved(positions: tf.Tensor) -> tf.Tensor:
        num_before = tf.searchsorted(starts, tf.cast(positions, tf.int64))
        return positions + tf.gather(growth, num_before)

    return FlatTexts(tf.gather(pieces, order).values, moved(texts.starts), moved(texts.ends))
