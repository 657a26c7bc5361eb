"""Compares pairs of texts by their vectors, n-grams, words, letters and codes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA
from scipy import sparse

Floats = NDArray[np.float32]

#: Words of a text that are compared by their letters: edit distances of two long texts would take
#: minutes. Vectors and n-grams cover all of a text.
MAX_WORDS = 100
#: Letters of a word that are compared.
MAX_LETTERS = 40
# Minimum similarity of two words that may be spellings of the same word.
_MIN_SIMILARITY = 0.6
# Minimum length of a code: shorter words with a digit, such as 18v, are rather sizes.
_MIN_CODE = 4
# Length from which a shared code counts in full.
_LONG_CODE = 10
# Vectors that are multiplied at once, so that both sides fit into the cache.
_VECTOR_BLOCK = 500
_HAS_DIGIT = re.compile(r"\d")


@dataclass
class Texts:
    """Texts with everything that a comparison needs.

    Attributes:
        words: The first words of each text, lowercase and without accents.
        weights: Inverse document frequencies of these words, float32.
        codes: The distinct codes among these words, such as model numbers.
        ngrams: Tf-idf of character n-grams, rows of unit length.
        vectors: Embeddings of unit length, float32 `(num_texts, dim)`; dim is 0 without a model.
    """

    words: list[list[str]]
    weights: list[Floats]
    codes: list[list[str]]
    ngrams: sparse.csr_array
    vectors: Floats

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def num_words(self) -> NDArray[np.int64]:
        """Number of `words` of each text, `(num_texts,)`."""
        return np.array([len(words) for words in self.words], np.int64)

    @cached_property
    def by_ngram(self) -> sparse.csr_array:
        """Tf-idf with one row per n-gram, `(num_ngrams, num_texts)`."""
        return self.ngrams.T.tocsr()


class Features(NamedTuple):
    """Measurements of pairs of texts, each float32 `(num_pairs,)`.

    Attributes:
        vectors: Cosine of the embeddings, from -1 to 1.
        ngrams: Cosine of the tf-idf of character n-grams, from 0 to 1.
        words: Soft tf-idf of the words, from 0 to 1.
        letters: 1 - the edit distance over the length of the longer text.
        word_share: Share of one word in the longer text: 1 for single words, near 0 for long texts.
        shared_code: A tenth of the length of the longest common code, at most 1.
        codes_differ: 1 if both texts have codes, but no common code; else 0.
    """

    vectors: Floats
    ngrams: Floats
    words: Floats
    letters: Floats
    word_share: Floats
    shared_code: Floats
    codes_differ: Floats


def compare(left: Texts, right: Texts, pairs: NDArray[np.integer], lexical: bool) -> Features:
    """Measures pairs of texts.

    Args:
        left: Texts.
        right: Texts.
        pairs: Rows of both, `(num_pairs, 2)`, with equal left rows next to each other.
        lexical: Whether n-grams, words, letters and codes are compared; otherwise they are 0.
    """
    left_rows, right_rows = pairs.T
    zeros = np.zeros((len(Features._fields), len(pairs)), np.float32)
    features = Features(*zeros)
    left_num_words = left.num_words[left_rows]
    right_num_words = right.num_words[right_rows]
    longer = np.maximum(left_num_words, right_num_words)
    features.word_share[:] = 1 / np.maximum(longer, 1)
    for start in range(0, len(pairs), _VECTOR_BLOCK):
        block = slice(start, start + _VECTOR_BLOCK)
        left_vectors = left.vectors[left_rows[block]]
        right_vectors = right.vectors[right_rows[block]]
        cosines = np.einsum("ij,ij->i", left_vectors, right_vectors)
        # Rounding takes the cosine of equal vectors a little above 1.
        features.vectors[block] = np.clip(cosines, -1, 1)
    if lexical:
        left_ngrams = left.ngrams[left_rows]
        right_ngrams = right.ngrams[right_rows]
        products = left_ngrams.multiply(right_ngrams)
        features.ngrams[:] = products.sum(axis=1)
        _compare_words(left, right, left_rows, right_rows, features)
    return features


def is_code(word: str) -> bool:
    """Tells whether a word may be the number of a model, a part or a document."""
    return len(word) >= _MIN_CODE and _HAS_DIGIT.search(word) is not None


def _compare_words(
    left: Texts,
    right: Texts,
    left_rows: NDArray[np.integer],
    right_rows: NDArray[np.integer],
    features: Features,
) -> None:
    """Fills the features of words, letters and codes.

    RapidFuzz compares a left text with all its right texts in one call, much faster than in a call
    per pair.
    """
    starts = np.flatnonzero(np.diff(left_rows, prepend=-1)).tolist()
    for start, stop in pairwise([*starts, len(left_rows)]):
        row = left_rows[start]
        others = right_rows[start:stop].tolist()
        words = left.words[row]
        other_words = [right.words[other] for other in others]
        other_weights = [right.weights[other] for other in others]
        block = slice(start, stop)
        features.words[block] = _soft_tfidf(words, left.weights[row], other_words, other_weights)
        features.letters[block] = _letter_similarities(words, other_words)
        for pair, other in enumerate(others, start):
            if left.codes[row] or right.codes[other]:
                shared, differ = _compare_codes(left, row, right, other)
                features.shared_code[pair] = shared
                features.codes_differ[pair] = differ


def _soft_tfidf(
    words: Sequence[str],
    weights: Floats,
    other_words: Sequence[Sequence[str]],
    other_weights: Sequence[Floats],
) -> Floats:
    """Returns the soft tf-idf of a text and others, float32 `(num_others,)`.

    The sum of (weight x similarity to the most similar other word)^2 over the words of the text,
    divided by the lengths of both vectors of weights; at most 1. After Cohen, Ravikumar and
    Fienberg, *A Comparison of String Distance Metrics for Name-Matching Tasks* (2003), but with
    squared similarities.
    """
    scores = np.zeros(len(other_words), np.float32)
    if not words:
        return scores
    similarities = process.cdist(
        words,
        list(chain.from_iterable(other_words)),
        scorer=OSA.normalized_similarity,
        score_cutoff=_MIN_SIMILARITY,
        dtype=np.float32,
    )
    lengths = np.array([len(other) for other in other_words])
    # Texts without words keep 0: `reduceat` needs ranges of at least one word.
    has_words = lengths > 0
    lengths = lengths[has_words]
    starts = np.cumsum(lengths) - lengths
    nearest = np.maximum.reduceat(similarities, starts, axis=1)
    squares = weights**2
    other_squares = np.concatenate(other_weights) ** 2
    other_sums = np.add.reduceat(other_squares, starts)
    norms = np.sqrt(np.sum(squares) * other_sums)
    shared = squares @ nearest**2
    # A word that repeats in the text may take the quotient above 1.
    scores[has_words] = np.minimum(shared / norms, 1)
    return scores


def _letter_similarities(words: Sequence[str], other_words: Sequence[Sequence[str]]) -> Floats:
    """Returns 1 - the edit distance over the longer length, float32 `(num_others,)`."""
    # Two texts without words would be equal.
    if not words:
        return np.zeros(len(other_words), np.float32)
    [similarities] = process.cdist(
        [" ".join(words)],
        [" ".join(other) for other in other_words],
        scorer=OSA.normalized_similarity,
        dtype=np.float32,
    )
    return similarities


def _compare_codes(left: Texts, row: int, right: Texts, other: int) -> tuple[float, bool]:
    """Returns `shared_code` and `codes_differ` of two texts."""
    codes = left.codes[row]
    other_codes = right.codes[other]
    # Spaces are ignored: "KD-55 X9000" has the code kd55x9000.
    letters = "".join(left.words[row])
    other_letters = "".join(right.words[other])
    common = [code for code in codes if code in other_letters]
    common += [code for code in other_codes if code in letters]
    if not common:
        return 0, bool(codes and other_codes)
    longest = max(map(len, common))
    return min(longest / _LONG_CODE, 1), False
