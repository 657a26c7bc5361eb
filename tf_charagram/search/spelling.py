"""Spelling correction: the words nearest to a misspelling, most probable first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tf_charagram.errors import ConfigError, check_positive
from tf_charagram.models.embedder import TextEmbedder, unit_rows
from tf_charagram.search.texts import read_vocabulary
from tf_charagram.text.tensors import decoded, texts_of

#: Words that are looked at, those with the largest cosines.
NUM_CANDIDATES = 2000
#: Edits are counted in so many first letters of a word.
MAX_CHARS = 1000
#: More edits than this are as if no letter were right.
MOST_EDITS = 10


class Weights(NamedTuple):
    """Weights of a log-linear score of a candidate.

    Attributes:
        cosine: Of the cosine of its vector with that of the wrong form.
        distance: Of the edits between the two, see `edit_shares`.
        log_rank: Of the logarithm of its place in the vocabulary, the most frequent word being 1.
        first_letter: Of the first letters being different.
        last_letter: Of the last letters being different.
    """

    cosine: float
    distance: float
    log_rank: float
    first_letter: float
    last_letter: float


#: What `benchmarks/spelling.py` fitted to 3,708 misspellings, among 100,000 words, of `english`,
#: which was trained on other misspellings.
WEIGHTS = Weights(8.29, -24.334, -0.696, -2.067, -1.451)


class Correction(NamedTuple):
    """A word that may be meant, and how probable it is among those that were looked at."""

    word: str
    probability: float


class SpellingCorrector:
    """Corrects misspellings: the nearest words by vectors, ordered by edits and frequency as well.

    Case is ignored. The wrong form itself is never an answer.

    Args:
        embedder: Embeds words; what its own dictionary would make of them does not matter.
        words: The vocabulary, most frequent first; of words that differ in case alone, the first.

    Attributes:
        words: The vocabulary.
        keys: The vocabulary in lower case.
        vectors: Unit-length embeddings of the keys, float32 `(num_words, dim)`.

    Raises:
        ConfigError: There are no words, or `words` is a single string.
    """

    def __init__(self, embedder: TextEmbedder, words: Sequence[str | bytes]) -> None:
        forms = first_forms([*map(decoded, texts_of(words, "words"))])
        if not forms:
            raise ConfigError("There are no words to choose corrections from.")
        self.words = list(forms.values())
        self.keys = list(forms)
        self._positions = {key: position for position, key in enumerate(self.keys)}
        vectorizer, encoder, _ = embedder.parts
        self._embedder = TextEmbedder(vectorizer.as_written(), encoder)
        self.vectors = self.embed(self.keys)

    def embed(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Embeds words to unit length, float32 `(num_words, dim)`."""
        return unit_rows(self._embedder.encode(words))

    def correct(self, word: str | bytes, k: int = 10) -> list[Correction]:
        """Returns the words that are most probably meant, best first.

        Args:
            word: A misspelling.
            k: How many; as many candidates are looked at, but at least `NUM_CANDIDATES`.

        Raises:
            ConfigError: `k` is no integer or below 1.
        """
        check_positive(k=k)
        key = decoded(word).strip().lower()
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
        edit_shares(word, names),
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


def edit_shares(word: str, others: Sequence[str]) -> NDArray[np.float64]:
    """Returns the edits between a word and others by the letters of the longer, `(num_others,)`.

    More than `MOST_EDITS` edits are as if no letter were right: 1.
    """
    distances = osa_distances(word, others)
    longer = np.array([max(len(word), len(other), 1) for other in others])
    return np.where(distances > MOST_EDITS, 1.0, distances / longer)


def osa_distances(word: str, others: Sequence[str], most: int = MOST_EDITS) -> NDArray[np.intp]:
    """Returns the optimal string alignment distances of a word to others, at most `most + 1`.

    That is how many letters must be inserted, deleted, replaced, or swapped with the next, where no
    letter is edited twice: Damerau's distance in its restricted form. All others are compared at
    once, letter by letter of the word.

    Args:
        word: The word.
        others: The others; time grows with `most` and the word, not with their length.
        most: Distances above it do not matter.

    Returns:
        `(num_others,)`.

    Example:
        >>> osa_distances("vehicals", ["vehicles", "whole"]).tolist()
        [2, 6]
    """
    lengths = np.array([len(other) for other in others], np.intp)
    distances = np.full(len(others), most + 1, np.intp)
    near = np.flatnonzero(np.abs(lengths - len(word)) <= most)
    if not near.size:
        return distances
    # Cells more than `most` off the diagonal do not matter; a row holds the others.
    offsets = np.arange(-most, most + 1)
    letters = np.zeros([len(near), len(word) + 2 * most], np.uint32)
    points = _code_points([others[index] for index in near.tolist()])
    letters[:, most : most + points.shape[1]] = points
    last = np.tile(np.where(offsets < 0, most + 1, offsets), (len(near), 1))
    before_last, was_letter = last, np.zeros(last.shape, bool)
    for row, letter in enumerate(_code_points([word])[0, : len(word)]):
        is_letter = letters[:, row : row + len(offsets)] == letter
        current = last + ~is_letter
        np.minimum(current[:, :-1], last[:, 1:] + 1, out=current[:, :-1])
        is_swapped = is_letter[:, :-2] & was_letter[:, 2:]
        swapped = np.where(is_swapped, before_last[:, 1:-1] + 1, current[:, 1:-1])
        np.minimum(current[:, 1:-1], swapped, out=current[:, 1:-1])
        # A letter more costs one: from each cell to all on its right.
        current = np.minimum.accumulate(current - offsets, axis=1) + offsets
        before_last, last, was_letter = last, current, is_letter
    ends = lengths[near] - len(word) + most
    distances[near] = np.minimum(last[np.arange(len(near)), ends], most + 1)
    return distances


def _code_points(words: Sequence[str]) -> NDArray[np.uint32]:
    """Returns the letters of words, zeros after the last of each, `(num_words, longest)`."""
    longest = max(1, *map(len, words))
    return np.array(words, f"U{longest}").view(np.uint32).reshape(len(words), longest)
