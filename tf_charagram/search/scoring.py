"""`TextScorer`: how similar two texts are, by meaning, n-grams, words and letters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA
from scipy import sparse
from scipy.special import expit

from tf_charagram.errors import ConfigError
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.search.learning import Learned, learn_weights
from tf_charagram.search.tfidf import CharacterTfidf, words_in
from tf_charagram.text.tensors import decoded, paired_texts, texts_of

#: Words and letters of a text that are compared one by one; the vectors see all of it.
MAX_WORDS, MAX_LETTERS = 100, 40
#: Less similar words are not variants of each other.
MIN_SIMILARITY = 0.6
#: Letters of a code, such as the number of a model: a word with a digit.
MIN_CODE, LONG_CODE = 4, 10
#: How far a long code that two texts share moves their score to 1, and different codes to 0.
CODE_STEP = 0.2
_BLOCK = 50_000
# Vectors that fit into the cache.
_VECTOR_BLOCK = 500
_HAS_DIGIT = re.compile(r"\d")


class Weights(NamedTuple):
    """Weights of four similarities of two texts, each at most 1.

    Attributes:
        vectors: Of the cosine of the embeddings.
        ngrams: Of the cosine of the tf-idf of character n-grams, see `CharacterTfidf`.
        words: Of the share of common words, rare ones weighted more, misspelled ones counted in
            part: soft tf-idf (Cohen, Ravikumar and Fienberg, *A Comparison of String Distance
            Metrics for Name-Matching Tasks*, 2003), with squared similarities.
        letters: Of 1 - the edit distance, over the length of the longer text.
    """

    vectors: float
    ngrams: float
    words: float
    letters: float


#: Weights for long texts and for single words. In between, the second ones have the share of one
#: word in the words of the longer text.
LONG = Weights(0.30, 0.50, 0.20, 0.0)
SINGLE = Weights(0.20, 0.10, 0.15, 0.55)


@dataclass
class Texts:
    """Texts, made ready to be compared.

    Attributes:
        words: The first words of each text, lowercase and without accents.
        weights: Inverse document frequencies of these words, float32.
        codes: The words with digits of each text, see `is_code`.
        ngrams: Tf-idf of n-grams, rows of unit length.
        vectors: Embeddings of unit length, float32 `(num_texts, dim)`.
    """

    words: list[list[str]]
    weights: list[NDArray[np.float32]]
    codes: list[list[str]]
    ngrams: sparse.csr_array
    vectors: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.words)

    def part(self, start: int, stop: int) -> Texts:
        """Returns some consecutive texts."""
        return Texts(
            self.words[start:stop], self.weights[start:stop], self.codes[start:stop],
            self.ngrams[start:stop], self.vectors[start:stop],
        )  # fmt: skip

    @cached_property
    def num_words(self) -> NDArray[np.int64]:
        """The number of first words of each text."""
        return np.array([*map(len, self.words)], np.int64)

    @cached_property
    def by_ngram(self) -> sparse.csr_array:
        """The n-grams, one row for each."""
        return self.ngrams.T.tocsr()


class TextScorer:
    """Scores pairs of texts.

    Args:
        texts: The texts to count words and n-grams in; rare ones weigh more.
        model: Run folder, model folder or name of a model; or an embedder; or `None` to compare
            letters only.
        lexical: Whether letters are compared; otherwise a score is the cosine of the embeddings.

    Raises:
        ConfigError: `texts` is a single string or contains other values, or there is neither a
            model nor `lexical`.
        RunError: The model cannot be loaded.

    Example:
        >>> scorer = TextScorer(["Sony WH-1000XM5 Headphones", "Sony Headphones"], model=None)
        >>> scorer.score(["sony hedphones"], ["Sony Headphones"]).round(2)
        array([0.94], dtype=float32)
    """

    def __init__(
        self,
        texts: Iterable[str | bytes],
        model: str | Path | TextEmbedder | None = "english",
        *,
        lexical: bool = True,
    ) -> None:
        if model is None and not lexical:
            raise ConfigError("Give a `model`, or leave `lexical` on: there is nothing to compare.")
        if model is None or isinstance(model, TextEmbedder):
            self.embedder = model
        else:
            self.embedder = TextEmbedder.load(model, folded=True)
        used = np.array([model is not None, lexical, lexical, lexical])
        weights = np.where(used, [LONG, SINGLE], 0)
        #: Of long texts and of single words, `(2, 4)`.
        self._weights = weights / weights.sum(axis=1, keepdims=True)
        #: Of all features, if learned.
        self._learned: NDArray[np.float64] | None = None
        self.is_lexical = lexical
        self._tfidf = CharacterTfidf(())
        self.count([*map(decoded, texts_of(texts, "texts"))])

    def count(self, texts: Sequence[str]) -> None:
        """Counts words and n-grams again."""
        bags = words_in(texts)
        self._tfidf.fit_words(bags)
        df = Counter(word for bag in bags for word in set(bag))
        self._idf = {word: 1 + np.log((1 + len(bags)) / (1 + count)) for word, count in df.items()}
        self._max_idf = 1 + np.log(1 + len(bags))

    def prepare(self, texts: Sequence[str], vectors: NDArray[np.float32] | None = None) -> Texts:
        """Returns texts ready to be compared, perhaps with vectors that are known."""
        if vectors is None:
            vectors = np.zeros((len(texts), 0), np.float32)
            if self.embedder is not None:
                vectors = self.embedder.encode(texts, normalize=True)
        bags = words_in(texts)
        weights = [
            np.array([self._idf.get(word, self._max_idf) for word in bag[:MAX_WORDS]], np.float32)
            for bag in bags
        ]
        words = [[word[:MAX_LETTERS] for word in bag[:MAX_WORDS]] for bag in bags]
        codes = [[*{word for word in bag if is_code(word)}] for bag in words]
        return Texts(words, weights, codes, self._tfidf.transform_words(bags), vectors)

    def score(
        self, left: Iterable[str | bytes], right: Iterable[str | bytes]
    ) -> NDArray[np.float32]:
        """Returns the scores of corresponding texts, float32 `(num_texts,)`, from 0 to 1.

        Args:
            left: Texts.
            right: The same number of texts.

        Raises:
            ConfigError: The lists differ in length, or one is a single string or contains other
                values.
        """
        return self.pair_scores(*self._paired(left, right))

    def learn(
        self, left: Iterable[str | bytes], right: Iterable[str | bytes], labels: Iterable[int]
    ) -> Learned:
        """Learns the weights from pairs; scores become probabilities.

        Args:
            left: Texts.
            right: The same number of texts.
            labels: Whether corresponding texts match, 1 or 0.

        Returns:
            The threshold with the largest F1.

        Raises:
            ConfigError: The lists differ in length, or there are not two matches and two others.
        """
        lefts, rights, pairs = self._paired(left, right)
        values = [*labels]
        num_ones, num_zeros = values.count(1), values.count(0)
        if not len(values) == len(pairs) == num_ones + num_zeros or min(num_ones, num_zeros) < 2:
            raise ConfigError(
                "`labels` must be 1 or 0 for each pair, both at least twice. "
                f"Received: {len(pairs)} pairs, {num_ones} ones, {num_zeros} zeros"
            )
        is_match = np.array(values, bool)
        self._learned, found = learn_weights(self._features(lefts, rights, pairs), is_match)
        return found

    def settings(self) -> dict[str, Any]:
        """Returns the argument of `from_settings`."""
        learned = None if self._learned is None else self._learned.tolist()
        return {"lexical": self.is_lexical, "learned": learned}

    @classmethod
    def from_settings(
        cls, settings: Mapping[str, Any], texts: Iterable[str | bytes],
        model: str | Path | TextEmbedder | None,
    ) -> TextScorer:  # fmt: skip
        """Makes a scorer with the weights of another one."""
        scorer = cls(texts, model, lexical=settings["lexical"])
        if settings["learned"] is not None:
            scorer._learned = np.array(settings["learned"], np.float64)
        return scorer

    def _paired(
        self, left: Iterable[str | bytes], right: Iterable[str | bytes]
    ) -> tuple[Texts, Texts, NDArray[np.int64]]:
        lefts, rights = paired_texts(left, right)
        rows = np.arange(len(lefts))
        left_texts, right_texts = (self.prepare([*map(decoded, t)]) for t in (lefts, rights))
        return left_texts, right_texts, np.stack([rows, rows], axis=1)

    def pair_scores(
        self, left: Texts, right: Texts, pairs: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """Returns the scores of pairs of prepared texts, float32 `(num_pairs,)`, from 0 to 1.

        Args:
            left: Texts.
            right: Texts.
            pairs: Rows of both, `(num_pairs, 2)`, sorted by the left ones.
        """
        scores = np.empty(len(pairs), np.float32)
        for start in range(0, len(pairs), _BLOCK):
            features = self._features(left, right, pairs[start : start + _BLOCK])
            scores[start : start + _BLOCK] = self._combined(features)
        return scores

    def _combined(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Returns the scores for features, see `_features`."""
        if self._learned is not None:
            return expit(features @ self._learned)
        scores = np.clip(features[:, :8] @ self._weights.ravel(), 0, 1)
        shared, differ = features[:, 8], features[:, 9]
        return (scores + CODE_STEP * shared * (1 - scores)) * (1 - CODE_STEP * differ)

    def _features(
        self, left: Texts, right: Texts, pairs: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """Returns the features of pairs, float32 `(num_pairs, 11)`.

        The four similarities of `Weights`, as the part of long texts and as that of single words;
        the length of the longest code that both have, at most 1; whether both have codes, but none
        in common; and 1.
        """
        lefts, rights = pairs.T
        similarities = np.zeros((len(pairs), 4), np.float32)
        codes = np.zeros((len(pairs), 2), np.float32)
        if self.embedder is not None:
            similarities[:, 0] = _cosines(left.vectors, right.vectors, pairs)
        if self.is_lexical:
            similarities[:, 1] = left.ngrams[lefts].multiply(right.ngrams[rights]).sum(axis=1)
            firsts = np.flatnonzero(np.diff(lefts, prepend=-1))
            for first, stop in pairwise([*firsts.tolist(), len(pairs)]):
                row, others = lefts[first], rights[first:stop].tolist()
                similarities[first:stop, 2] = _shared_words(left, row, right, others)
                similarities[first:stop, 3] = _alike_letters(left, row, right, others)
                codes[first:stop] = _common_codes(left, row, right, others)
        longest = np.maximum(left.num_words[lefts], right.num_words[rights])
        share = (1 / np.maximum(longest, 1)).astype(np.float32)[:, np.newaxis]
        ones = np.ones((len(pairs), 1), np.float32)
        parts = (similarities * (1 - share), similarities * share, codes, ones)
        return np.concatenate(parts, axis=1)


def is_code(word: str) -> bool:
    """Returns whether a word may be the number of a model, a part or a document."""
    return len(word) >= MIN_CODE and _HAS_DIGIT.search(word) is not None


def _cosines(
    left: NDArray[np.float32], right: NDArray[np.float32], pairs: NDArray[np.integer]
) -> NDArray[np.float32]:
    """Returns the products of pairs of rows of unit length, float32 `(num_pairs,)`."""
    cosines = np.empty(len(pairs), np.float32)
    for start in range(0, len(pairs), _VECTOR_BLOCK):
        block = slice(start, start + _VECTOR_BLOCK)
        lefts, rights = pairs[block].T
        np.einsum("ij,ij->i", left[lefts], right[rights], out=cosines[block])
    return np.clip(cosines, -1, 1, out=cosines)


def _shared_words(
    left: Texts, row: int, right: Texts, others: Sequence[int]
) -> NDArray[np.float32]:
    """Returns the soft tf-idf of a text and others, float32 `(num_others,)`.

    The sum of (weight x similarity to the most similar other word)^2 over the words of the text,
    divided by the lengths of both vectors of weights; at most 1.
    """
    words, weights = left.words[row], left.weights[row]
    shares = np.zeros(len(others), np.float32)
    bags = [right.words[other] for other in others]
    filled = np.flatnonzero([*map(len, bags)]).tolist()
    if not words or not filled:
        return shares
    similarities = process.cdist(
        words, [word for bag in bags for word in bag],
        scorer=OSA.normalized_similarity, score_cutoff=MIN_SIMILARITY, dtype=np.float32,
    )  # fmt: skip
    lengths = np.array([len(bags[place]) for place in filled])
    starts = np.cumsum(lengths) - lengths
    nearest = np.maximum.reduceat(similarities, starts, axis=1)
    squares = np.concatenate([right.weights[others[place]] for place in filled]) ** 2
    norms = np.sqrt(np.sum(weights**2) * np.add.reduceat(squares, starts))
    shares[filled] = np.minimum(weights**2 @ nearest**2 / norms, 1)
    return shares


def _alike_letters(
    left: Texts, row: int, right: Texts, others: Sequence[int]
) -> NDArray[np.float32]:
    """Returns the similarity of the letters of a text and others, float32 `(num_others,)`."""
    if not left.words[row]:
        return np.zeros(len(others), np.float32)
    [similarities] = process.cdist(
        [" ".join(left.words[row])], [" ".join(right.words[other]) for other in others],
        scorer=OSA.normalized_similarity, dtype=np.float32,
    )  # fmt: skip
    return similarities


def _common_codes(
    left: Texts, row: int, right: Texts, others: Sequence[int]
) -> NDArray[np.float32]:
    """Returns the last two similarities of `_features`, float32 `(num_others, 2)`.

    A code is also found where the other text joins it with other words, or has it in parts.
    """
    codes = np.zeros((len(others), 2), np.float32)
    own, letters = left.codes[row], "".join(left.words[row])
    for place, other in enumerate(others):
        theirs = right.codes[other]
        if own or theirs:
            joined = "".join(right.words[other])
            common = [code for code in own if code in joined]
            common += [code for code in theirs if code in letters]
            codes[place, 0] = min(max(map(len, common), default=0) / LONG_CODE, 1)
            codes[place, 1] = bool(own and theirs and not common)
    return codes
