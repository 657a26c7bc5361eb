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

from tf_charagram.text.word_boundaries import without_signs

Floats = NDArray[np.float32]

#: Words of a text that are compared by their letters: edit distances of two long texts would take
#: minutes. Vectors and n-grams cover all of a text.
MAX_WORDS = 100
#: Letters of these words that are compared one by one.
MAX_LETTERS = 4000
# Minimum similarity of two words that may be spellings of the same word.
_MIN_SIMILARITY = 0.6
# Minimum length of a code: shorter words with a digit, such as 18v, are rather sizes.
_MIN_CODE = 4
# Length from which a shared code counts in full.
_LONG_CODE = 10
# Vectors that are multiplied at once, so that both sides fit into the cache.
_VECTOR_BLOCK = 500
# Length from which digits alone are a code wherever they stand: 10000 is in 100000 by chance.
_LONG_NUMBER = 7
# Cosine from which two vectors are equal up to rounding.
_MIN_EQUAL = 1 - 1e-5
_HAS_DIGIT = re.compile(r"\d")
# An amount, date or version: 100.00, 2024-01-05.
_NUMBER = re.compile(r"(?<!\w)\d+(?:[.,:/-]\d+)+(?!\w)")
_ZEROS = (".0", ".00")
_DIGITS = re.compile(r"\d+")


@dataclass
class Texts:
    """Texts with everything that a comparison needs.

    Attributes:
        texts: The texts.
        words: The first words of each text, lowercase and without accents, joined or split as
            other texts have them.
        weights: Inverse document frequencies of the words of all texts, one after the other,
            float32 `(num_words,)`.
        letters: The first words as they are written, with spaces between them.
        codes: The distinct codes of each text, such as model numbers, amounts and dates.
        ngrams: Tf-idf of character n-grams, rows of unit length.
        vectors: Embeddings of unit length, float32 `(num_texts, dim)`; dim is 0 without a model.
    """

    texts: Sequence[str]
    words: list[list[str]]
    weights: Floats
    letters: list[str]
    codes: list[frozenset[str]]
    ngrams: sparse.csr_array
    vectors: Floats

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def num_words(self) -> NDArray[np.int64]:
        """Number of `words` of each text, `(num_texts,)`."""
        return np.array([len(words) for words in self.words], np.int64)

    @cached_property
    def splits(self) -> NDArray[np.int64]:
        """Where the words of each text start and end in `weights`, `(num_texts + 1,)`."""
        return np.append(0, np.cumsum(self.num_words))

    @cached_property
    def square_sums(self) -> Floats:
        """Sum of the squared weights of each text, float32 `(num_texts,)`."""
        sums = np.zeros(len(self), np.float32)
        has_words = self.num_words > 0
        # `reduceat` needs ranges of at least one word.
        starts = self.splits[:-1][has_words]
        sums[has_words] = np.add.reduceat(self.weights**2, starts)
        return sums

    @cached_property
    def has_codes(self) -> NDArray[np.bool_]:
        """Whether each text has codes, `(num_texts,)`."""
        return np.array([bool(codes) for codes in self.codes], bool)

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The first row of each text."""
        rows: dict[str, int] = {}
        for row, text in enumerate(self.texts):
            rows.setdefault(text, row)
        return rows

    @cached_property
    def text_hashes(self) -> NDArray[np.int64]:
        """A hash of each text, `(num_texts,)`; different texts share one by a chance of 2^-64."""
        return np.array([hash(text) for text in self.texts], np.int64)

    @cached_property
    def word_hashes(self) -> NDArray[np.int64]:
        """A hash of the words of each text as they are written, `(num_texts,)`."""
        return np.array([hash(letters) for letters in self.letters], np.int64)

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
        codes_differ: Share of the codes that differ, from 0 to 1; a code that only one text has
            does not differ.
        equal: 1 if the texts have the same words in the same order, and equal vectors; else 0.
    """

    vectors: Floats
    ngrams: Floats
    words: Floats
    letters: Floats
    word_share: Floats
    shared_code: Floats
    codes_differ: Floats
    equal: Floats


