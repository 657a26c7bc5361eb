"""Spelling correction: the words nearest to a misspelling, most probable first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tf_charagram.errors import ConfigError
from tf_charagram.models.embedder import TextEmbedder, unit_rows
from tf_charagram.search.texts import read_vocabulary

#: Words that are looked at, those with the largest cosines.
NUM_CANDIDATES = 50
#: Edits are counted in so many first letters of a word.
MAX_CHARS = 1000
#: More edits than this are as if no letter were right.
MOST_EDITS = 10


class Weights(NamedTuple):
    """Weights of a log-linear score of a candidate.

    Attributes:
        cosine: Of the cosine of its vector with that of the wrong form.
        distance: Of the edits between the two, see `edit_share`.
        log_rank: Of the logarithm of its place in the vocabulary, the most frequent word being 1.
        first_letter: Of the first letters being different.
        last_letter: Of the last letters being different.
    """

    cosine: float
    distance: float
    log_rank: float
    first_letter: float
    last_letter: float


#: What `benchmarks/spelling.py` fitted to 3,694 misspellings, among 100,000 words, of a model that
#: was trained on paraphrases and other misspellings.
WEIGHTS = Weights(6.34, -24.76, -0.624, -2.74, -1.66)


class Correction(NamedTuple):
    """A word that may be meant, and how probable it is among those that were looked at."""

    word: str
    probability: float


class SpellingCorrector:
    """Corrects misspellings: the nearest words by vectors, ordered by edits and frequency as well.

    Case is ignored. The wrong form itself is never an answer.

    Args:
        embedder: Embeds words.
        words: The vocabulary, most frequent first; of words that differ in case alone, the first.

    Attributes:
        words: The vocabulary.
        keys: The vocabulary in lower case.
        vectors: Unit-length embeddings of the keys, float32 `(num_words, dim)`.

    Raises:
        ConfigError: There are no words.
    """

    def __init__(self, embedder: TextEmbedder, words: Sequence[str]) -> None:
        forms = first_forms(words)
        if not forms:
            raise ConfigError("There are no words to choose corrections from.")
        self.words = list(forms.values())
        self.keys = list(forms)
        self._positions = {key: position for position, key in enumerate(self.keys)}
        self._embedder = embedder
        self.vectors = self.embed(self.keys)

    def embed(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Embeds words to unit length, float32 `(num_words, dim)`."""
        return unit_rows(self._embedder.encode(words))

    def correct(self, word: str, k: int = 10) -> list[Correction]:
        """Returns the words that are most probably meant, best first.

        Args:
            word: A misspelling.
            k: How many; as many candidates are looked at, but at least `NUM_CANDIDATES`.

        Raises:
            ConfigError: `k` is below 1.
        """
        if k < 1:
            raise ConfigError(f"`k` must be at least 1. Received: k={k}")
        key = word.strip().lower()
        cosines = self.vectors @ self.embed([key])[0]
        own = self._positions.get(key, -1)
        candidates = nearest(cosines, max(k, NUM_CANDIDATES), own)
        features = candidate_features(key, candidates, cosines, self.keys)
        order, probabilities = ordered(features)
        return [
            Correction(self.words[candidates[index]], float(probabilities[index]))
            for index in order[:k]
        ]


def read_words(path: str | None, model: str, flag: str = "--texts") -> list[str]:
    """Returns the words of a file, in order; what follows a tab, such as a count, is left out.

    Arguments and errors are those of `read_vocabulary`.
    """
    return [text.partition("\t")[0] for text in read_vocabulary(path, model, flag)]


def first_forms(words: Sequence[str]) -> dict[str, str]:
    """Returns each word in lower case with the first form of it, in order; blank ones left out."""
    forms: dict[str, str] = {}
    for word in words:
        if form := word.strip():
            forms.setdefault(form.lower(), form)
    return forms


def nearest(cosines: NDArray[np.floating], k: int, own: int = -1) -> NDArray[np.intp]:
    """Returns the positions of the largest cosines, largest first; of equal ones the first.

    Args:
        cosines: `(num_words,)`.
        k: How many.
        own: A position to leave out; -1 for none.
    """
    num_kept = min(k + (own >= 0), len(cosines))
    smallest = np.partition(cosines, -num_kept)[-num_kept]
    positions = np.flatnonzero(cosines >= smallest)
    positions = positions[np.argsort(-cosines[positions], kind="stable")]
    return positions[positions != own][:k]


