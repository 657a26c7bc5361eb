"""Finds words that are spelled alike, so that texts are found by their words, with typos."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tf_charagram.search._pairs.rare_keys import entries, rare_keys
from tf_charagram.search._pairs.similarities import Texts
from tf_charagram.text._algorithm.batches import in_threads

# Minimum cosine of the n-grams of two words that are looked up for each other. Of the pairs of
# texts of made-up names and addresses that score at least 0.7, 98.2 % are among 40 candidates with
# 0.5, 99.3 % with 0.4, 94.6 % with 0.65.
_MIN_COSINE = 0.45
# Of fewer right words, words that are less alike are looked up, too: that costs little, and names
# of places in other languages need it.
_MANY_WORDS = 50_000
# Words that are found by the rare n-grams of a word, with repetitions: so many times the square
# root of the number of words. With 7,000, 96.3 % of queries with typos find their text among
# 150,000 names and addresses with 90,000 words, with 3,000 words 95.5 %.
_POSTINGS = 20
_MIN_POSTINGS = 3000
# Left words whose products are in memory at the same time.
_BATCH = 2000


def alike_words(left: Texts, right: Texts) -> sparse.csr_array:
    """Finds the right words that are spelled like each left word.

    Returns:
        Products of their n-grams, float32 `(num_left_words, num_right_words)`. A sum over the words
        of two texts is the product of the texts: a few long lists of texts with one n-gram become
        many short lists of texts with one word.
    """
    num_words = np.diff(right.by_ngram.indptr)
    num_right = len(right.lists.words)
    share = min(num_right / _MANY_WORDS, 1)
    min_cosine = _MIN_COSINE * share
    max_postings = max(_POSTINGS * num_right**0.5, _MIN_POSTINGS / max(share, 0.5))

    def products_of(start: int) -> sparse.csr_array:
        batch = left.word_ngrams[start : start + _BATCH]
        # Frequent n-grams are missing on the left.
        rare = rare_keys(batch, num_words, int(max_postings))
        found = rare @ right.by_ngram
        rows = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
        left_lengths = np.sqrt(rare.power(2).sum(axis=1))
        lengths = left_lengths[rows] * right.word_lengths[found.indices]
        return entries(found, np.flatnonzero(found.data >= min_cosine * lengths))

    num_left = left.word_ngrams.shape[0]
    blocks = [sparse.csr_array((0, right.word_ngrams.shape[0]), dtype=np.float32)]
    for _, block in in_threads(products_of, range(0, num_left, _BATCH)):
        blocks.append(block)
    return sparse.csr_array(sparse.vstack(blocks, format="csr"))
