"""Compares pairs of texts by their vectors, n-grams, words, letters and codes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA
from scipy import sparse

from tf_charagram.search._pairs.rare_keys import row_products, row_sums
from tf_charagram.search._pairs.word_lists import (
    WordLists,
    deletion_hashes,
    numbered,
    text_hashes,
)
from tf_charagram.text._algorithm.arrays import kept, positions
from tf_charagram.text._algorithm.flat import Rows
from tf_charagram.text._algorithm.word_boundaries import without_signs

Floats = NDArray[np.float32]

#: Words of a text that are compared one by one: all pairs of words of two long texts would take
#: minutes. Vectors and n-grams cover all of a text.
MAX_WORDS = 250
#: Words of a text that are compared as one string: edit distances take the square of the time.
MAX_SPELLED_WORDS = 100
# Up to so many words, common words count by their share in both texts; in longer texts more and
# more by their share in the shorter one, as a title has few of the words of its article.
_MAX_SHORT = 20
#: Letters of these words that are compared one by one.
MAX_LETTERS = 4000
# Minimum similarity of two words that may be spellings of the same word.
_MIN_SIMILARITY = 0.6
# Minimum length of a code: shorter words with a digit, such as 18v, are rather sizes.
_MIN_CODE = 4
# Length from which a shared code counts in full.
_LONG_CODE = 10
# Pairs of words in memory at the same time.
_MAX_WORD_PAIRS = 1_000_000
# Vectors that are multiplied at once, so that both sides fit into the cache.
_VECTOR_BLOCK = 500
# Length from which digits alone are a code wherever they stand: 10000 is in 100000 by chance.
_LONG_NUMBER = 7
# Cosine from which two vectors are equal up to rounding.
_MIN_EQUAL = 1 - 1e-5
_NO_CODES: frozenset[str] = frozenset()
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
        lists: The first words of each text, lowercase and without accents, joined or split as
            other texts have them.
        written: The first words as they are written; numbers of the same `words`.
        weights: Inverse document frequency of each of the distinct words, float32 `(num_words,)`.
        codes: The distinct codes of the texts that have any, by row: model numbers, amounts, dates.
        ngrams: Tf-idf of character n-grams, rows of unit length.
        word_ngrams: The same of each distinct word, of any length.
        vectors: Embeddings of unit length, float32 `(num_texts, dim)`; dim is 0 without a model.
    """

    texts: Sequence[str]
    lists: WordLists
    written: WordLists
    weights: Floats
    codes: dict[int, frozenset[str]]
    ngrams: sparse.csr_array
    word_ngrams: sparse.csr_array
    vectors: Floats

    def __len__(self) -> int:
        return len(self.lists)

    def followed(self, others: Texts) -> Texts:
        """Returns these texts and then other ones that the same scorer has prepared."""
        words, numbers = numbered(self.lists.words, others.lists.words)
        is_new = numbers >= len(self.lists.words)
        codes = {row + len(self): codes for row, codes in others.codes.items()}
        new_ngrams = others.word_ngrams[is_new]
        return Texts(
            [*self.texts, *others.texts],
            self.lists.appended(others.lists, words, numbers),
            self.written.appended(others.written, words, numbers),
            np.append(self.weights, others.weights[is_new]),
            {**self.codes, **codes},
            sparse.csr_array(sparse.vstack([self.ngrams, others.ngrams], format="csr")),
            sparse.csr_array(sparse.vstack([self.word_ngrams, new_ngrams], format="csr")),
            np.concatenate([self.vectors, others.vectors]),
        )

    @cached_property
    def num_words(self) -> NDArray[np.int64]:
        """Number of words of each text, `(num_texts,)`."""
        return np.diff(self.lists.splits)

    @cached_property
    def square_sums(self) -> Floats:
        """Sum of the squared weights of each text, float32 `(num_texts,)`."""
        sums = np.zeros(len(self), np.float32)
        has_words = self.num_words > 0
        # `reduceat` needs ranges of at least one word.
        starts = self.lists.splits[:-1][has_words]
        sums[has_words] = np.add.reduceat(self.weights[self.lists.ids] ** 2, starts)
        return sums

    @cached_property
    def has_codes(self) -> NDArray[np.bool_]:
        """Whether each text has codes, `(num_texts,)`."""
        has_codes = np.zeros(len(self), bool)
        has_codes[list(self.codes)] = True
        return has_codes

    @cached_property
    def text_hashes(self) -> NDArray[np.int64]:
        """A hash of each text, `(num_texts,)`; different texts share one by a chance of 2^-64."""
        return np.array([hash(text) for text in self.texts], np.int64)

    @cached_property
    def by_hash(self) -> NDArray[np.int64]:
        """The rows, ordered by the hashes of their texts."""
        return np.argsort(self.text_hashes, kind="stable")

    @cached_property
    def word_hashes(self) -> NDArray[np.uint64]:
        """A hash of the words of each text as they are written, `(num_texts,)`."""
        return text_hashes(self.written)

    @cached_property
    def ones(self) -> sparse.csr_array:
        """A matrix with a 1 for each word of each text, `(num_texts, num_words)`."""
        ids = self.lists.ids
        splits = self.lists.splits.astype(np.int32)
        shape = (len(self), len(self.lists.words))
        return sparse.csr_array((np.ones(len(ids), np.float32), ids, splits), shape)

    @cached_property
    def by_word(self) -> sparse.csr_array:
        """One row per word: its texts, each with 1 / its length, `(num_words, num_texts)`."""
        return self.by_word_of(np.arange(len(self)))

    def by_word_of(self, rows: NDArray[np.integer]) -> sparse.csr_array:
        """Returns `by_word` of some rows, `(num_words, num_rows)`."""
        ones = self.ones[rows]
        ones.sum_duplicates()
        ones.data = np.repeat(1 / np.maximum(self.lengths[rows], 1e-6), np.diff(ones.indptr))
        return ones.T.tocsr()

    @cached_property
    def lengths(self) -> Floats:
        """Length of each text if the n-grams of different words differ, `(num_texts,)`."""
        return np.sqrt(self.ones @ self.word_lengths**2)

    @cached_property
    def by_ngram(self) -> sparse.csr_array:
        """`word_ngrams` with one row per n-gram, `(num_ngrams, num_words)`."""
        return self.word_ngrams.T.tocsr()

    @cached_property
    def num_words_of_ngram(self) -> NDArray[np.integer]:
        """Number of words with each n-gram, `(num_ngrams,)`."""
        return np.diff(self.by_ngram.indptr)

    @cached_property
    def num_texts_of_word(self) -> NDArray[np.integer]:
        """Number of texts with each word, `(num_words,)`."""
        return np.diff(self.by_word.indptr)

    @cached_property
    def word_lengths(self) -> Floats:
        """Lengths of `word_ngrams`, `(num_words,)`."""
        squares = row_sums(self.word_ngrams, self.word_ngrams.data**2)
        return np.sqrt(squares).astype(np.float32)

    @cached_property
    def deletions(self) -> Rows:
        """Hashes of each word, and of each word without one of its letters."""
        return deletion_hashes(self.lists.words)

    @cached_property
    def sorted_deletions(self) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        """All hashes of `deletions`, ascending, and the word of each."""
        hashes, splits = self.deletions
        order = np.argsort(hashes)
        words = np.repeat(np.arange(len(splits) - 1, dtype=np.int32), np.diff(splits))
        return hashes[order], words[order]

    def letters(self, rows: NDArray[np.integer]) -> list[str]:
        """Returns the first words of some texts as they are written, with spaces between them."""
        known = self._known_letters
        is_new = known[rows] == ""
        new = np.unique(rows[is_new])
        for row, words in zip(new.tolist(), self.written.strings(new), strict=True):
            known[row] = " ".join(words)
        return known[rows].tolist()

    @cached_property
    def _known_letters(self) -> NDArray[np.object_]:
        """Strings of `letters`, empty until they are needed: a query needs those of few texts."""
        return np.full(len(self), "", object)

    @cached_property
    def num_letters(self) -> NDArray[np.int64]:
        """Length of the strings of `letters`, `(num_texts,)`."""
        _, lengths = self.letter_sets
        totals = np.append(0, np.cumsum(lengths[self.written.ids]))
        num_spaces = np.maximum(np.diff(self.written.splits) - 1, 0)
        return np.diff(totals[self.written.splits]) + num_spaces

    @cached_property
    def letter_sets(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The letters of each word as 64 bits, and its length, each `(num_words,)`."""
        words = self.lists.words
        lengths = np.array([len(word) for word in words], np.int64)
        codes = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.uint32)
        bits = np.uint64(1) << (codes % 64).astype(np.uint64)
        sets = np.zeros(len(words), np.uint64)
        # `reduceat` needs words of at least one letter.
        starts = np.cumsum(lengths) - lengths
        sets[lengths > 0] = np.bitwise_or.reduceat(bits, starts[lengths > 0])
        return sets, lengths


class Features(NamedTuple):
    """Measurements of pairs of texts, each float32 `(num_pairs,)`.

    Attributes:
        vectors: Cosine of the embeddings, from -1 to 1.
        ngrams: Cosine of the tf-idf of character n-grams, from 0 to 1.
        words: Soft tf-idf of the words, from 0 to 1.
        rarest: Weight of the rarest common word; misspelled words count in part.
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
    rarest: Floats
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
        pairs: Rows of both, `(num_pairs, 2)`.
        lexical: Whether n-grams, words, letters and codes are compared; otherwise they are 0.
    """
    features = compare_wholes(left, right, pairs)
    if lexical:
        compare_ngrams(left, right, pairs, features)
        compare_letters(left, right, pairs, features)
        compare_codes(left, right, pairs, features)
        compare_words(left, right, pairs, features)
    return features


def compare_wholes(left: Texts, right: Texts, pairs: NDArray[np.integer]) -> Features:
    """Compares pairs of texts by `vectors`, `word_share` and `equal`; all else is 0."""
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
    has_equal_words = left.word_hashes[left_rows] == right.word_hashes[right_rows]
    has_equal_vectors = features.vectors >= _MIN_EQUAL
    if not left.vectors.shape[1]:
        has_equal_vectors[:] = True
    is_same = left.text_hashes[left_rows] == right.text_hashes[right_rows]
    is_equal = is_same | (has_equal_words & has_equal_vectors)
    # Texts without words are not equal to anything.
    features.equal[:] = is_equal & (left_num_words > 0)
    return features


def compare_ngrams(
    left: Texts, right: Texts, pairs: NDArray[np.integer], features: Features
) -> None:
    """Fills `ngrams`."""
    left_rows, right_rows = pairs.T
    features.ngrams[:] = row_products(left.ngrams, left_rows, right.ngrams, right_rows)


def bound_letters(
    left: Texts, right: Texts, pairs: NDArray[np.integer], features: Features
) -> None:
    """Fills `letters` with the most that the lengths of the texts allow."""
    left_rows, right_rows = pairs.T
    left_lengths = left.num_letters[left_rows]
    right_lengths = right.num_letters[right_rows]
    longer = np.maximum(left_lengths, right_lengths)
    shorter = np.minimum(left_lengths, right_lengths)
    features.letters[:] = shorter / np.maximum(longer, 1)
    # The similarity of long texts is estimated.
    features.letters[longer > MAX_LETTERS] = 1


def compare_letters(
    left: Texts, right: Texts, pairs: NDArray[np.integer], features: Features
) -> None:
    """Fills `letters`."""
    left_rows, right_rows = pairs.T
    left_letters = left.letters(left_rows)
    right_letters = right.letters(right_rows)
    longer = np.maximum(left.num_letters[left_rows], right.num_letters[right_rows])
    features.letters[:] = _letter_similarities(left_letters, right_letters, longer)


def codes_of(texts: Sequence[str], lists: WordLists) -> dict[int, frozenset[str]]:
    """Returns the numbers of models, parts and documents, amounts and dates in texts.

    Args:
        texts: The texts.
        lists: Their words.

    Returns:
        The codes of the texts that have any, by row.
    """
    # Most words have neither digits nor signs.
    is_special = np.array([not word.isalpha() for word in lists.words], bool)
    special = np.flatnonzero(is_special)
    are_codes = is_special.copy()
    are_codes[special] = [_is_code(lists.words[place]) for place in special.tolist()]
    rows = np.unique(lists.rows()[is_special[lists.ids]])
    code_words = WordLists(lists.words, *kept(lists.ids, are_codes[lists.ids], lists.splits))
    found = {}
    for row, words in zip(rows.tolist(), code_words.strings(rows), strict=True):
        codes = set(words)
        for number in _NUMBER.findall(texts[row]):
            parts = _DIGITS.findall(number)
            codes.difference_update(parts)
            digits = "".join(parts)
            if len(digits) >= _MIN_CODE:
                # 100.00 is 100, and 1998.0 a year.
                is_whole = number.endswith(_ZEROS)
                codes.add("".join(parts[:-1]) if is_whole else digits)
        if codes:
            found[row] = frozenset(codes)
    return found


def _is_code(word: str) -> bool:
    """Returns whether a word with a digit or a sign is a code."""
    if without_signs(word) not in ("", word):
        return True
    return len(word) >= _MIN_CODE and _HAS_DIGIT.search(word) is not None


def compare_words(
    left: Texts, right: Texts, pairs: NDArray[np.integer], features: Features
) -> None:
    """Fills `words` and `rarest`."""
    left_rows, right_rows = pairs.T
    num_products = left.num_words[left_rows] * right.num_words[right_rows]
    totals = np.append(0, np.cumsum(num_products))
    start = 0
    while start < len(pairs):
        stop = int(np.searchsorted(totals, totals[start] + _MAX_WORD_PAIRS))
        # At least one pair.
        block = slice(start, max(stop, start + 1))
        found = _common_words(left, left_rows[block], right, right_rows[block])
        features.words[block], features.rarest[block] = found
        start = block.stop


def compare_codes(
    left: Texts, right: Texts, pairs: NDArray[np.integer], features: Features
) -> None:
    """Fills `shared_code` and `codes_differ`."""
    left_rows, right_rows = pairs.T
    has_codes = np.flatnonzero(left.has_codes[left_rows] | right.has_codes[right_rows])
    left_letters = left.letters(left_rows[has_codes])
    right_letters = right.letters(right_rows[has_codes])
    for place, pair in enumerate(has_codes.tolist()):
        row, other = pairs[pair].tolist()
        left_codes = left.codes.get(row, _NO_CODES)
        right_codes = right.codes.get(other, _NO_CODES)
        shared, differ = _compare_codes(
            left_codes, right_codes, left_letters[place], right_letters[place]
        )
        features.shared_code[pair] = shared
        features.codes_differ[pair] = differ


def _common_words(
    left: Texts, left_rows: NDArray[np.integer], right: Texts, right_rows: NDArray[np.integer]
) -> tuple[Floats, Floats]:
    """Returns the soft tf-idf of pairs of texts, and their rarest common words, `(num_pairs,)`.

    The first is the sum of (weight x similarity to the most similar other word)^2 over the words of
    the left or of the right text, whichever is larger, divided by the lengths of both vectors of
    weights; at most 1. After Cohen, Ravikumar and Fienberg, *A Comparison of String Distance
    Metrics for Name-Matching Tasks* (2003), but with squared similarities. The longer a text, the
    more the sum counts that is divided by the square of the smaller length: the share of the
    shorter text.

    A common word weighs as much as the more frequent one of both spellings, times their squared
    similarity: a typo makes a word rare.
    """
    num_products = left.num_words[left_rows] * right.num_words[right_rows]
    words = np.zeros(len(left_rows), np.float32)
    rarest = np.zeros(len(left_rows), np.float32)
    # One item for each left word and right word of each pair.
    pair_of_item = np.repeat(np.arange(len(left_rows)), num_products)
    ranks_of_item = positions(np.zeros_like(num_products), num_products)
    widths = right.num_words[right_rows][pair_of_item]
    left_places, right_places = np.divmod(ranks_of_item, np.maximum(widths, 1))
    left_words = left.lists.ids[left.lists.splits[left_rows][pair_of_item] + left_places]
    right_words = right.lists.ids[right.lists.splits[right_rows][pair_of_item] + right_places]
    similarities = _word_similarities(left, left_words, right, right_words)
    alike = np.flatnonzero(similarities)
    if not len(alike):
        return words, rarest
    pairs = pair_of_item[alike]
    squares = similarities[alike] ** 2
    left_weights = left.weights[left_words[alike]]
    right_weights = right.weights[right_words[alike]]
    np.maximum.at(rarest, pairs, np.minimum(left_weights, right_weights) * squares)
    shared = np.zeros(len(left_rows))
    for texts, rows, places, weights in (
        (left, left_rows, left_places, left_weights),
        (right, right_rows, right_places, right_weights),
    ):
        # The most similar other word of each word.
        starts = np.cumsum(texts.num_words[rows]) - texts.num_words[rows]
        own = starts[pairs] + places[alike]
        nearest = np.zeros(int(texts.num_words[rows].sum()), np.float32)
        np.maximum.at(nearest, own, weights**2 * squares)
        pair_of_word = np.repeat(np.arange(len(rows)), texts.num_words[rows])
        shared = np.maximum(shared, np.bincount(pair_of_word, nearest, len(rows)))
    left_squares = np.maximum(left.square_sums[left_rows], 1e-9)
    right_squares = np.maximum(right.square_sums[right_rows], 1e-9)
    of_both = shared / np.sqrt(left_squares * right_squares)
    of_shorter = shared / np.minimum(left_squares, right_squares)
    longer = np.maximum(left.num_words[left_rows], right.num_words[right_rows])
    part = np.maximum(1 - _MAX_SHORT / np.maximum(longer, 1), 0)
    # A word that repeats in the text may take the quotients above 1.
    words[:] = np.minimum((1 - part) * of_both + part * of_shorter, 1)
    return words, rarest


def _word_similarities(
    left: Texts, left_ids: NDArray[np.integer], right: Texts, right_ids: NDArray[np.integer]
) -> Floats:
    """Returns the similarities of corresponding words; most pairs of words repeat."""
    left_words = left.lists.words
    right_words = right.lists.words
    left_sets, left_lengths = left.letter_sets
    right_sets, right_lengths = right.letter_sets
    longer = np.maximum(left_lengths[left_ids], right_lengths[right_ids])
    # An edit changes at most two letters of a set.
    num_different = np.bitwise_count(left_sets[left_ids] ^ right_sets[right_ids])
    may_be_similar = np.flatnonzero(num_different <= 2 * (1 - _MIN_SIMILARITY) * longer + 1e-6)
    similarities = np.zeros(len(left_ids), np.float32)
    keys = left_ids[may_be_similar].astype(np.int64) * len(right_words) + right_ids[may_be_similar]
    distinct_keys, places = np.unique(keys, return_inverse=True)
    left_places, right_places = np.divmod(distinct_keys, len(right_words))
    distinct_similarities = process.cpdist(
        [left_words[place] for place in left_places.tolist()],
        [right_words[place] for place in right_places.tolist()],
        scorer=OSA.normalized_similarity,
        score_cutoff=_MIN_SIMILARITY,
        dtype=np.float32,
    )
    similarities[may_be_similar] = distinct_similarities[places]
    return similarities


def _letter_similarities(
    left: Sequence[str], right: Sequence[str], longer: NDArray[np.int64]
) -> Floats:
    """Returns 1 - the edit distance over the longer length of pairs, float32 `(num_pairs,)`."""
    long_pairs = np.flatnonzero(longer > MAX_LETTERS).tolist()
    starts = [left, right]
    if long_pairs:
        starts = [[letters[:MAX_LETTERS] for letters in side] for side in starts]
    similarities = process.cpdist(*starts, scorer=OSA.normalized_similarity, dtype=np.float32)
    for pair in long_pairs:
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
