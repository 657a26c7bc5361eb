"""Explains similarity: the cosine of two texts as a sum over pairs of n-grams."""

from __future__ import annotations

from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError
from tf_charagram.text.tensors import distinct
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
        left: N-grams of the left text that have a vector, in order, then `"(bias)"`.
        right: The same for the right text.
        contributions: float `(len(left), len(right))`.
    """

    cosine: float
    left: list[str]
    right: list[str]
    contributions: np.ndarray

    def top(self, k: int = 10) -> list[tuple[str, str, float]]:
        """Returns the `k` largest (left, right, contribution), summed over equal pairs."""
        (lefts, rows), (rights, columns) = distinct(self.left), distinct(self.right)
        totals = np.zeros((len(lefts), len(rights)))
        np.add.at(totals, np.ix_(rows, columns), self.contributions)
        best = np.argsort(-totals, axis=None, kind="stable")[:k]
        return [
            (lefts[i], rights[j], float(totals[i, j]))
            for i, j in zip(*np.unravel_index(best, totals.shape), strict=True)
        ]


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
    names, parts = zip(*(_parts(vectorizer, encoder, text) for text in (left, right)), strict=True)
    lengths = [np.linalg.norm(part.sum(axis=0)) for part in parts]
    scale = lengths[0] * lengths[1]
    products = parts[0] @ parts[1].T
    contributions = products / scale if scale > 1e-12 else np.zeros_like(products)
    cosine = float(np.clip(contributions.sum(), -1, 1))
    return Explanation(cosine, names[0], names[1], contributions)


def _parts(
    vectorizer: NgramVectorizer, encoder: Charagram, text: str
) -> tuple[list[str], np.ndarray]:
    """Returns the n-grams of a text and their vectors, float64, which sum to its embedding."""
    ngrams = vectorizer.ngrams(text)
    ids = tf.RaggedTensor.from_row_lengths(
        np.array([row for _, ids in ngrams for row in ids], np.int64),
        np.array([len(ids) for _, ids in ngrams], np.int64),
    )
    vectors = tf.gather(encoder.sum.table.value, ids)
    rows = tf.reduce_sum(vectors, axis=1).numpy()
    parts = np.concatenate([rows, encoder.bias.numpy()[np.newaxis]]).astype(np.float64)
    parts = parts * _gain(parts, encoder.activation)
    if encoder.dense is not None:
        kernel, bias = (np.asarray(weight, np.float64) for weight in encoder.dense.get_weights())
        parts = parts @ kernel
        parts[-1] += bias
        parts = parts * _gain(parts, encoder.activation)
    return [*(name for name, _ in ngrams), BIAS], parts


def _gain(parts: np.ndarray, activation: str) -> np.ndarray:
    total = parts.sum(axis=0)
    activated = {"linear": total, "tanh": np.tanh(total), "relu": np.maximum(total, 0)}[activation]
    return np.divide(activated, total, out=np.ones_like(total), where=total != 0)
