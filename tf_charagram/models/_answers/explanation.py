"""Explains similarity: the cosine of two texts as a sum over pairs of n-grams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tf_charagram.text._algorithm.arguments import distinct

BIAS = "(bias)"


class EncoderLayers(NamedTuple):
    """The layers of an encoder after the sum of the rows of a text's n-grams.

    Attributes:
        bias: Added to the sum, float32 `(dim,)`.
        activation: The non-linearity.
        dense: Kernel, float32 `(dim, dim)`, and bias of the second layer, or `None`.
    """

    bias: NDArray[np.floating]
    activation: Callable[[np.ndarray], np.ndarray]
    dense: tuple[NDArray[np.floating], NDArray[np.floating]] | None

    def applied(self, sums: NDArray[np.float32]) -> NDArray[np.float32]:
        """Returns the embeddings of texts, `(num_texts, dim)`, from sums of rows."""
        vectors = self.activation(sums + self.bias)
        if self.dense is None:
            return vectors
        kernel, bias = self.dense
        return self.activation(vectors @ kernel + bias)


class Parts(NamedTuple):
    """A text as the sum of its n-grams.

    Attributes:
        text: The text as it is read, with a space at both ends; if some word may be right as it is
            written, then the text as written.
        spans: Start and end of each n-gram in it.
        vectors: Vectors of the n-grams, then of the bias, float64 `(num_ngrams + 1, dim)`; they sum
            to the embedding.
    """

    text: str
    spans: Sequence[tuple[int, int]]
    vectors: NDArray[np.float64]


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


def explain(left: Parts, right: Parts) -> Explanation:
    """Explains the cosine of two texts."""
    # The parts of a text sum to its embedding, so these products sum to the dot product.
    products = left.vectors @ right.vectors.T
    left_sum = left.vectors.sum(axis=0)
    right_sum = right.vectors.sum(axis=0)
    scale = np.linalg.norm(left_sum) * np.linalg.norm(right_sum)
    contributions = np.zeros_like(products)
    # Zero vectors have no direction; their cosine is 0.
    if scale > 1e-12:
        contributions = products / scale
    cosine = float(np.clip(contributions.sum(), -1, 1))
    return Explanation(cosine, _names(left), _names(right), contributions)


def mixed(share: float, read: Parts, written: Parts) -> Parts:
    """Joins two readings of a text, one after the other.

    Args:
        share: Share of the first reading in the embedding.
        read: The text as it is read.
        written: The text as it is written.
    """
    shift = len(read.text)
    spans = [(start + shift, end + shift) for start, end in written.spans]
    *ngrams, bias = share * read.vectors
    *other_ngrams, other_bias = (1 - share) * written.vectors
    vectors = np.stack([*ngrams, *other_ngrams, bias + other_bias])
    return Parts(read.text + written.text, [*read.spans, *spans], vectors)


def _names(parts: Parts) -> list[str]:
    names = [parts.text[start:stop] for start, stop in parts.spans]
    return [*names, BIAS]


def summands(rows: NDArray[np.floating], layers: EncoderLayers) -> NDArray[np.float64]:
    """Returns vectors of n-grams and of the bias that sum to the embedding of their text.

    Args:
        rows: The row of each n-gram, `(num_ngrams, dim)`.
        layers: The layers of the encoder after their sum.

    Returns:
        float64 `(num_ngrams + 1, dim)`.
    """
    vectors = np.vstack([rows, layers.bias]).astype(np.float64)
    vectors *= _gain(vectors, layers.activation)
    if layers.dense is not None:
        kernel, dense_bias = layers.dense
        # A product with a matrix is linear, so it applies to each part; the bias goes to the bias.
        vectors = vectors @ kernel.astype(np.float64)
        vectors[-1] += dense_bias
        vectors *= _gain(vectors, layers.activation)
    return vectors


def _gain(
    vectors: NDArray[np.float64], activation: Callable[[np.ndarray], np.ndarray]
) -> NDArray[np.float64]:
    """Returns h(z) / z for z, the sum of the vectors, `(dim,)`; 1 where z is 0."""
    total = vectors.sum(axis=0)
    # Only the gains of other sums than 0 are written.
    gain = np.ones_like(total)
    return np.divide(activation(total), total, out=gain, where=total != 0)
