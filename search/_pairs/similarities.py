"""Compares pairs of texts by their vectors, n-grams, words, letters and codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA

from tf_charagram.search._pairs.codes import compared_codes
from tf_charagram.search._pairs.flat_arrays import Floats, Ids, blocks, numbered
from tf_charagram.search._pairs.prepared import Texts
from tf_charagram.search._pairs.rare_keys import row_products
from tf_charagram.text._algorithm.arrays import positions, splits_of

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
# Pairs of words in memory at the same time.
_MAX_WORD_PAIRS = 1_000_000
# Vectors that are multiplied at once, so that both sides fit into the cache.
_VECTOR_BLOCK = 500
# Cosine from which two vectors are equal up to rounding.
_MIN_EQUAL = 1 - 1e-5


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
    has_vectors = left.vectors.shape[1] > 0
    for block in blocks(len(pairs) if has_vectors else 0, _VECTOR_BLOCK):
        left_vectors = left.vectors.take(left_rows[block], axis=0)
        right_vectors = right.vectors.take(right_rows[block], axis=0)
        cosines = np.einsum("ij,ij->i", left_vectors, right_vectors)
        # Rounding takes the cosine of equal vectors a little above 1.
        features.vectors[block] = np.clip(cosines, -1, 1)
    is_equal = left.word_hashes[left_rows] == right.word_hashes[right_rows]
    if has_vectors:
        is_equal &= features.vectors >= _MIN_EQUAL
    is_equal |= left.text_hashes[left_rows] == right.text_hashes[right_rows]
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


def compare_words(
    left: Texts, right: Texts, pairs: NDArray[np.integer], features: Features
) -> None:
    """Fills `words` and `rarest`."""
    left_rows, right_rows = pairs.T
    num_products = left.num_words[left_rows] * right.num_words[right_rows]
    totals = splits_of(num_products)
    start = 0
    while start < len(pairs):
        stop = int(totals.searchsorted(totals[start] + _MAX_WORD_PAIRS))
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
    have_codes = left.codes.are_there[left_rows] | right.codes.are_there[right_rows]
    places = have_codes.nonzero()[0]
    if len(places):
        found = compared_codes(left, left_rows[places], right, right_rows[places])
        features.shared_code[places], features.codes_differ[places] = found


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
    left_lists = left.lists
    right_lists = right.lists
    left_counts = left.num_words[left_rows]
    right_counts = right.num_words[right_rows]
    words = np.zeros(len(left_rows), np.float32)
    rarest = np.zeros(len(left_rows), np.float32)
    every = np.arange(len(left_rows))
    # The pair of each word of each side.
    pair_of_left = every.repeat(left_counts)
    pair_of_right = every.repeat(right_counts)
    # One item for each left word and right word of each pair.
    left_starts = left_lists.splits[left_rows]
    right_starts = right_lists.splits[right_rows]
    right_of_item = np.arange(len(pair_of_right)).repeat(left_counts[pair_of_right])
    left_places = positions(left_starts[pair_of_right], (left_starts + left_counts)[pair_of_right])
    left_words = left_lists.ids[left_places]
    right_ids = right_lists.ids[positions(right_starts, right_starts + right_counts)]
    right_words = right_ids[right_of_item]
    similarities = _word_similarities(left, left_words, right, right_words)
    alike = similarities.nonzero()[0]
    if not len(alike):
        return words, rarest
    right_of_item = right_of_item[alike]
    pairs = pair_of_right[right_of_item]
    offsets = splits_of(left_counts)[:-1] - left_starts
    left_of_item = left_places[alike] + offsets[pairs]
    squares = similarities[alike] ** 2
    left_weights = left.weights[left_words[alike]]
    right_weights = right.weights[right_words[alike]]
    np.maximum.at(rarest, pairs, np.minimum(left_weights, right_weights) * squares)
    shared = np.zeros(len(left_rows))
    for own, pair_of_word, weights in (
        (left_of_item, pair_of_left, left_weights),
        (right_of_item, pair_of_right, right_weights),
    ):
        # The most similar other word of each word.
        nearest = np.zeros(len(pair_of_word), np.float32)
        np.maximum.at(nearest, own, weights**2 * squares)
        shared = np.maximum(shared, np.bincount(pair_of_word, nearest, len(left_rows)))
    left_squares = np.maximum(left.square_sums[left_rows], 1e-9)
    right_squares = np.maximum(right.square_sums[right_rows], 1e-9)
    of_both = shared / np.sqrt(left_squares * right_squares)
    of_shorter = shared / np.minimum(left_squares, right_squares)
    longer = np.maximum(left_counts, right_counts)
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
    left_lengths = left_lengths[left_ids]
    right_lengths = right_lengths[right_ids]
    max_edits = (1 - _MIN_SIMILARITY) * np.maximum(left_lengths, right_lengths)
    # An edit changes at most two letters of a set, or one and the length.
    num_different = np.bitwise_count(left_sets[left_ids] ^ right_sets[right_ids])
    num_different = num_different + abs(left_lengths - right_lengths)
    is_possible = num_different <= 2 * max_edits + 1e-6
    may_be_similar = is_possible.nonzero()[0]
    similarities = np.zeros(len(left_ids), np.float32)
    keys = left_ids[may_be_similar].astype(np.int64) * len(right_words) + right_ids[may_be_similar]
    distinct_keys, places = numbered(keys)
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


def _letter_similarities(left: Sequence[str], right: Sequence[str], longer: Ids) -> Floats:
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
