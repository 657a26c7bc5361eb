"""Tf-idf of the character n-grams of words: vectors that need no model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from unicodedata import normalize

import numpy as np
from scipy import sparse

from tf_charagram.text.folding import INVISIBLE, PLAIN
from tf_charagram.text.tensors import decoded, ids_function, texts_of
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary

_ORDERS = (2, 3)
_DROPPED = "".join(map(chr, (*INVISIBLE, *range(0x300, 0x370))))
_RUN_OF_WORD = re.compile(rf"[\w{_DROPPED}]+")
_FOLDED = str.maketrans({**PLAIN, **dict.fromkeys(_DROPPED)})
_BATCH = 10_000


def words_in(texts: Iterable[str]) -> list[list[str]]:
    """Returns the words of each text, in lowercase without accents.

    A word is a run of letters, digits and underscores. In a text without any, words are separated
    by white space.
    """
    bags = []
    folded = _FoldedWords()
    for text in texts:
        lowered = text.lower()
        words = _RUN_OF_WORD.findall(lowered) or lowered.split()
        bags.append(words if text.isascii() else [folded[word] for word in words])
    return bags


class _FoldedWords(dict[str, str]):
    """The form of each word without accents, made when it is first asked for."""

    def __missing__(self, word: str) -> str:
        form = normalize("NFKC", normalize("NFKD", word).translate(_FOLDED)).lower()
        self[word] = form or word
        return self[word]


class CharacterTfidf:
    """Embeds texts by the tf-idf of the character n-grams of their words, fitted on a list.

    N-grams have 2 or 3 characters of a word with a space at both ends. The weight of an n-gram
    that occurs `count` times in a text and in `df` of `n` texts is
    `(1 + log(count)) * (1 + log((1 + n) / (1 + df)))`; rows are divided by their length. These are
    the numbers of scikit-learn's `TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3),
    sublinear_tf=True)` for texts of `words_in`, joined by spaces.

    Args:
        texts: The texts to count n-grams in.

    Raises:
        ConfigError: `texts` is a single string or contains other values.

    Example:
        >>> tfidf = CharacterTfidf(["cat", "cats", "dog"])
        >>> (tfidf.transform(["catz"]) @ tfidf.transform(["cat", "dog"]).T).toarray().round(2)
        array([[0.91, 0.  ]])
    """

    def __init__(self, texts: Iterable[str | bytes]) -> None:
        bags = words_in(map(decoded, texts_of(texts, "texts")))
        words, counts = _word_counts(bags)
        self._ids = None
        self._idf = np.zeros(0, np.float32)
        if not words:
            return
        vocabulary = NgramVocabulary.from_texts(words, orders=_ORDERS, max_chars=None)
        self._ids = ids_function(NgramVectorizer(vocabulary=vocabulary, max_chars=None))
        counts = counts @ self._ngrams(words, len(vocabulary))
        df = np.bincount(counts.indices, minlength=len(vocabulary))
        self._idf = (1 + np.log((1 + len(bags)) / (1 + df))).astype(np.float32)

    def transform(self, texts: Iterable[str | bytes]) -> sparse.csr_array:
        """Returns the vectors of texts, float32 `(num_texts, num_ngrams)`, of length 1 or 0.

        Args:
            texts: As for the class; n-grams that none of its texts has are ignored.

        Raises:
            ConfigError: `texts` is a single string or contains other values.
        """
        return self.transform_words(words_in(map(decoded, texts_of(texts, "texts"))))

    def transform_words(self, bags: Sequence[Sequence[str]]) -> sparse.csr_array:
        """Returns the vectors of texts that are given as their words, see `transform`."""
        words, counts = _word_counts(bags)
        vectors = counts @ self._ngrams(words, len(self._idf))
        vectors.data = (1 + np.log(vectors.data)) * self._idf[vectors.indices]
        squares = np.append(0, np.cumsum(vectors.data.astype(np.float64) ** 2))
        lengths = np.sqrt(np.diff(squares[vectors.indptr]))
        vectors.data /= np.repeat(lengths, np.diff(vectors.indptr)).astype(np.float32)
        return vectors

    def _ngrams(self, words: Sequence[str], num_ngrams: int) -> sparse.csr_array:
        """Returns the number of times that each word has each n-gram."""
        if self._ids is None or not words:
            return sparse.csr_array((len(words), num_ngrams), dtype=np.float32)
        batches = [
            self._ids(list(words[start : start + _BATCH])) for start in range(0, len(words), _BATCH)
        ]
        ids = np.concatenate([batch.values for batch in batches])
        lengths = np.concatenate([batch.row_lengths() for batch in batches])
        splits = np.append(0, np.cumsum(lengths))
        counts = sparse.csr_array(
            (np.ones(len(ids), np.float32), ids, splits), (len(words), num_ngrams)
        )
        counts.sum_duplicates()
        return counts


def _word_counts(bags: Sequence[Sequence[str]]) -> tuple[list[str], sparse.csr_array]:
    """Returns the distinct words of texts, and how often each text has each word."""
    words = [*chain.from_iterable(bags)]
    distinct = [*dict.fromkeys(words)]
    numbers = dict(zip(distinct, range(len(distinct)), strict=True))
    ids = np.fromiter(map(numbers.__getitem__, words), np.int64, len(words))
    splits = np.append(0, np.cumsum([*map(len, bags)])).astype(np.int64)
    counts = sparse.csr_array(
        (np.ones(len(ids), np.float32), ids, splits), (len(bags), len(distinct))
    )
    counts.sum_duplicates()
    return distinct, counts
