"""Character n-grams for words without an id of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary

_PREFIX = "ngram_"
# Words are normalized already, and from truncated texts.
_AS_IT_IS: dict[str, Any] = {"lowercase": False, "unicode_form": None, "max_chars": None}


def ngrams_of_words(words: Iterable[str], orders: Sequence[int]) -> NgramVocabulary:
    """Returns the n-grams of words, each with a space before and after it.

    Args:
        words: The words that teach the n-grams, normalized.
        orders: n-gram orders, 1 to 8 in any combination.

    Raises:
        ConfigError: An order is out of range, or there is no n-gram.
    """
    return NgramVocabulary.from_texts(words, orders=orders, **_AS_IT_IS)


class UnknownWords(tf.Module):
    """Inserts the ids of the n-grams of each unknown word after its own id.

    Args:
        vocabulary: The n-grams that have an id.
        unknown: The id of unknown words.
        first_id: The id of the first n-gram.

    Call arguments:
        words: String `tf.RaggedTensor` `(batch, None)`, normalized words.
        ids: Their ids, int32 `(num_words,)`.

    Returns:
        `tf.RaggedTensor` int32 `(batch, None)`.
    """

    def __init__(self, vocabulary: NgramVocabulary, unknown: int, first_id: int) -> None:
        super().__init__()
        self.unknown = unknown
        self.first_id = first_id
        self._ngrams = NgramVectorizer(vocabulary=vocabulary, **_AS_IT_IS)

    @property
    def resources(self) -> list[Any]:
        """Resources that a SavedModel holds besides the graph."""
        return self._ngrams.resources

    def __call__(self, words: tf.RaggedTensor, ids: tf.Tensor) -> tf.RaggedTensor:
        """Returns the ids of the words and of the n-grams of unknown ones."""
        # The empty text has no n-grams.
        parts = self._ngrams(tf.where(tf.equal(ids, self.unknown), words.values, ""))
        num_words, num_parts = tf.size(ids), tf.size(parts.values)
        # Where each word begins, and at last where all end.
        begins = tf.cast(parts.row_splits, tf.int32) + tf.range(num_words + 1)
        behind = tf.range(num_parts) + tf.cast(parts.value_rowids(), tf.int32) + 1
        values = tf.dynamic_stitch([begins[:-1], behind], [ids, parts.values + self.first_id])
        splits = tf.cast(tf.gather(begins, words.row_splits), tf.int64)
        return tf.RaggedTensor.from_row_splits(values, splits, validate=False)


def to_state(vocabulary: NgramVocabulary | None) -> dict[str, np.ndarray]:
    """Returns the n-grams as arrays, named apart from those of a word vectorizer."""
    arrays = {} if vocabulary is None else vocabulary.to_arrays()
    return {_PREFIX + name: array for name, array in arrays.items()}


def from_state(state: dict[str, np.ndarray]) -> NgramVocabulary | None:
    """Restores the n-grams from the arrays of a word vectorizer, if there are any."""
    arrays = {
        name.removeprefix(_PREFIX): array
        for name, array in state.items()
        if name.startswith(_PREFIX)
    }
    return NgramVocabulary.from_arrays(arrays) if arrays else None
