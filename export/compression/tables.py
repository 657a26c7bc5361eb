"""Prunes the rows of a table, or projects it to fewer columns."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np

from tf_charagram.encoders.averaging import WordAverage
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary


def can_prune(vectorizer: keras.layers.Layer) -> bool:
    """Returns whether n-grams can be dropped: each must have a row of its own that is not a sum."""
    is_ngrams = isinstance(vectorizer, NgramVectorizer)
    return is_ngrams and vectorizer.vocabulary is not None and not vectorizer.longest_only


def can_project(encoder: keras.layers.Layer) -> bool:
    """Returns whether embeddings are linear in the table, so that it can be projected."""
    if type(encoder) is Charagram:
        return encoder.activation == "linear" and encoder.num_layers == 1
    return type(encoder) is WordAverage


def pruned(
    vectorizer: keras.layers.Layer,
    encoder: keras.layers.Layer,
    max_ngrams: int,
    count_power: float = 1.0,
) -> tuple[keras.layers.Layer, keras.layers.Layer]:
    """Keeps the n-grams with the largest count times norm of their row.

    Args:
        vectorizer: N-gram vectorizer with a vocabulary, not folded.
        encoder: Encoder that sums the rows of n-grams.
        max_ngrams: Number of n-grams to keep, at most.
        count_power: Exponent of the count. Below 1 it favors n-grams that are rare in running
            text, which single words need if the vocabulary was counted in sentences.

    Raises:
        ConfigError: There is no vocabulary, or the n-grams are folded.
    """
    if not can_prune(vectorizer):
        raise ConfigError(
            "`max_ngrams` needs a vocabulary of n-grams, each with a row of its own: a model that "
            "is not hashed, not folded and not of words. Use `dtype` or `dim`."
        )
    old = vectorizer.vocabulary
    if max_ngrams >= len(old):
        return vectorizer, encoder
    norms = np.linalg.norm(encoder.ngram_table.numpy(), axis=1)
    weights = old.counts.astype(np.float64) ** count_power * norms
    rows = np.sort(np.argsort(-weights, kind="stable")[:max_ngrams])
    vocabulary = NgramVocabulary(old.orders, old.alphabet, old.keys[rows], old.counts[rows])
    values = [
        weight.numpy()[rows] if weight is encoder.ngram_table else weight.numpy()
        for weight in encoder.weights
    ]
    smaller = vectorizer.with_parts(vocabulary, vectorizer.dictionary)
    return smaller, _remade(encoder, values, num_rows=len(rows))


def projected(encoder: keras.layers.Layer, dim: int) -> keras.layers.Layer:
    """Projects embeddings onto the principal directions of the table.

    These are the `dim` eigenvectors of R^T R with the largest eigenvalues, where R is the table.
    No mean is subtracted, so cosines are those of the original embeddings in the subspace.

    Args:
        encoder: Encoder that is linear in its table: `charagram` with a linear layer, or
            `word_average`.
        dim: Width of the new embedding, at most that of the encoder.

    Raises:
        ConfigError: The encoder is not linear, or is narrower than `dim`.
    """
    if not can_project(encoder):
        raise ConfigError(
            "`dim` needs an embedding that is linear in its table: `charagram` with a linear "
            f"activation and one layer, or `word_average`. Received: {encoder.name}."
        )
    if dim > encoder.dim:
        raise ConfigError(
            f"`dim` must be at most that of the model, {encoder.dim}. Received: dim={dim}"
        )
    if dim == encoder.dim:
        return encoder
    # The table, and for `charagram` the bias.
    values = [weight.numpy() for weight in encoder.weights]
    table = next(value for value in values if value.ndim == 2)
    _, directions = np.linalg.eigh((table.T @ table).astype(np.float64))
    largest = directions[:, ::-1][:, :dim].astype(np.float32)
    return _remade(encoder, [value @ largest for value in values], dim=dim)


def _remade(
    encoder: keras.layers.Layer, values: list[np.ndarray], **changes: Any
) -> keras.layers.Layer:
    """Returns a copy of an encoder with other options and weights."""
    remade = type(encoder).from_config({**encoder.get_config(), **changes})
    remade.set_weights(values)
    return remade
