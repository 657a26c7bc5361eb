"""Corrects the spelling of words: nearest by vectors, then ordered by edits and frequency."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA

from tf_charagram.errors import ConfigError, check_positive
from tf_charagram.models._answers.vectors import nearest
from tf_charagram.models._storage.choice import Embedder
from tf_charagram.search._pairs.flat_arrays import Array, Floats
from tf_charagram.search.texts import read_vocabulary
from tf_charagram.text._algorithm.arguments import strings_of
from tf_charagram.text._algorithm.batches import decoded

# Models read texts with the corrections of `text/_spelling`: words within one edit, in a lookup per
# word. Here, all known words are candidates.

#: Number of words with the largest cosines that are compared in detail.
NUM_CANDIDATES = 2000
#: Letters of a word that are compared: two words of a million would take minutes.
MAX_CHARS = 1000
#: Words with more edits count as completely different.
MAX_EDITS = 10


class CorrectionWeights(NamedTuple):
    """Weights of the log-linear score of a candidate.

    Attributes:
        cosine: Weight of the cosine with the misspelling.
        distance: Weight of the edit distance over the length of the longer word.
        log_rank: Weight of the logarithm of the rank in the vocabulary, from 1.
        first_letter: Weight of a different first letter.
        last_letter: Weight of a different last letter.
    """

    cosine: float
    distance: float
    log_rank: float
    first_letter: float
    last_letter: float


#: Fitted by `benchmarks/spelling.py` for `english`, on 3,708 held-out misspellings.
WEIGHTS = CorrectionWeights(8.29, -24.334, -0.696, -2.067, -1.451)


class Correction(NamedTuple):
    """A candidate and its probability among all candidates."""

    word: str
    probability: float


class SpellingCorrector:
    """Finds the most probable corrections of misspellings.

    Case is ignored. A misspelling is never its own correction.

    Args:
        embedder: The model, loaded with `correct_spelling=False`: its own correction would choose
            before any comparison.
        words: The vocabulary, most frequent first. If words differ only in case, only the first
            counts.

    Attributes:
        words: The vocabulary.
        keys: The vocabulary in lowercase.
        vectors: Unit-length embeddings of the keys, float32 `(num_words, dim)`.

    Raises:
        ConfigError: `words` is empty or a single string.
    """

    def __init__(self, embedder: Embedder, words: Sequence[str | bytes]) -> None:
        forms = first_forms(strings_of(words, "words"))
        if not forms:
            raise ConfigError("There are no words to choose corrections from.")
        self.words = list(forms.values())
        self.keys = list(forms)
        self._positions = {key: position for position, key in enumerate(self.keys)}
        self._embedder = embedder
        self.vectors = self.embed(self.keys)

    def embed(self, words: Sequence[str]) -> Floats:
        """Returns unit-length embeddings of words, float32 `(num_words, dim)`."""
        return self._embedder.encode(words, normalize=True)

    def correct(self, word: str | bytes, k: int = 10) -> list[Correction]:
        """Returns the most probable corrections, best first.

        Args:
            word: A misspelling.
            k: Number of corrections.

        Raises:
            ConfigError: `k` is not a positive integer.
        """
        check_positive(k=k)
        key = decoded(word).strip().lower()
        cosines = self.vectors @ self.embed([key])[0]
        own = self._positions.get(key, -1)
        candidates = nearest(cosines, max(k, NUM_CANDIDATES), own)
        features = candidate_features(key, candidates, cosines, self.keys)
        order, probabilities = ordered(features)
        corrections = []
        for index in order[:k]:
            corrected = self.words[candidates[index]]
            corrections.append(Correction(corrected, float(probabilities[index])))
        return corrections


def read_words(path: str | None, model: str, flag: str = "--texts") -> list[str]:
    """Returns the words of a file without counts, or all words of the model.

    Args:
        path: The file, one word per line, which a tab and a count may follow; `None` for the
            training texts of the run or the words of the model.
        model: Run folder, model folder or name of a model.
        flag: Flag of the file, for error messages.

    Raises:
        ConfigError: No file is given, and the model has no texts.
        DataError: The file cannot be read.
        RunError: No file is given, and the model cannot be loaded.
    """
    texts = read_vocabulary(path, model, flag, num_words=None)
    return [text.partition("\t")[0] for text in texts]


def first_forms(words: Sequence[str]) -> dict[str, str]:
    """Returns lowercase word -> its first form, in order, without blank words."""
    forms: dict[str, str] = {}
    for word in words:
        form = word.strip()
        if form:
            forms.setdefault(form.lower(), form)
    return forms


def candidate_features(
    word: str,
    candidates: NDArray[np.intp],
    cosines: NDArray[np.floating],
    keys: Sequence[str],
) -> Array:
    """Returns the features of candidates, in the order of `CorrectionWeights`.

    Args:
        word: The misspelling, in lowercase.
        candidates: Positions in the vocabulary.
        cosines: Cosines of the whole vocabulary, `(num_words,)`.
        keys: The vocabulary in lowercase, most frequent first.

    Returns:
        float64 `(num_candidates, 5)`.
    """
    word = word[:MAX_CHARS]
    names = [keys[position][:MAX_CHARS] for position in candidates]
    columns = (
        cosines[candidates],
        edit_shares(word, names),
        # Positions count from 0, ranks from 1.
        np.log1p(candidates),
        [word[:1] != name[:1] for name in names],
        [word[-1:] != name[-1:] for name in names],
    )
    return np.stack(columns, axis=1, dtype=np.float64)


def ordered(
    features: Array, weights: CorrectionWeights = WEIGHTS
) -> tuple[NDArray[np.intp], Array]:
    """Orders candidates by their scores in a conditional logit model.

    Args:
        features: Features of the candidates in the order of `CorrectionWeights`,
            `(num_candidates, 5)`.
        weights: The weights.

    Returns:
        Indices of the candidates, best first, and the probabilities of the candidates as given.
    """
    scores = features @ np.array(weights)
    # The initial value is for no candidates at all.
    max_score = scores.max(initial=-np.inf)
    # Large scores would overflow.
    exponentials = np.exp(scores - max_score)
    order = np.argsort(-scores, kind="stable")
    return order, exponentials / exponentials.sum()


def edit_shares(word: str, others: Sequence[str]) -> Array:
    """Returns the edit distances to other words, divided by the length of the longer word.

    Distances come from optimal string alignment, where swapping two neighbors is one edit.

    Args:
        word: A word.
        others: Other words.

    Returns:
        Shares, float64 `(num_others,)`; 1 for more than `MAX_EDITS` edits.

    Examples:
        >>> edit_shares("vehicals", ["vehicles", "whole"]).tolist()
        [0.25, 0.75]
    """
    [distances] = process.cdist([word], others, scorer=OSA.distance, score_cutoff=MAX_EDITS)
    lengths = [len(other) for other in others]
    longer = np.maximum(lengths, max(len(word), 1))
    shares = distances / longer
    return np.where(distances > MAX_EDITS, 1.0, shares)
