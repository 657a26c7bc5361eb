"""Finds words that are spelled alike, so that texts are found by their words, with typos."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tf_charagram.search._pairs.flat_arrays import (
    Floats,
    Ids,
    Matrix,
    SparseRows,
    distinct_integers,
    matrix_of,
)
from tf_charagram.search._pairs.prepared import Texts
from tf_charagram.search._pairs.rare_keys import (
    entries,
    rare_keys,
    row_numbers,
    row_products,
    row_sums,
    sums,
)
from tf_charagram.text._algorithm.arrays import positions
from tf_charagram.text._algorithm.batches import in_threads

# Minimum cosine of the n-grams of two words that are looked up for each other: words with equal
# letters but for one, and others. Of the pairs of texts of made-up names and addresses that score
# at least 0.7, 99.5 % have more common words than they need.
_MIN_ONE_LETTER = 0.25
_MIN_COSINE = 0.45
# Of fewer right words, words that are less alike are looked up, too: that costs little, and names
# of places in other languages need it.
_MANY_WORDS = 50_000
# Words that are found by the rare n-grams of a word, with repetitions: so many times the square
# root of the number of words, or more if there are few.
_POSTINGS = 3
_MIN_POSTINGS = 3000
_MAX_PRODUCTS = 80_000_000
# Words that are equal without one letter; more are not looked up for each other.
_MAX_EQUAL = 1000
# Part of the smallest product of two words that their rare n-grams have.
_PART_OF_PRODUCT = 0.6
# Left words whose products are in memory at the same time.
_BATCH = 2000


def alike_words(
    left: Texts, right: Texts, part: float = 1.0, least: Floats | None = None
) -> Matrix:
    """Finds the right words that are spelled like each left word.

    Args:
        left: Texts.
        right: Texts.
        part: Part of the words with rare n-grams that are looked at.
        least: Smallest product of n-grams that counts for each left word, `(num_left_words,)`;
            infinite for words that are not looked up.

    Returns:
        Products of their n-grams, float32 `(num_left_words, num_right_words)`. A sum over the words
        of two texts is the product of the texts: a few long lists of texts with one n-gram become
        many short lists of texts with one word.
    """
    num_left = len(left.lists.words)
    num_right = len(right.lists.words)
    share = min(num_right / _MANY_WORDS, 1)
    max_postings = part * max(
        _POSTINGS * num_right**0.5,
        min(_MIN_POSTINGS / max(share, 0.5), _MAX_PRODUCTS / max(num_right, 1)),
    )

    def products_of(start: int) -> SparseRows:
        batch = left.word_ngrams
        if num_left > _BATCH:
            batch = matrix_of(batch)[start : start + _BATCH]
        num_words = batch.shape[0]
        words = needed = np.arange(start, start + num_words)
        if least is not None:
            are_needed = np.isfinite(least[words])
            needed = words[are_needed]
            batch = entries(batch, np.flatnonzero(are_needed[row_numbers(batch)]))
        # Frequent n-grams are missing on the left.
        rare = rare_keys(batch, right.num_words_of_ngram, int(max_postings))
        found = sums(rare, right.by_ngram)
        rows = row_numbers(found)
        rare_lengths = np.sqrt(row_sums(rare, rare.data**2))
        min_products = rare_lengths.take(rows) * right.word_lengths.take(found.indices)
        min_products *= _MIN_COSINE * share
        if least is not None:
            min_products = np.maximum(min_products, _PART_OF_PRODUCT * least[words][rows])
        places = (found.data >= min_products).nonzero()[0]
        keys = rows[places] * num_right + found.indices[places]
        others = _one_letter_apart(left, right, needed) - start * num_right
        distinct_keys = distinct_integers(np.concatenate([keys, others]))
        left_words, right_words = np.divmod(distinct_keys, max(num_right, 1))
        products = row_products(batch, left_words, right.word_ngrams, right_words)
        lengths = left.word_lengths[words][left_words] * right.word_lengths[right_words]
        min_products = _MIN_ONE_LETTER * share * lengths
        if least is not None:
            min_products = np.maximum(min_products, least[words][left_words])
        places = (products > min_products).nonzero()[0]
        splits = left_words[places].searchsorted(np.arange(num_words + 1))
        parts = products[places], right_words[places].astype(np.int32), splits.astype(np.int32)
        return SparseRows(*parts, (num_words, num_right))

    if num_left <= _BATCH:
        # Threads would take longer to start than a query takes.
        return products_of(0)
    blocks = [sparse.csr_array((0, num_right), dtype=np.float32)]
    for _, block in in_threads(products_of, range(0, num_left, _BATCH)):
        blocks.append(matrix_of(block))
    return sparse.csr_array(sparse.vstack(blocks, format="csr"))


def _one_letter_apart(left: Texts, right: Texts, words: Ids) -> Ids:
    """Returns pairs of words that are equal without one letter of one or both.

    They include all words that differ by one typo, also by two letters that are swapped.

    Returns:
        `left_word * num_right_words + right_word` for left words.
    """
    hashes, splits = left.deletions
    right_hashes, right_words = right.sorted_deletions
    firsts = splits[words]
    lasts = splits[words + 1]
    own = hashes[positions(firsts, lasts)]
    starts = right_hashes.searchsorted(own)
    stops = right_hashes.searchsorted(own, "right")
    num_found = stops - starts
    num_found[num_found > _MAX_EQUAL] = 0
    found = right_words[positions(starts, starts + num_found)]
    found_words: Ids = words.repeat(lasts - firsts).repeat(num_found)
    return found_words * len(right.lists.words) + found
