"""Scores by the number of unknown words or n-grams (Charagram, table 6)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from research.analysis.pairs import JudgedPairs, judge, scores_of
from research.analysis.table import Table
from research.analysis.words import words_of
from tf_charagram.data._tables.scored import ScoredPairs
from tf_charagram.errors import ConfigError
from tf_charagram.evaluation._scores.scores import Embed
from tf_charagram.text._algorithm.tensors import string_tensor
from tf_charagram.text.vectorizer import NgramVectorizer

#: Lowest and highest number of each bin of the paper's table 6; `None` for no bound.
_WORD_BINS = ((0, 0), (1, 1), (2, 2), (1, None), (0, None))
_NGRAM_BINS = ((0, 0), (1, 2), (3, 5), (6, None), (1, None), (0, None))


def scores_by_unknown_words(
    models: Mapping[str, Embed], sets: Sequence[ScoredPairs], known: Collection[str]
) -> Table:
    """Scores models on pairs by the number of unknown words in both texts, over all sets together.

    Args:
        models: Name -> function to vectors of unit length, `(num_texts, dim)`.
        sets: The sets, whose scores share a scale.
        known: The known words, lowercase.

    Returns:
        Columns: unknown words, pairs, and Pearson x 100 of each model.

    Raises:
        ConfigError: No word is known, or there is no set.
    """
    known = frozenset(known)
    if not known:
        raise ConfigError("`known` must have at least 1 word. Received: none")
    judged = judge(models, sets)
    numbers = np.zeros(len(judged), np.intp)
    for side in (judged.left, judged.right):
        # Punctuation marks are not words.
        numbers += [
            sum(word not in known for word in words if any(map(str.isalnum, word)))
            for words in words_of(side)
        ]
    return _table("unknown words", judged, numbers, _WORD_BINS)


def scores_by_unknown_ngrams(
    models: Mapping[str, Embed], sets: Sequence[ScoredPairs], vectorizer: NgramVectorizer
) -> Table:
    """Scores models on pairs by the number of n-grams in both texts without a vector.

    Args:
        models: Name -> function to vectors of unit length, `(num_texts, dim)`.
        sets: The sets, whose scores share a scale.
        vectorizer: The vectorizer with the known n-grams.

    Returns:
        Columns: unknown n-grams, pairs, and Pearson x 100 of each model.

    Raises:
        ConfigError: The vectorizer hashes and therefore knows every n-gram, or there is no set.
    """
    if vectorizer.vocabulary is None:
        raise ConfigError("With `hash_buckets` every n-gram has a vector: none is unknown.")
    judged = judge(models, sets)
    numbers = np.zeros(len(judged), np.intp)
    for side in (judged.left, judged.right):
        numbers += _num_unknown(vectorizer, side)
    return _table("unknown n-grams", judged, numbers, _NGRAM_BINS)


def _num_unknown(vectorizer: NgramVectorizer, texts: Sequence[str]) -> NDArray[np.intp]:
    """Counts the n-grams of each text that are not in the vocabulary."""
    encoded = string_tensor(texts)
    batch = vectorizer.reader(encoded)
    starts, ends = batch.starts, batch.ends
    # With the spaces at both ends; an empty text has no n-grams.
    lengths = np.where(ends > starts, ends - starts + 1, 0)
    in_all = sum(np.maximum(0, lengths - order + 1) for order in vectorizer.orders)
    return in_all - vectorizer(encoded).row_lengths().numpy()


def _table(
    what: str,
    judged: JudgedPairs,
    numbers: NDArray[np.intp],
    bins: Sequence[tuple[int, int | None]],
) -> Table:
    rows = []
    for low, high in bins:
        chosen = (numbers >= low) & (numbers <= (np.inf if high is None else high))
        label = f">= {low}" if high is None else str(low) if low == high else f"{low}-{high}"
        rows.append((label, int(chosen.sum()), *scores_of(judged, chosen)))
    title = f"Scores by the number of {what} in a pair, Pearson x 100"
    return Table(title, (what, "pairs", *judged.cosines), tuple(rows))
