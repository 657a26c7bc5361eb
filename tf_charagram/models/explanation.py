"""Explains similarity: the cosine of two texts as a sum over pairs of n-grams."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError
from tf_charagram.text.arguments import distinct
from tf_charagram.text.vectorizer import NgramVectorizer

BIAS = "(bias)"


@dataclass(frozen=True)
class Explanation:
    """The contribution of each pair of n-grams to the cosine of two texts.

    Contributions sum to the cosine. With a linear encoder, each one is the dot product of two
    n-gram vectors, divided by the norms of the embeddings. With a non-linearity h, each dimension
    of a text is scaled by its gain h(z) / z.

    Attributes:
        cosine: Cosine of the two embeddings.
        left: N-grams of the left text that have a vector, in order, then `"(bias)"`; for a text
            with a misspelled word, those of the text as it is read, then as it is written.
        right: The same for the right text.
        contributions: float `(len(left), len(right))`.
    """

    cosine: float
    left: list[str]
    right: list[str]
    contributions: np.ndarray

    def top(self, k: int = 10) -> list[tuple[str, str, float]]:
        """Returns the `k` largest (left, right, contribution), summed over equal pairs."""
        lefts, rows = distinct(self.left)
        rights, columns = distinct(self.right)
        totals = np.zeros((len(lefts), len(rights)))
        # Repeated indices must add up, which `+=` with an index array would not do.
        np.add.at(totals, np.ix_(rows, columns), self.contributions)
        best = np.argsort(-totals, axis=None, kind="stable")[:k]
        largest = []
        for flat_index in best.tolist():
            i, j = divmod(flat_index, len(rights))
            largest.append((lefts[i], rights[j], float(totals[i, j])))
        return largest


def explain(
    vectorizer: NgramVectorizer, encoder: keras.layers.Layer, left: str, right: str
) -> Explanation:
    """Explains the cosine of two texts.

    Raises:
        ConfigError: The encoder is not a sum over n-grams, the model was folded, or a text is not a
            string.
    """
    if not isinstance(encoder, Charagram):
        raise ConfigError(f"Only charagram encoders can be explained. Received: {encoder.name}")
    for text in (left, right):
        if not isinstance(text, str | bytes):
            raise ConfigError(f"A text to explain must be a string. Received: {text!r}")
    left_names, left_parts = _parts(vectorizer, encoder, left)
    right_names, right_parts = _parts(vectorizer, encoder, right)
    # The parts of a text sum to its embedding, so these products sum to the dot product.
    products = left_parts @ right_parts.T
    left_sum = left_parts.sum(axis=0)
    right_sum = right_parts.sum(axis=0)
    scale = np.linalg.norm(left_sum) * np.linalg.norm(right_sum)
    contributions = np.zeros_like(products)
    # Zero vectors have no direction; their cosine is 0.
    if scale > 1e-12:
        contributions = products / scale
    cosine = float(np.clip(contributions.sum(), -1, 1))
    return Explanation(cosine, left_names, right_names, contributions)


def _parts(
    vectorizer: NgramVectorizer, encoder: Charagram, text: str
) -> tuple[list[str], np.ndarray]:
    """Returns the n-grams of a text and their vectors, float64, which sum to its embedding."""
    names: list[str] = []
    parts = []
    for share, ngrams in vectorizer.weighted_ngrams(text):
        names += [*(name for name, _ in ngrams), BIAS]
        parts.append(share * _parts_of(encoder, [ids for _, ids in ngrams]))
    return names, np.concatenate(parts)


def _parts_of(encoder: Charagram, ids: list[tuple[int, ...]]) -> np.ndarray:
    """Returns the vector of each n-gram and of the bias, which sum to the embedding of all."""
    # A hashed n-gram has several rows, which are added up.
    flat_rows = tf.constant([*chain(*ids)], tf.int64)
    num_rows = tf.constant([*map(len, ids)], tf.int64)
    ragged_rows = tf.RaggedTensor.from_row_lengths(flat_rows, num_rows)
    row_vectors = tf.gather(encoder.sum.table.value, ragged_rows)
    vectors = tf.reduce_sum(row_vectors, axis=1)
    parts = np.vstack([vectors, encoder.bias.numpy()]).astype(np.float64)
    parts *= _gain(parts, encoder.activation)
    if encoder.dense is not None:
        kernel, dense_bias = encoder.dense.get_weights()
        # A product with a matrix is linear, so it applies to each part; the bias goes to the bias.
        parts = parts @ kernel.astype(np.float64)
        parts[-1] += dense_bias
        parts *= _gain(parts, encoder.activation)
    return parts


def _gain(parts: np.ndarray, activation: str) -> np.ndarray:
    """Returns h(z) / z for z, the sum of the parts, float64 `(dim,)`; 1 where z is 0."""
    total = parts.sum(axis=0)
    if activation == "linear":
        return np.ones_like(total)
    values = np.tanh(total) if activation == "tanh" else np.maximum(total, 0)
    # Only the gains of other sums than 0 are written.
    gain = np.ones_like(total)
    return np.divide(values, total, out=gain, where=total != 0)