def candidate_features(
    word: str,
    candidates: NDArray[np.intp],
    cosines: NDArray[np.floating],
    keys: Sequence[str],
) -> NDArray[np.float64]:
    """Returns what `Weights` weighs of each candidate, float64 `(num_candidates, 5)`.

    Args:
        word: The wrong form, in lower case.
        candidates: Their positions in the vocabulary.
        cosines: `(num_words,)`, of the whole vocabulary.
        keys: The vocabulary in lower case, most frequent first.
    """
    word = word[:MAX_CHARS]
    names = [keys[position][:MAX_CHARS] for position in candidates]
    columns = (
        cosines[candidates],
        [edit_share(word, name) for name in names],
        np.log1p(candidates),
        [word[:1] != name[:1] for name in names],
        [word[-1:] != name[-1:] for name in names],
    )
    return np.stack([np.asarray(column, np.float64) for column in columns], axis=1)


def ordered(
    features: NDArray[np.float64], weights: Weights = WEIGHTS
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Orders candidates by their weighted features.

    Args:
        features: `(num_candidates, 5)`, see `candidate_features`.
        weights: The weights.

    Returns:
        The indices of the candidates, best first, and their probabilities, as they were given: a
        softmax of the scores, for the weights are those of a conditional logit model.
    """
    scores = features @ np.array(weights)
    exponentials = np.exp(scores - scores.max(initial=-np.inf))
    return np.argsort(-scores, kind="stable"), exponentials / exponentials.sum()


def edit_share(left: str, right: str, most: int = MOST_EDITS) -> float:
    """Returns the edits between two words by the letters of the longer; 1 for more than `most`."""
    distance = osa_distance(left, right, most)
    return 1.0 if distance > most else distance / max(len(left), len(right), 1)


def osa_distance(left: str, right: str, most: int = MOST_EDITS) -> int:
    """Returns the optimal string alignment distance, at most `most + 1`.

    That is how many letters must be inserted, deleted, replaced, or swapped with the next, where no
    letter is edited twice: Damerau's distance in its restricted form. Time grows with `most` and
    the length of the words, not with the product of their lengths.

    Example:
        >>> osa_distance("vehicals", "vehicles"), osa_distance("teh", "the")
        (2, 1)
    """
    if abs(len(left) - len(right)) > most:
        return most + 1
    left, right = _without_common_ends(left, right)
    far = most + 1
    last = [min(column, far) for column in range(len(right) + 1)]
    before_last, current = last.copy(), last.copy()
    for row, left_letter in enumerate(left, start=1):
        # Cells outside this band are more than `most` edits away.
        low, high = max(1, row - most), min(len(right), row + most)
        current[low - 1] = distance = nearest = min(row, far) if low == 1 else far
        for column in range(low, high + 1):
            right_letter = right[column - 1]
            # The cell to the left is `distance`.
            distance = min(
                distance + 1, last[column] + 1, last[column - 1] + (left_letter != right_letter)
            )
            if (
                row > 1 < column
                and left_letter == right[column - 2]
                and left[row - 2] == right_letter
            ):
                distance = min(distance, before_last[column - 2] + 1)
            current[column] = distance
            nearest = min(nearest, distance)
        if nearest > most:
            return far
        if high < len(right):
            current[high + 1] = far
        before_last, last, current = last, current, before_last
    return min(last[-1], far)


def _without_common_ends(left: str, right: str) -> tuple[str, str]:
    """Returns two words without what both begin with and what both then end with."""
    start = _common_length(left, right)
    left, right = left[start:], right[start:]
    end = _common_length(reversed(left), reversed(right))
    return left[: len(left) - end], right[: len(right) - end]


def _common_length(left: Iterable[str], right: Iterable[str]) -> int:
    """Returns how many letters are the same before the first that differ."""
    length = 0
    for left_letter, right_letter in zip(left, right, strict=False):
        if left_letter != right_letter:
            break
        length += 1
    return length
