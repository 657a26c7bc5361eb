"""Folds n-gram tables: one row per position instead of one row per n-gram.

Several n-grams start at each position of a text: `c`, `ca`, `cat`. The longest n-gram with a row
determines which of its prefixes have rows, so their rows can be added to its row in advance. With
orders 2 to 4, a text then is a sum of fewer than half as many rows. Frequently read rows come first
in the table, which makes another 5 %.
"""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf

from tf_charagram._common.devices import on_cpu
from tf_charagram.layers.embedding_table import read_in_place, unfilled_tables
from tf_charagram.text.vocabulary import NgramVocabulary

_CHUNK = 8192


@on_cpu
def fold(
    vectorizer: keras.layers.Layer, encoder: keras.layers.Layer
) -> tuple[keras.layers.Layer, keras.layers.Layer]:
    """Returns a vectorizer and an encoder that compute the same vectors, up to rounding, faster.

    They are returned unchanged if the encoder has no `ngram_table`, n-grams are hashed, or the keys
    of the vocabulary are mixed.
    """
    vocabulary: NgramVocabulary | None = getattr(vectorizer, "vocabulary", None)
    has_table = hasattr(encoder, "ngram_table")
    if vocabulary is None or vectorizer.longest_only or not has_table:
        return vectorizer, encoder
    prefixes = vocabulary.prefixes()
    if prefixes is None:  # The keys of the vocabulary are mixed, so they have no prefixes.
        return vectorizer, encoder
    with unfilled_tables():
        folded = type(encoder).from_config(encoder.get_config())
    for weight, old in zip(folded.weights, encoder.weights, strict=True):
        weight.assign(old)
    table = _fold_table(encoder.ngram_table.numpy(), prefixes)
    order = _most_read_first(vocabulary.counts, prefixes)
    folded_table = folded.ngram_table.value
    # In chunks, because a copy of the table may not fit into memory.
    for first in range(0, len(order), _CHUNK):
        rows = order[first : first + _CHUNK]
        positions = tf.range(first, first + len(rows))
        update = tf.IndexedSlices(table[rows], positions)
        folded_table.scatter_update(update)
    read_in_place(folded_table)
    # The vocabulary must have the order of the table's rows.
    state = vectorizer.state()
    state["keys"] = state["keys"][order]
    state["counts"] = state["counts"][order]
    config = {**vectorizer.settings(), "longest_only": True}
    return type(vectorizer).from_state(config, state), folded


def _most_read_first(counts: np.ndarray, prefixes: np.ndarray) -> np.ndarray:
    """Returns the rows of a folded table, most frequently read first.

    A row is read only where no longer n-gram has a row.

    Args:
        counts: Count of each n-gram, int64 `(size,)`.
        prefixes: Row of the longest known proper prefix of each n-gram, or -1, int64 `(size,)`.
    """
    reads = counts.copy()
    has_prefix = prefixes >= 0
    # Several n-grams share a prefix: `-=` would subtract only one of them.
    np.subtract.at(reads, prefixes[has_prefix], counts[has_prefix])
    return np.argsort(-reads, kind="stable")


def _fold_table(table: np.ndarray, prefixes: np.ndarray) -> np.ndarray:
    """Adds to the row of each n-gram the rows of its known prefixes, in place; returns the table.

    Args:
        table: float32 `(size, dim)`.
        prefixes: Row of the longest known proper prefix of each n-gram, or -1, int64 `(size,)`.
    """
    is_done = prefixes < 0
    # The row of a prefix must be complete before it is added: one round per n-gram length.
    while not is_done.all():
        ready = np.flatnonzero(~is_done & is_done[prefixes])
        for start in range(0, len(ready), _CHUNK):
            rows = ready[start : start + _CHUNK]
            table[rows] += table[prefixes[rows]]
        is_done[ready] = True
    return table
