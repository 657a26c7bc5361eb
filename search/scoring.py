"""`TextScorer`: how similar two texts are, by meaning, n-grams, words and letters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tf_charagram.errors import ConfigError, check_switches
from tf_charagram.models._storage.choice import Embedder, load_embedder, num_chars_of
from tf_charagram.models._storage.own_words import own_words
from tf_charagram.search._pairs.codes import Codes
from tf_charagram.search._pairs.flat_arrays import (
    NO_FLOATS,
    Array,
    Flags,
    Floats,
    Ids,
    blocks,
    lengths_of,
    taken,
)
from tf_charagram.search._pairs.joined_words import respelled
from tf_charagram.search._pairs.prepared import Texts
from tf_charagram.search._pairs.similarities import (
    MAX_LETTERS,
    MAX_SPELLED_WORDS,
    MAX_WORDS,
    Features,
    bound_letters,
    compare,
    compare_codes,
    compare_letters,
    compare_ngrams,
    compare_wholes,
    compare_words,
)
from tf_charagram.search._pairs.word_lists import WordLists
from tf_charagram.search.statistics import TextStatistics, check_statistics
from tf_charagram.search.tfidf import CharacterTfidf
from tf_charagram.text._algorithm.arguments import paired_texts, strings_of
from tf_charagram.text._algorithm.arrays import splits_of

if TYPE_CHECKING:
    from tf_charagram.search._pairs.learning import Learned

# How far a long code that two texts share moves their score to 1.
_CODE_STEP = 0.2
# How far codes that all differ move a score to 0.
_CODE_PENALTY = 0.3
# Pairs that are scored at once, which bounds the memory of their n-grams.
_MAX_PAIRS = 50_000
#: Columns of the linear model that labels train.
NUM_COLUMNS = 11
# Cheap similarities come first, so that fewer pairs are left for the others: a function, and the
# similarities that are still missing after it.
_STEPS = (
    (compare_ngrams, ("words", "letters")),
    (compare_letters, ("words",)),
    (compare_words, ()),
)


class Weights(NamedTuple):
    """Weights of four similarities of two texts, which sum to 1.

    Attributes:
        vectors: Weight of the cosine of the embeddings.
        ngrams: Weight of the cosine of the tf-idf of character n-grams.
        words: Weight of the common words, where rare words count more and misspelled words in part.
        letters: Weight of 1 - the edit distance over the length of the longer text.
    """

    vectors: float
    ngrams: float
    words: float
    letters: float


class PairEvidence(NamedTuple):
    """What pairs of texts have in common, each float32 `(num_pairs,)`, from 0 to 1.

    Attributes:
        scores: Their scores.
        rarest: Weight of the rarest common word, 1 for a word of a single text; misspelled words
            count in part. 0 for pairs that cannot reach a minimum score, and without `lexical`.
    """

    scores: Floats
    rarest: Floats

    def take(self, chosen: NDArray[np.integer] | Flags | slice) -> PairEvidence:
        """Returns the evidence of some of the pairs."""
        return PairEvidence(*taken(self, chosen))

    @classmethod
    def joined(cls, parts: Sequence[PairEvidence]) -> PairEvidence:
        """Joins the evidence of several parts of the pairs."""
        scores = np.concatenate([NO_FLOATS, *(part.scores for part in parts)])
        return cls(scores, np.concatenate([NO_FLOATS, *(part.rarest for part in parts)]))


#: Weights for long texts, and for single words. If the longer of two texts has n words, SINGLE
#: counts 1/n and LONG the rest.
LONG = Weights(0.30, 0.50, 0.20, 0.0)
SINGLE = Weights(0.20, 0.10, 0.15, 0.55)


class TextScorer:
    """Scores pairs of texts.

    Args:
        texts: The texts to count words and n-grams in; rare words and n-grams weigh more.
        model: Run folder, model folder or name of a model, which reads words that are frequent in
            the texts as they are written, and weighs words by their rarity in the texts; or an
            embedder; or `None` to compare letters only.
        lexical: Whether letters are compared; otherwise a score is the cosine of the embeddings.
        statistics: Counts that are used in place of those of `texts`, as of a larger list. Then
            `texts` only say which words the model reads as they are written.

    Attributes:
        embedder: The model, or `None`.
        is_lexical: Whether letters are compared.
        statistics: What was counted.

    Raises:
        ConfigError: `texts` is a single string or contains other values, `statistics` is something
            else, or there is neither a model nor `lexical`.
        RunError: The model cannot be loaded.

    Examples:
        >>> scorer = TextScorer(["Sony WH-1000XM5 Headphones", "Sony Headphones"], model=None)
        >>> scorer.score(["sony hedphones"], ["Sony Headphones"]).round(2)
        array([0.94], dtype=float32)
    """

    def __init__(
        self,
        texts: Iterable[str | bytes],
        model: str | Path | Embedder | None = "english",
        *,
        lexical: bool = True,
        statistics: TextStatistics | None = None,
    ) -> None:
        if model is None and not lexical:
            raise ConfigError("Give a `model`, or leave `lexical` on: there is nothing to compare.")
        strings = strings_of(texts)
        if statistics is None:
            statistics = TextStatistics.of_texts(strings)
        check_statistics(statistics)
        # Words of the texts that the model reads as they are written.
        self._own_words: dict[str, int] = {}
        # How often words occur, by which the model weighs them.
        self._word_counts: dict[str, int] = {}
        if model is not None and not isinstance(model, Embedder):
            self._own_words = own_words(model, strings)
            self._word_counts = statistics.letter_words
            model = load_embedder(
                model,
                num_chars_of(strings),
                keep_words=self._own_words,
                word_counts=self._word_counts,
            )
        self.embedder = model
        self.is_lexical = lexical
        # The weights of similarities that are not measured go to the others in proportion.
        is_measured = np.array([model is not None, lexical, lexical, lexical])
        weights = np.where(is_measured, [LONG, SINGLE], 0)
        weights /= weights.sum(axis=1, keepdims=True)
        # In the order of the first columns of `_columns`.
        self._weights = weights.ravel()
        # Weights of all columns, if learned.
        self._learned: Array | None = None
        self.count(statistics)

    def count(self, statistics: TextStatistics) -> None:
        """Weighs words and n-grams by other counts."""
        self.statistics = statistics
        num_texts = statistics.num_texts
        counts = statistics.spelled_counts
        self._tfidf = CharacterTfidf.from_counts(statistics.words, counts, num_texts)
        # Smoothed as if one more text had every word. Words that were not counted, the last one
        # here, are as rare as can be.
        self._idf = self._idf_of(np.append(counts, 0)).astype(np.float32)

    def _idf_of(self, counts: Any) -> Any:
        return 1 + np.log((1 + self.statistics.num_texts) / (1 + counts))

    def rarity(self, count: int) -> float:
        """Returns the weight of a word that so many texts have, 1 for a word of a single text."""
        return float(min(self._idf_of(count) / self._idf_of(1), 1))

    def prepare(
        self,
        texts: Sequence[str],
        vectors: Floats | None = None,
        written: WordLists | None = None,
    ) -> Texts:
        """Computes everything that a comparison of texts needs.

        Args:
            texts: Texts.
            vectors: Their embeddings of unit length, if they are known.
            written: Their words, if they are known.
        """
        if self.embedder is None:
            vectors = np.zeros((len(texts), 0), np.float32)
        elif vectors is None:
            vectors = self.embedder.encode(texts, normalize=True)
        if written is None:
            written = WordLists.of_texts(texts)
        lists = respelled(written, self.statistics)
        first = _bounded(lists.first(MAX_WORDS))
        # Words are numbered the same in all lists; further ones come last.
        lists = WordLists(first.words, lists.ids, lists.splits)
        ngrams, word_ngrams = self._tfidf.transform_words(lists)
        index = self.statistics.index
        places = [index.get(word, -1) for word in first.words]
        weights = self._idf[places]
        written = WordLists(first.words, *written.first(MAX_SPELLED_WORDS)[1:])
        codes = Codes.of_texts(texts, first)
        return Texts(texts, first, written, weights, codes, ngrams, word_ngrams, vectors)

    def score(self, left: Iterable[str | bytes], right: Iterable[str | bytes]) -> Floats:
        """Returns the scores of corresponding texts, float32 `(num_texts,)`, from 0 to 1.

        Args:
            left: Texts.
            right: The same number of texts.

        Raises:
            ConfigError: The lists differ in length, or a list is a single string or contains other
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
            ConfigError: The lists differ in length, or there are fewer than two matches or two
                other pairs.
        """
        # It imports SciPy's optimizers, which few scorers need, for longer than it learns.
        from tf_charagram.search._pairs.learning import (
            best_threshold,
            checked_labels,
            fit_weights,
            held_out_probabilities,
        )

        left_texts, right_texts, pairs = self._paired(left, right)
        is_match = checked_labels(list(labels), len(pairs))
        features = _columns(compare(left_texts, right_texts, pairs, self.is_lexical))
        self._learned = fit_weights(features, is_match)

        def log_odds(used: Flags) -> Array:
            return features @ fit_weights(features[used], is_match[used])

        held_out = held_out_probabilities(len(pairs), log_odds)
        return best_threshold(held_out, is_match)

    def settings(self) -> dict[str, Any]:
        """Returns the argument of `from_settings`."""
        learned = None if self._learned is None else self._learned.tolist()
        return {
            "lexical": self.is_lexical,
            "learned": learned,
            "own_words": self._own_words,
            "word_counts": self._word_counts,
        }

    @classmethod
    def from_settings(
        cls,
        settings: Mapping[str, Any],
        statistics: TextStatistics,
        model: str | Path | Embedder | None,
    ) -> TextScorer:
        """Makes a scorer with the weights and own words of another one, and other counts.

        Args:
            settings: The settings of the other scorer.
            statistics: The counts.
            model: Run folder, model folder or name of a model; or an embedder; or `None`.

        Raises:
            ConfigError: A setting is out of range.
            RunError: The model cannot be loaded.
        """
        check_switches(lexical=settings["lexical"])
        # A string would be the path of a file of words.
        kept = dict(settings["own_words"])
        counts = dict(settings["word_counts"])
        if model is not None and not isinstance(model, Embedder):
            model = load_embedder(model, statistics.num_chars, keep_words=kept, word_counts=counts)
        scorer = cls([], model, lexical=settings["lexical"], statistics=statistics)
        scorer._own_words = kept
        scorer._word_counts = counts
        if settings["learned"] is not None:
            learned = np.array(settings["learned"], np.float64)
            if learned.shape != (NUM_COLUMNS,) or not np.isfinite(learned).all():
                raise ConfigError(f"`learned` must be {NUM_COLUMNS} finite weights.")
            scorer._learned = learned
        return scorer

    def _paired(
        self, left: Iterable[str | bytes], right: Iterable[str | bytes]
    ) -> tuple[Texts, Texts, Ids]:
        """Returns the arguments of `pair_scores` for corresponding texts."""
        left, right = paired_texts(left, right)
        left_texts = self.prepare(strings_of(left, "left"))
        right_texts = self.prepare(strings_of(right, "right"))
        rows = np.arange(len(left))
        return left_texts, right_texts, np.stack([rows, rows], axis=1)

    def pair_scores(
        self,
        left: Texts,
        right: Texts,
        pairs: NDArray[np.integer],
        min_score: float = 0.0,
    ) -> Floats:
        """Returns the scores of pairs of prepared texts, float32 `(num_pairs,)`, from 0 to 1.

        Args:
            left: Texts.
            right: Texts.
            pairs: Rows of both, `(num_pairs, 2)`.
            min_score: Pairs that cannot reach this score may get 0.
        """
        return self.pair_evidence(left, right, pairs, min_score).scores

    def pair_evidence(
        self,
        left: Texts,
        right: Texts,
        pairs: NDArray[np.integer],
        min_score: float = 0.0,
        max_lead: float = 1.0,
    ) -> PairEvidence:
        """Returns the scores of pairs of prepared texts, as `pair_scores`, and their common words.

        Args:
            left: Texts.
            right: Texts.
            pairs: Rows of both, `(num_pairs, 2)`.
            min_score: Pairs that cannot reach this score may get 0.
            max_lead: Pairs may get 0, too, if they only reach it with words and letters that are
                so much more similar than n-grams.
        """
        # Learned weights may be negative.
        may_skip = self._learned is None and min_score > 0
        scores = np.zeros(len(pairs), np.float32)
        rarest = np.zeros(len(pairs), np.float32)
        for start in range(0, len(pairs), _MAX_PAIRS):
            block = pairs[start : start + _MAX_PAIRS]
            features = compare_wholes(left, right, block)
            rows = np.arange(len(block))
            if self.is_lexical:
                if may_skip:
                    features.words[:] = 1
                    bound_letters(left, right, block, features)
                for compare_more, unmeasured in _STEPS:
                    compare_more(left, right, block[rows], features)
                    if not may_skip:
                        continue
                    best = _bounded_by_ngrams(features, unmeasured, max_lead)
                    kept = self._promising(left, right, block[rows], best, min_score)
                    rows = rows[kept]
                    features = Features(*(values[kept] for values in features))
                compare_codes(left, right, block[rows], features)
            scores[start + rows] = self._combine(features)
            rarest[start + rows] = np.minimum(features.rarest / self._idf_of(1), 1)
        return PairEvidence(scores, rarest)

    def _promising(
        self,
        left: Texts,
        right: Texts,
        pairs: NDArray[np.integer],
        best: Features,
        min_score: float,
    ) -> NDArray[np.intp]:
        """Returns the indices of the pairs whose best features may take the score to a minimum."""
        # A code of one text may be parts of words of the other one.
        may_share_code = left.codes.are_there[pairs[:, 0]] | right.codes.are_there[pairs[:, 1]]
        best = best._replace(shared_code=may_share_code.astype(np.float32))
        # Rounding may take the score a little above the bound.
        return np.flatnonzero(self._combine(best) >= min_score - 1e-5)

    def least_ngrams(
        self,
        texts: Texts,
        rows: NDArray[np.integer],
        min_score: float,
        max_lead: float = 1.0,
    ) -> NDArray[np.floating]:
        """Returns the cosine of n-grams that pairs of a text must have to reach a score.

        Args:
            texts: Texts.
            rows: Some of their rows.
            min_score: The score.
            max_lead: How much more similar than n-grams words and letters are, at most.

        Returns:
            `(num_rows,)`, whatever the other texts and the other similarities are; 0 if the weights
            are learned, as they may be negative.
        """
        if self._learned is not None:
            return np.zeros(len(rows))
        # N-grams weigh more in longer texts.
        share = 1 / np.maximum(texts.num_words[rows], 1)
        long, single = self._weights.reshape(2, -1)[:, 1:, np.newaxis]
        ngrams, words, letters = long * (1 - share) + single * share
        step = _CODE_STEP * texts.codes.are_there[rows]
        missing = (1 - min_score) / (1 - step)
        # All others are equal, or words and letters are so much more similar.
        least = 1 - missing / ngrams
        rest = words + letters
        with_lead = 1 - (missing + max_lead * rest) / (ngrams + rest)
        return np.maximum(np.maximum(least, with_lead), 0)

    def pair_features(self, left: Texts, right: Texts, pairs: NDArray[np.integer]) -> Floats:
        """Returns the inputs of the learned weights, float32 `(num_pairs, 11)`.

        Args:
            left: Texts.
            right: Texts.
            pairs: Rows of both, `(num_pairs, 2)`.
        """
        parts = [np.zeros((0, NUM_COLUMNS), np.float32)]
        for block in blocks(len(pairs), _MAX_PAIRS):
            parts.append(_columns(compare(left, right, pairs[block], self.is_lexical)))
        return np.concatenate(parts)

    def _combine(self, features: Features) -> NDArray[np.floating]:
        """Combines the features of pairs into scores, `(num_pairs,)`."""
        columns = _columns(features)
        if self._learned is not None:
            from scipy.special import expit

            return expit(columns @ self._learned)
        similarities = columns[:, : len(self._weights)]
        scores = np.clip(similarities @ self._weights, 0, 1)
        missing = 1 - scores
        scores = scores + _CODE_STEP * features.shared_code * missing
        penalty = _CODE_PENALTY * features.codes_differ
        scores = scores * (1 - penalty)
        # Not 0.99999994.
        scores[features.equal > 0] = 1
        return scores


def _bounded_by_ngrams(features: Features, names: Sequence[str], max_lead: float) -> Features:
    """Bounds some similarities by that of n-grams and their lead over it."""
    highest = features.ngrams + np.float32(max_lead)
    bounds = {name: np.minimum(getattr(features, name), highest) for name in names}
    return features._replace(**bounds)


def _bounded(lists: WordLists) -> WordLists:
    """Cuts the words of texts so that all together have at most `MAX_LETTERS` letters."""
    lengths = np.array([len(word) for word in lists.words], np.int64)
    totals = splits_of(lengths[lists.ids])[lists.splits]
    is_long = lengths_of(totals) > MAX_LETTERS
    cut = {}
    for row in is_long.nonzero()[0].tolist():
        [words] = lists.strings([row])
        kept = []
        num_left = MAX_LETTERS
        for word in words:
            kept.append(word[:num_left])
            num_left -= len(kept[-1])
            if num_left == 0:
                break
        cut[row] = kept
    return lists.replaced(cut)


def _columns(features: Features) -> Floats:
    """Returns the inputs of a linear model, float32 `(num_pairs, NUM_COLUMNS)`.

    The four similarities as the part of long texts, and again as the part of single words, so that
    each part has its own weights; both features of codes; and 1, for a constant. Saved indexes
    depend on this order.
    """
    share = features.word_share
    similarities = np.array([features.vectors, features.ngrams, features.words, features.letters])
    others = [features.shared_code, features.codes_differ, np.ones_like(share)]
    return np.concatenate([similarities * (1 - share), similarities * share, others]).T
