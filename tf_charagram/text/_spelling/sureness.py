"""How sure the reading of an unknown word is: a logistic regression in integers.

Its terms are the error that the reading supposes, how frequent the words read are, how word-like
the written word is, and its length. They are whole numbers, so that graphs, NumPy and batches of
any size give the same shares to the bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tf_charagram.text._algorithm.flat import Array, OnExecutor, Ops
from tf_charagram.text._spelling.letters import MAX_LETTERS

#: Kinds of typos, in the order of the candidates; DOUBLED is an added letter equal to the one
#: before. Each is counted at the first letter, inside the word, and at its last letter.
NUM_TYPOS = 5
ADDED_KIND = 2
DOUBLED_KIND = np.int64(4)
FIRST = np.int64(0)
INSIDE = np.int64(1)
LAST = np.int64(2)
NUM_PLACES = 3
#: Errors of whole words: no vowels, digits, letters that look alike; then joined words.
FIRST_VARIANT = NUM_TYPOS * NUM_PLACES
JOINED_ERROR = FIRST_VARIANT + 3
NUM_ERRORS = JOINED_ERROR + 1
#: Numbers of a regression: a term per error, and the factors of the logarithm of the share of the
#: words read, of the logarithm of the probability of the letters written, and of one by their
#: number.
NUM_WEIGHTS = NUM_ERRORS + 3

#: The largest share: with a larger one, words that are read as the same would be the same.
MAX_SHARE = 0.65
#: Words with a smaller share are embedded as they are written.
MIN_SHARE = 0.1
#: Words with a larger share are shown as they are read.
SHOWN_SHARE = 0.5

#: Terms and weights are stored in thousandths.
UNITS = 1000
# A share for each so many thousandths, up to the evidence beyond which it stays the same.
STEP = 32
NUM_SHARES = 512
_NUM_WORDS = 5_000
# Letters a to z, and one for all others and for the end of a word.
NUM_LETTERS = 27
# Counts that are added: of letters in proportion to their frequency for each letter before, and of
# pairs for each two letters before.
_PRIOR_OF_PAIR = 5
_PRIOR_OF_TRIPLE = 3


class Sureness:
    """The terms of the sureness of readings, for the words of a dictionary.

    Args:
        weights: `NUM_WEIGHTS` thousandths.
        codes: Code points of the letters of all words.
        splits: Row splits of the words, int64 `(num_words + 1,)`.
        log_probabilities: Binary logarithms of the shares of words, 0 for an empty word and -inf
            for a missing one, float32 `(num_words + 2,)`.

    Attributes:
        errors: Term of each error, int32 `(NUM_ERRORS,)`.
        words: Term of each word read, int32 `(num_words + 2,)`.
        triples: Term of three adjacent letters, int32 `(NUM_LETTERS ** 3,)`.
        lengths: Term of each number of letters, int32 `(MAX_LETTERS + 1,)`.
    """

    def __init__(
        self,
        weights: NDArray[np.integer],
        codes: NDArray[np.integer],
        splits: NDArray[np.int64],
        log_probabilities: NDArray[np.float32],
    ) -> None:
        self.errors = weights[:NUM_ERRORS].astype(np.int32)
        of_words, of_letters, of_length = weights[NUM_ERRORS:].tolist()
        numbers = np.arange(MAX_LETTERS + 1)
        self.lengths = _rounded(of_length / np.maximum(numbers, 1))
        self.words = _rounded(of_words * np.maximum(log_probabilities, -99.0))
        self.triples = _rounded(of_letters * log_triples(letter_numbers(codes), splits))


def letter_numbers(codes: NDArray[np.integer]) -> NDArray[np.int32]:
    """Numbers the letters a to z from 1; all other code points are 0."""
    numbers = codes.astype(np.int64) - (ord("a") - 1)
    is_letter = (numbers > 0) & (numbers < NUM_LETTERS)
    return np.where(is_letter, numbers, 0).astype(np.int32)


def shares_of_steps() -> NDArray[np.float32]:
    """Returns the share of a reading for each step of evidence, float32 `(NUM_SHARES,)`."""
    steps = np.arange(NUM_SHARES) - NUM_SHARES // 2
    evidence = (steps + 0.5) * STEP / UNITS
    probabilities = 1 / (1 + np.exp(-evidence))
    return (MAX_SHARE * probabilities).astype(np.float32)


def log_triples(letters: NDArray[np.int32], splits: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns log2 of the probability of a letter after two others, `(NUM_LETTERS ** 3,)`.

    Each word counts once, with two ends before it and one after.
    """
    counts = np.zeros(NUM_LETTERS**3, np.int64)
    # In chunks, because all places of all words would take more memory than the dictionary.
    for start in range(0, len(splits) - 1, _NUM_WORDS):
        chunk = splits[start : start + _NUM_WORDS + 1]
        first = chunk[0]
        last = chunk[-1]
        counts += _num_triples(letters[first:last], chunk - first)
    triples = counts.reshape(NUM_LETTERS, NUM_LETTERS, NUM_LETTERS).astype(np.float64)
    # A letter that no word has stays possible.
    letter_counts = triples.sum(axis=(0, 1)) + 1
    shares_of_letters = letter_counts / letter_counts.sum()
    pairs_of_letters = triples.sum(axis=0) + _PRIOR_OF_PAIR * shares_of_letters
    pairs_of_letters /= pairs_of_letters.sum(axis=1, keepdims=True)
    triples += _PRIOR_OF_TRIPLE * pairs_of_letters
    triples /= triples.sum(axis=2, keepdims=True)
    return np.log2(triples).ravel()