def compare(left: Texts, right: Texts, pairs: NDArray[np.integer], lexical: bool) -> Features:
    """Compares pairs of texts.

    Args:
        left: Texts.
        right: Texts.
        pairs: Rows of both, `(num_pairs, 2)`; pairs of the same left row must be next to each
            other.
        lexical: Whether n-grams, words, letters and codes are compared; otherwise they are 0.
    """
    features = compare_wholes(left, right, pairs, lexical)
    if lexical:
        compare_words(left, right, pairs, features)
    return features


def compare_wholes(
    left: Texts, right: Texts, pairs: NDArray[np.integer], lexical: bool
) -> Features:
    """Compares pairs of texts as a whole: all features but `words` and the features of codes.

    Args:
        left: Texts.
        right: Texts.
        pairs: Rows of both, `(num_pairs, 2)`.
        lexical: Whether n-grams and letters are compared; otherwise they are 0.
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
        left_letters = [left.letters[row] for row in left_rows.tolist()]
        right_letters = [right.letters[row] for row in right_rows.tolist()]
        features.letters[:] = _letter_similarities(left_letters, right_letters)
    has_equal_words = left.word_hashes[left_rows] == right.word_hashes[right_rows]
    has_equal_vectors = features.vectors >= _MIN_EQUAL
    if not left.vectors.shape[1]:
        has_equal_vectors[:] = True
    is_same = left.text_hashes[left_rows] == right.text_hashes[right_rows]
    is_equal = is_same | (has_equal_words & has_equal_vectors)
    # Texts without words are not equal to anything.
    features.equal[:] = is_equal & (left_num_words > 0)
    return features


def codes_of(text: str, words: Sequence[str]) -> frozenset[str]:
    """Returns the numbers of models, parts and documents in a text, its amounts and its dates.

    Args:
        text: The text.
        words: Its words.
    """
    if "".join(words).isalpha():
        # Most texts have neither digits nor signs.
        return frozenset()
    codes = {word for word in words if _is_code(word)}
    if _HAS_DIGIT.search(text):
        for number in _NUMBER.findall(text):
            parts = _DIGITS.findall(number)
            codes.difference_update(parts)
            digits = "".join(parts)
            if len(digits) >= _MIN_CODE:
                # 100.00 is 100, and 1998.0 a year.
                is_whole = number.endswith(_ZEROS)
                codes.add("".join(parts[:-1]) if is_whole else digits)
    return frozenset(codes)


def _is_code(word: str) -> bool:
    if without_signs(word) not in ("", word):
        return True
    return len(word) >= _MIN_CODE and _HAS_DIGIT.search(word) is not None


def compare_words(
    left: Texts, right: Texts, pairs: NDArray[np.integer], features: Features
) -> None:
    """Fills the features of words and codes.

    RapidFuzz compares the words of a left text with those of all its right texts in one call, much
    faster than in a call per pair.

    Args:
        left: Texts.
        right: Texts.
        pairs: Rows of both, `(num_pairs, 2)`; pairs of the same left row must be next to each
            other.
        features: The features of the pairs, which are changed.
    """
    left_rows, right_rows = pairs.T
    starts = np.flatnonzero(np.diff(left_rows, prepend=-1)).tolist()
    for start, stop in pairwise([*starts, len(left_rows)]):
        block = slice(start, stop)
        features.words[block] = _soft_tfidf(left, left_rows[start], right, right_rows[block])
    has_codes = left.has_codes[left_rows] | right.has_codes[right_rows]
    for pair in np.flatnonzero(has_codes).tolist():
        row, other = pairs[pair].tolist()
        shared, differ = _compare_codes(
            left.codes[row], right.codes[other], left.letters[row], right.letters[other]
        )
        features.shared_code[pair] = shared
        features.codes_differ[pair] = differ


def _soft_tfidf(left: Texts, row: int, right: Texts, others: NDArray[np.integer]) -> Floats:
    """Returns the soft tf-idf of a left text and right texts, float32 `(num_others,)`.

    The sum of (weight x similarity to the most similar other word)^2 over the words of the text,
    divided by the lengths of both vectors of weights; at most 1. After Cohen, Ravikumar and
    Fienberg, *A Comparison of String Distance Metrics for Name-Matching Tasks* (2003), but with
    squared similarities.
    """
    scores = np.zeros(len(others), np.float32)
    words = left.words[row]
    if not words:
        return scores
    # Texts without words keep 0: `reduceat` needs ranges of at least one word.
    has_words = right.num_words[others] > 0
    others = others[has_words]
    similarities = process.cdist(
        words,
        list(chain.from_iterable([right.words[other] for other in others.tolist()])),
        scorer=OSA.normalized_similarity,
        score_cutoff=_MIN_SIMILARITY,
        dtype=np.float32,
    )
    lengths = right.num_words[others]
    starts = np.cumsum(lengths) - lengths
    nearest = np.maximum.reduceat(similarities, starts, axis=1)
    weights = left.weights[left.splits[row] : left.splits[row + 1]]
    norms = np.sqrt(left.square_sums[row] * right.square_sums[others])
    shared = weights**2 @ nearest**2
    # A word that repeats in the text may take the quotient above 1.
    scores[has_words] = np.minimum(shared / norms, 1)
    return scores


def _letter_similarities(left: Sequence[str], right: Sequence[str]) -> Floats:
    """Returns 1 - the edit distance over the longer length of pairs, float32 `(num_pairs,)`."""
    lengths = np.array([list(map(len, left)), list(map(len, right))], np.int64)
    longer = lengths.max(axis=0)
    similarities = process.cpdist(
        [letters[:MAX_LETTERS] for letters in left],
        [letters[:MAX_LETTERS] for letters in right],
        scorer=OSA.normalized_similarity,
        dtype=np.float32,
    )
    for pair in np.flatnonzero(longer > MAX_LETTERS).tolist():
        similarities[pair] = _long_similarity(left[pair], right[pair])
    # Two texts without words would be equal.
    similarities[longer == 0] = 0
    return similarities


def _long_similarity(left: str, right: str) -> float:
    """Estimates 1 - the edit distance over the longer length of long texts.

    Equal starts and ends are exact. Between them, the first letters stand for all.
    """
    longer = max(len(left), len(right))
    num_equal = _num_equal(left, right)
    left = left[num_equal:]
    right = right[num_equal:]
    num_equal = _num_equal(left[::-1], right[::-1])
    left = left[: len(left) - num_equal]
    right = right[: len(right) - num_equal]
    rest = max(len(left), len(right))
    distance = OSA.normalized_distance(left[:MAX_LETTERS], right[:MAX_LETTERS])
    return 1 - distance * rest / longer


def _num_equal(left: str, right: str) -> int:
    """Returns the number of equal letters at the start of two texts."""
    length = min(len(left), len(right))
    codes = [np.array([*map(ord, text[:length])]) for text in (left, right)]
    is_different = codes[0] != codes[1]
    return int(np.argmax(is_different)) if is_different.any() else length


def _compare_codes(
    left: frozenset[str], right: frozenset[str], left_letters: str, right_letters: str
) -> tuple[float, float]:
    """Returns `shared_code` and `codes_differ` of two texts.

    Args:
        left: Codes.
        right: Codes.
        left_letters: The words of the left text.
        right_letters: The words of the right text.
    """
    if left == right:
        longest = max(map(len, left))
        return min(longest / _LONG_CODE, 1), 0
    # "KD-55 X9000" has kd55x9000.
    left_letters = left_letters.replace(" ", "")
    right_letters = right_letters.replace(" ", "")
    left_rest = [code for code in left - right if not _has_code(right_letters, code)]
    right_rest = [code for code in right - left if not _has_code(left_letters, code)]
    num_different = min(len(left_rest), len(right_rest))
    if not all(map(str.isalnum, left_rest + right_rest)):
        # C++ and C differ, although C is no code.
        num_signs = _num_signs(left_rest, right_letters) + _num_signs(right_rest, left_letters)
        num_different = max(num_different, num_signs)
    common = (left | right).difference(left_rest, right_rest)
    if not common:
        return 0, float(num_different > 0)
    num_common = max(len(left) - len(left_rest), len(right) - len(right_rest))
    share = num_different / (num_common + num_different)
    longest = max(map(len, common))
    # One common code does not excuse others that differ.
    return min(longest / _LONG_CODE, 1) * (1 - share), share


def _num_signs(codes: Sequence[str], letters: str) -> int:
    """Counts the words with signs that the other text has without signs."""
    num = 0
    for code in codes:
        word = without_signs(code)
        num += word != code and word in letters
    return num


def _has_code(letters: str, code: str) -> bool:
    """Returns whether the words of a text, without spaces, have a code."""
    if code not in letters:
        return False
    return len(code) >= _LONG_NUMBER or not code.isdecimal()
