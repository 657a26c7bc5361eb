"""Lengths of word and n-gram vectors, that is their weights in a sum (Universal, section 6)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from research.analysis.neighbors import ngram_vectors
from research.analysis.table import Cell, Table
from tf_charagram.errors import ConfigError, check_positive
from tf_charagram.evaluation._scores.statistics import spearman
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text._algorithm.tensors import string_tensor

Floats = NDArray[np.float64]
#: Minimum number of words for the mean of a part of speech.
_MIN_WORDS = 20


def word_norms(
    embedders: Mapping[str, TextEmbedder],
    counts: Mapping[str, int],
    tags: Mapping[str, str] | None = None,
    *,
    k: int = 10,
) -> Table:
    """Compares the lengths of word vectors with frequency and part of speech.

    A word is embedded as a text of one word.

    Args:
        embedders: Name -> embedder.
        counts: Word -> its count in the training data.
        tags: Word -> its part of speech.
        k: Number of the longest and of the shortest shown.

    Returns:
        Columns: what, and a value or words of each model: the rank correlation of length with
        frequency, the words of the longest and shortest vectors, and, with tags, the mean length
        of each part of speech over the mean of all.

    Raises:
        ConfigError: There are fewer than 2 words.
    """
    words = list(counts)
    if len(words) < 2:
        raise ConfigError(f"`counts` must have at least 2 words. Received: {len(words)}")
    check_positive(k=k)
    frequencies = np.array([counts[word] for word in words], np.float64)
    norms = {name: _norms(embedder.encode(words)) for name, embedder in embedders.items()}
    rows = _summary(words, norms, frequencies, k)
    if tags:
        rows += _by_tag(words, norms, tags)
    title = f"Lengths of the vectors of {len(words):,} words"
    return Table(title, ("what", *norms), tuple(rows))


def ngram_norms(
    embedders: Mapping[str, TextEmbedder], texts: Iterable[str], *, k: int = 10
) -> Table:
    """Compares the lengths of n-gram vectors with the frequency of the n-grams in texts.

    Args:
        embedders: Name -> embedder with a vocabulary of n-grams.
        texts: The training texts.
        k: Number of the longest and of the shortest shown.

    Returns:
        Columns: what, and a value or n-grams of each model: the rank correlation of length with
        frequency, the n-grams of the longest and shortest vectors, and the mean length of each
        order over the mean of all.

    Raises:
        ConfigError: A model has no vectors of single n-grams, or `k` is below 1.
    """
    check_positive(k=k)
    texts = list(dict.fromkeys(texts))
    columns: list[dict[Cell, Cell]] = []
    for embedder in embedders.values():
        names, vectors = ngram_vectors(embedder)
        norms = {"": _norms(vectors)}
        frequencies = _ngram_counts(embedder, texts, len(names))
        shown = [name.replace(" ", "_") for name in names]
        rows = _summary(shown, norms, frequencies, k)
        lengths = np.array([len(name) for name in names])
        for order in embedder.vectorizer.orders:
            of_order = np.flatnonzero(lengths == order)
            mean = _percent(norms[""], of_order) if len(of_order) else None
            rows.append((f"{order}-grams, % of the mean length", mean))
        columns.append({label: cell for label, cell in rows})
    labels = list(dict.fromkeys(label for column in columns for label in column))
    rows = [(label, *(column.get(label) for column in columns)) for label in labels]
    return Table("Lengths of the vectors of n-grams", ("what", *embedders), tuple(rows))


def _norms(vectors: NDArray[np.float32]) -> Floats:
    return np.linalg.norm(vectors.astype(np.float64), axis=1)


def _summary(
    names: Sequence[str], norms: Mapping[str, Floats], frequencies: Floats, k: int
) -> list[tuple[Cell, ...]]:
    def extremes(values: Floats, sign: int) -> str:
        return ", ".join(names[i] for i in np.argsort(sign * values, kind="stable")[:k])

    correlations = [spearman(values, frequencies) for values in norms.values()]
    return [
        ("length and frequency, Spearman x 100",
         *(None if value is None else 100 * value for value in correlations)),
        ("longest", *(extremes(values, -1) for values in norms.values())),
        ("shortest", *(extremes(values, 1) for values in norms.values())),
    ]  # fmt: skip


def _by_tag(
    words: Sequence[str], norms: Mapping[str, Floats], tags: Mapping[str, str]
) -> list[tuple[Cell, ...]]:
    """Returns the mean length of each part of speech over the mean of all, most words first."""
    rows_of: dict[str, list[int]] = defaultdict(list)
    for row, word in enumerate(words):
        if word in tags:
            rows_of[tags[word]].append(row)
    frequent = sorted(rows_of.items(), key=lambda item: -len(item[1]))

    return [
        (f"{tag}, {len(rows):,} words, % of the mean length",
         *(_percent(values, rows) for values in norms.values()))
        for tag, rows in frequent if len(rows) >= _MIN_WORDS
    ]  # fmt: skip


def _percent(values: Floats, rows: Sequence[int] | NDArray[np.intp]) -> float:
    """Returns the mean of some values over the mean of all, x 100."""
    return float(100 * values[rows].mean() / max(values.mean(), 1e-12))


def most_frequent_tags(sentences: Iterable[Sequence[tuple[str, str]]]) -> dict[str, str]:
    """Returns the most frequent tag of each word, lower-cased, of tagged sentences."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        for word, tag in sentence:
            counts[word.lower()][tag] += 1
    return {word: tags.most_common(1)[0][0] for word, tags in counts.items()}


def _ngram_counts(embedder: TextEmbedder, texts: Sequence[str], num_rows: int) -> Floats:
    counts = np.zeros(num_rows)
    for start in range(0, len(texts), 1000):
        batch = string_tensor(texts[start : start + 1000])
        ids = embedder.vectorizer(batch)
        counts += np.bincount(ids.values.numpy(), minlength=num_rows)
    return counts