def _num_triples(letters: NDArray[np.int32], splits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Counts each three adjacent letters of words, `(NUM_LETTERS ** 3,)`."""
    # Two zeros before each word, and after the last one.
    padded = np.insert(letters, np.repeat(splits, 2), 0)
    # The second of two zeros after a word ends no triple.
    num_words_before = np.arange(1, len(splits))
    second_zeros = splits[1:] + 2 * num_words_before + 1
    every_place = np.arange(len(padded))
    places = np.delete(every_place, second_zeros)
    # The first two zeros have too few letters before them.
    places = places[2:]
    pairs = padded[places - 2] * NUM_LETTERS + padded[places - 1]
    triples = pairs * NUM_LETTERS + padded[places]
    return np.bincount(triples, minlength=NUM_LETTERS**3)


def triples_of(ops: Ops, letters: Array, lengths: Array) -> tuple[Array, Array]:
    """Returns the three letters that end at each place of words, and which of them count.

    Args:
        ops: Operations.
        letters: `letter_numbers` of words, 0 past the end, `(num_words, width)`.
        lengths: Their numbers of letters, less than `width`, int64.

    Returns:
        Indices into `log_triples`, `(num_words, width)`; and whether each is of the word, bool of
        the same shape. The end of a word is its last letter.
    """
    # Two zeros, which stand for no letter, come before the first.
    padded = ops.padded(letters, 2, 0)
    first = padded[:, :-2]
    second = padded[:, 1:-1]
    pairs = first * NUM_LETTERS + second
    places = np.arange(letters.shape[1])
    is_counted = ops.with_axis(lengths, 1) >= places
    return pairs * NUM_LETTERS + letters, is_counted


class Shares(OnExecutor):
    """Computes how much of the vector of an unknown word is that of its reading.

    Args:
        sureness: The terms of the sureness of readings.
        ops: Operations.
    """

    def __init__(self, sureness: Sureness, ops: Ops) -> None:
        self._ops = ops
        self._errors = ops.constant(sureness.errors)
        self._words = ops.constant(sureness.words)
        self._triples = ops.constant(sureness.triples)
        self._lengths = ops.constant(sureness.lengths)
        self._shares = ops.constant(shares_of_steps())

    def __call__(self, letters: Array, lengths: Array, rows: Array, errors: Array) -> Array:
        """Returns the share of each reading, float32 `(num_words,)`.

        Args:
            letters: `letter_numbers` of the words, 0 past the end, int32
                `(num_words, MAX_LETTERS + 1)`.
            lengths: Their numbers of letters, int64 `(num_words,)`.
            rows: The rows of the words read, int32 `(num_words, 3)`.
            errors: The errors that explain the written words, int64 `(num_words,)`.
        """
        ops = self._ops
        triples, is_counted = triples_of(ops, letters, lengths)
        of_triples = ops.take(self._triples, triples)
        of_letters = ops.masked(of_triples, is_counted)
        of_words = ops.take(self._words, rows)
        evidence = ops.sum_of(of_letters, axis=1)
        evidence += ops.sum_of(of_words, axis=1)
        evidence += ops.take(self._errors, errors)
        evidence += ops.take(self._lengths, lengths)
        # A step of 0 is in the middle of the table.
        steps = evidence // STEP + NUM_SHARES // 2
        steps = ops.clip(steps, 0, NUM_SHARES - 1)
        return ops.take(self._shares, steps)


def _rounded(terms: NDArray[np.floating]) -> NDArray[np.int32]:
    return np.rint(terms).astype(np.int32)
