"""Computes the shares of readings in the graph."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tf_charagram.text._spelling.letters import MAX_LETTERS
from tf_charagram.text._spelling.sureness import (
    NUM_LETTERS,
    NUM_SHARES,
    STEP,
    Sureness,
    shares_of_steps,
)
from tf_charagram.text.vectors import column


class Shares:
    """Computes how much of the vector of an unknown word is that of its reading.

    Args:
        sureness: The terms of the sureness of readings.
    """

    def __init__(self, sureness: Sureness) -> None:
        # Tensors: a constant in each function would be saved with each.
        self._errors = tf.constant(sureness.errors)
        self._words = tf.constant(sureness.words)
        self._triples = tf.constant(sureness.triples)
        self._length = sureness.length
        self._shares = tf.constant(shares_of_steps())

    def __call__(
        self, letters: tf.Tensor, lengths: tf.Tensor, rows: tf.Tensor, errors: tf.Tensor
    ) -> tf.Tensor:
        """Returns the share of each reading, float32 `(num_words,)`.

        Args:
            letters: `letter_numbers` of the words, 0 past the end, int32
                `(num_words, MAX_LETTERS + 1)`.
            lengths: Their numbers of letters, int64 `(num_words,)`.
            rows: The rows of the words read, int32 `(num_words, 3)`.
            errors: The errors that explain the written words, int64 `(num_words,)`.
        """
        padded = tf.pad(letters, [[0, 0], [2, 0]])
        pairs = padded[:, :-2] * NUM_LETTERS + padded[:, 1:-1]
        triples = tf.gather(self._triples, pairs * NUM_LETTERS + letters)
        # The end of the word is the last letter.
        is_counted = np.arange(MAX_LETTERS + 1) <= column(lengths)
        evidence = tf.reduce_sum(tf.where(is_counted, triples, 0), axis=1)
        evidence += tf.reduce_sum(tf.gather(self._words, rows), axis=1)
        evidence += tf.gather(self._errors, errors)
        evidence += tf.cast(lengths, tf.int32) * self._length
        steps = evidence // STEP + NUM_SHARES // 2
        steps = tf.clip_by_value(steps, 0, NUM_SHARES - 1)
        return tf.gather(self._shares, steps)
