"""Nearest neighbours of words and n-grams (Charagram, tables 8 to 10; Universal, table 8)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import tensorflow as tf

from research.analysis.table import Table
from tf_charagram.errors import ConfigError, check_positive
from tf_charagram.evaluation._scores.scores import Embed
from tf_charagram.models._answers.vectors import unit_rows
from tf_charagram.models.embedder import TextEmbedder

#: The bigrams of Charagram, table 8, and the words of its table 9 and of Universal, table 8.
BIGRAMS = ("not capable", "not able", "not possible", "not sufficient", "not easy")
CHARAGRAM_WORDS = (
    "vehicals", "serious-looking", "near-impossible", "growths", "litered", "journeying",
    "babyyyyyy", "adirty", "refunding", "professors", "huge",
)  # fmt: skip
UNIVERSAL_WORDS = ("unlike", "2", "ladies", "lookin", "disagree")
#: The n-grams of Charagram, table 10.
NGRAMS = ("die", "foo", "pee", "aiv", "ngu", " 2")


def nearest_texts(
    models: Mapping[str, Embed],
    queries: Sequence[str],
    texts: Sequence[str],
    *,
    k: int = 8,
    known: Collection[str] | None = None,
) -> Table:
    """Finds the texts nearest to some queries with each model.

    Args:
        models: Name -> function to vectors of unit length, `(num_texts, dim)`.
        queries: Words, bigrams or any texts.
        texts: Candidates; the query itself is left out.
        k: Neighbours of each query.
        known: Queries seen in training; adds a column.

    Returns:
        One row per query; one column of neighbours per model, nearest first.

    Raises:
        ConfigError: There are no queries or no texts, or `k` is below 1.
    """
    if not queries or not texts or k < 1:
        raise ConfigError(
            f"Neighbours need queries, texts and k of at least 1. Received: {len(queries)} "
            f"queries, {len(texts)} texts, k={k}"
        )
    texts = list(dict.fromkeys(texts))
    columns = [_neighbors(embed, queries, texts, k) for embed in models.values()]
    seen = [] if known is None else [["yes" if query in known else "no" for query in queries]]
    rows = zip(queries, *seen, *columns, strict=True)
    names = ("text", *(["seen in training"] if seen else []), *models)
    return Table(f"Nearest among {len(texts):,} texts", names, tuple(rows))


def nearest_ngrams(models: Mapping[str, TextEmbedder], ngrams: Sequence[str], k: int = 10) -> Table:
    """Finds the nearest n-grams of n-grams, by their own vectors.

    Args:
        models: Name -> embedder with a vocabulary of n-grams.
        ngrams: n-grams; spaces show where a word starts or ends.
        k: Neighbours of each.

    Returns:
        One row per n-gram; one column of neighbours per model, spaces written as `_`, and a dash
        if a model has no vector of the n-gram.

    Raises:
        ConfigError: A model has no n-grams with vectors, or `k` is below 1.
    """
    check_positive(k=k)
    columns: list[list[str | None]] = []
    for embedder in models.values():
        names, vectors = ngram_vectors(embedder)
        unit, rows = unit_rows(vectors), {name: row for row, name in enumerate(names)}
        column: list[str | None] = []
        for ngram in ngrams:
            row = rows.get(ngram)
            if row is None:
                column.append(None)
                continue
            nearest = np.argsort(-(unit @ unit[row]), kind="stable")[: k + 1]
            # A zero vector is not the nearest to itself.
            others = [names[i] for i in nearest if i != row]
            column.append(", ".join(map(_visible, others[:k])))
        columns.append(column)
    rows_of = zip(map(_visible, ngrams), *columns, strict=True)
    return Table("Nearest n-grams by their own vectors", ("n-gram", *models), tuple(rows_of))


def ngram_vectors(embedder: TextEmbedder) -> tuple[list[str], np.ndarray]:
    """Returns the n-grams of an embedder and their vectors, float32 `(num_ngrams, dim)`.

    Raises:
        ConfigError: It reads words or characters, hashes n-grams, or was folded.
    """
    vocabulary = getattr(embedder.vectorizer, "vocabulary", None)
    if vocabulary is None or embedder.vectorizer.longest_only:
        raise ConfigError(
            f"The encoder {embedder.encoder.name} has no vectors of single n-grams. Analyze a "
            "charagram model with a vocabulary."
        )
    return vocabulary.ngrams(), tf.convert_to_tensor(embedder.encoder.sum.table).numpy()


def _neighbors(embed: Embed, queries: Sequence[str], texts: list[str], k: int) -> list[str]:
    vectors = embed(texts)
    nearest = []
    for query, vector in zip(queries, embed(list(queries)), strict=True):
        order = np.argsort(-(vectors @ vector), kind="stable")[: k + 1]
        nearest.append(", ".join([texts[i] for i in order if texts[i] != query][:k]))
    return nearest


def _visible(ngram: str) -> str:
    return ngram.replace(" ", "_")
