"""The charagram encoder and its gradient (Charagram, equation 1)."""

from collections.abc import Sequence

import numpy as np

from . import text as text_reference

ACTIVATIONS = {
    "linear": (lambda z: z, lambda z: np.ones_like(z)),
    "tanh": (np.tanh, lambda z: 1.0 - np.tanh(z) ** 2),
    "relu": (lambda z: np.where(z > 0, z, 0.0), lambda z: np.where(z > 0, 1.0, 0.0)),
}
"""Name -> function and derivative; the derivative of relu at 0 is 0."""


def count_matrix(texts: Sequence[str | bytes], vocabulary: Sequence[str], **options) -> np.ndarray:
    """Counts the vocabulary's n-grams in each text.

    Args:
        texts: Raw texts, `(batch,)`.
        vocabulary: Distinct n-grams, `(V,)`; the orders are the lengths that occur in it.
        **options: Passed to `text.normalize`.

    Returns:
        Counts, `(batch, V)`, float64.
    """
    row_of = {ngram: row for row, ngram in enumerate(vocabulary)}
    orders = {len(ngram) for ngram in vocabulary}
    counts = np.zeros((len(texts), len(vocabulary)))
    for index, text in enumerate(texts):
        for ngram in text_reference.ngrams(text, orders, **options) if orders else []:
            if ngram in row_of:
                counts[index, row_of[ngram]] += 1.0
    return counts


def embed(
    texts: Sequence[str | bytes],
    vocabulary: Sequence[str],
    W: np.ndarray,
    b: np.ndarray,
    h: str = "linear",
    dense: tuple[np.ndarray, np.ndarray] | None = None,
    **options,
) -> np.ndarray:
    """Embeds texts: h(b + the sum of the vectors of all n-grams in V), a repeated one repeatedly.

    Args:
        texts: Raw texts, `(batch,)`.
        vocabulary: n-grams, `(V,)`.
        W: Their vectors, `(V, dim)`.
        b: Bias, `(dim,)`.
        h: "linear", "tanh" or "relu".
        dense: A second layer (K, b2) of shapes `(dim, dense_dim)` and `(dense_dim,)`, which
            gives h(x @ K + b2) for the output x of the first.
        **options: Passed to `text.normalize`.

    Returns:
        `(batch, dim)`, or `(batch, dense_dim)` with a second layer.
    """
    function, _ = ACTIVATIONS[h]
    hidden = function(count_matrix(texts, vocabulary, **options) @ np.asarray(W, float) + b)
    if dense is None:
        return hidden
    K, b2 = dense
    return function(hidden @ np.asarray(K, float) + b2)


def embed_gradient(
    upstream: np.ndarray,
    texts: Sequence[str | bytes],
    vocabulary: Sequence[str],
    W: np.ndarray,
    b: np.ndarray,
    h: str = "linear",
    dense: tuple[np.ndarray, np.ndarray] | None = None,
    **options,
) -> dict[str, np.ndarray]:
    """Differentiates sum(upstream * embed(...)) with respect to the parameters.

    Args:
        upstream: The gradient at the output, of `embed`'s shape.
        texts: As for `embed`, like the other arguments.

    Returns:
        "W" `(V, dim)` and "b" `(dim,)`; with a second layer also "K" `(dim, dense_dim)` and
        "b2" `(dense_dim,)`.
    """
    function, derivative = ACTIVATIONS[h]
    counts = count_matrix(texts, vocabulary, **options)
    first = counts @ np.asarray(W, float) + b
    gradients = {}
    at_hidden = np.asarray(upstream, float)
    if dense is not None:
        K, b2 = dense
        hidden = function(first)
        at_second = at_hidden * derivative(hidden @ np.asarray(K, float) + b2)
        gradients["K"] = hidden.T @ at_second
        gradients["b2"] = at_second.sum(axis=0)
        at_hidden = at_second @ np.asarray(K, float).T
    at_first = at_hidden * derivative(first)
    gradients["W"] = counts.T @ at_first
    gradients["b"] = at_first.sum(axis=0)
    return gradients
