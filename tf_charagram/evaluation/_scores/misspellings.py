"""Scores embedders on misspellings: by vectors alone, after correction, and by edit distance.

The score is the recall of the right forms of misspellings among the words of a vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA
from rich.table import Table

from tf_charagram.data._tables.lines import BadLines
from tf_charagram.data.readers.misspellings import Misspelling, read_misspellings
from tf_charagram.errors import ConfigError, DataError
from tf_charagram.evaluation._scores.embedders import model_labels
from tf_charagram.evaluation._scores.statistics import Floats, MetricScore, intervals_of
from tf_charagram.evaluation._scores.tables import metric_table
from tf_charagram.models._answers.vectors import nearest
from tf_charagram.models._storage.choice import load_embedder, num_chars_of
from tf_charagram.search._pairs.spelling import (
    MAX_CHARS,
    NUM_CANDIDATES,
    SpellingCorrector,
    candidate_features,
    first_forms,
    ordered,
    read_words,
)

_VECTORS = "vectors"
_CORRECTIONS = "vectors, edit distance, frequency"
_EDIT_DISTANCE = "edit distance"
#: Numbers of first answers that recall is computed at.
RECALL_AT = (1, 10, 50)
# Scores of queries and words in memory at the same time: 64 MB as float32.
_MAX_CELLS = 16_000_000
# Larger distances count as this one, so that each takes a byte.
_MAX_EDITS = 255

#: First query of a block, and its scores `(num_rows, num_words)`; larger is better.
Blocks = Iterator[tuple[int, NDArray[Any]]]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class MisspellingQueries:
    """Misspellings whose right forms are searched in a vocabulary, ignoring case.

    A wrong form is one query; any of its right forms counts. A wrong form that is itself a word is
    never an answer to itself.

    Attributes:
        wrong: Distinct lowercase wrong forms.
        right: Positions of the right forms of each in the vocabulary, increasing.
        own: Position of each wrong form in the vocabulary, -1 if absent; `(num_queries,)`.
        num_left_out: Wrong forms with no other form in the vocabulary.
    """

    wrong: list[str]
    right: list[Indices]
    own: Indices
    num_left_out: int

    def __len__(self) -> int:
        return len(self.wrong)

    @classmethod
    def of(
        cls, misspellings: Sequence[Misspelling], vocabulary: Sequence[str]
    ) -> MisspellingQueries:
        """Builds queries.

        Args:
            misspellings: Wrong forms with their right forms.
            vocabulary: Distinct lowercase words.
        """
        positions = {word: position for position, word in enumerate(vocabulary)}
        # Positions of the right forms of each wrong form, if any is known.
        right_rows: dict[str, set[int]] = {}
        for wrong, forms in misspellings:
            wrong = wrong.lower()
            rows = right_rows.setdefault(wrong, set())
            for form in forms:
                form = form.lower()
                if form in positions and form != wrong:
                    rows.add(positions[form])
        wrongs: list[str] = []
        rights: list[Indices] = []
        for wrong, rows in right_rows.items():
            if rows:
                wrongs.append(wrong)
                rights.append(np.array(sorted(rows)))
        own = np.array([positions.get(wrong, -1) for wrong in wrongs])
        num_left_out = len(right_rows) - len(wrongs)
        return cls(wrongs, rights, own, num_left_out)

    def ranks(self, scores: NDArray[Any], start: int = 0) -> Indices:
        """Counts the answers before the first right one, `(num_scored,)`.

        Args:
            scores: `(num_scored, num_words)`, larger is better; ties keep the vocabulary's order.
            start: Query of the first row.
        """
        ranks = []
        for query, row in enumerate(scores, start):
            right = self.right[query]
            # `argmax` takes the first of equal scores: the most frequent right form.
            best = right[np.argmax(row[right])]
            is_before = row > row[best]
            is_before[:best] |= row[:best] == row[best]
            own = self.own[query]
            if own >= 0:
                # A wrong form that is a word itself is no answer.
                is_before[own] = False
            ranks.append(np.count_nonzero(is_before))
        return np.array(ranks)


def score_ranks(ranks: Indices, *, num_resamples: int = 1000, seed: int = 0) -> MetricScore:
    """Computes `recall_at_1`, `recall_at_10` and so on, x 100, from the ranks of right forms.

    Two methods scored with the same seed get the same resamples of queries.

    Args:
        ranks: Number of answers before the right one, `(num_queries,)`.
        num_resamples: Bootstrap resamples; 0 for no intervals.
        seed: Seed of the resamples.
    """
    num_queries = len(ranks)
    hits = 100.0 * (ranks[:, np.newaxis] < np.array(RECALL_AT))
    names = [f"recall_at_{k}" for k in RECALL_AT]
    metrics = dict(zip(names, hits.mean(axis=0).tolist(), strict=True))

    def resampled(counts: Floats) -> Floats:
        # A mean over a resample: each query counts as often as it was drawn.
        means = counts @ hits / num_queries
        return means.T

    intervals = intervals_of(names, num_queries, resampled, num_resamples=num_resamples, seed=seed)
    return MetricScore(num_queries, metrics, intervals)


@dataclass(frozen=True)
class _MisspellingEvaluation:
    """The scores of all methods on a list of misspellings.

    Attributes:
        queries: The misspellings.
        num_words: Size of the vocabulary.
        models: The models, as given.
        scores: Score of each method; with several models, its name is `MODEL: METHOD`.
    """

    queries: MisspellingQueries
    num_words: int
    models: list[str]
    scores: dict[str, MetricScore] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Returns the scores for JSON."""
        first = {name: score.metrics["recall_at_1"] for name, score in self.scores.items()}
        details = [{"method": name, **score.to_dict()} for name, score in self.scores.items()]
        return {
            "models": self.models,
            "num_words": self.num_words,
            "num_queries": len(self.queries),
            "num_left_out": self.queries.num_left_out,
            "scores": first,
            "details": details,
        }

    def table(self) -> Table:
        """Returns a table of recall x 100, one row per method."""
        title = f"Recall x 100 of the right form among {self.num_words:,} words"
        metrics = {f"recall_at_{k}": (f"at {k}", ".2f") for k in RECALL_AT}
        scores = list(self.scores.items())
        table = metric_table(title, ("method", "misspellings"), metrics, scores)
        table.caption = (
            "Of equal answers the more frequent word comes first. Left out, because no right form "
            f"is in the vocabulary: {self.queries.num_left_out:,}."
        )
        return table


def evaluate_misspellings(
    models: Sequence[str],
    path: str,
    vocabulary: str | None,
    *,
    bad_lines: BadLines,
    num_resamples: int,
    seed: int,
) -> _MisspellingEvaluation:
    """Scores embedders on a list of misspellings.

    Args:
        models: Run folders or model folders.
        path: The list of wrong and right forms.
        vocabulary: File of words, most frequent first. Defaults to the texts of the first model.
        bad_lines: Policy for bad lines.
        num_resamples: Bootstrap resamples for intervals; 0 for no intervals.
        seed: Seed of the resamples.

    Raises:
        CharagramError: A model or a file cannot be used.
    """
    misspellings = read_misspellings(path, on_bad_line=bad_lines)
    # All models correct to the same words, so that their recalls can be compared.
    words = list(first_forms(read_words(vocabulary, models[0], "--vocabulary")))
    if not words:
        raise ConfigError("There are no words in the vocabulary.")
    queries = MisspellingQueries.of(misspellings, words)
    if not len(queries):
        raise DataError(
            path, f"none of the right forms is among the {len(words):,} words of the vocabulary"
        )
    by_method: dict[str, Indices] = {}
    for model, label in zip(models, model_labels(models), strict=True):
        prefix = f"{label}: " if len(models) > 1 else ""
        for method, ranks in _model_ranks(model, words, queries).items():
            by_method[prefix + method] = ranks
    by_method[_EDIT_DISTANCE] = _ranks(queries, _edit_blocks(queries.wrong, words))
    scores = {}
    for method, ranks in by_method.items():
        scores[method] = score_ranks(ranks, num_resamples=num_resamples, seed=seed)
    return _MisspellingEvaluation(queries, len(words), list(models), scores)


def _model_ranks(
    model: str, words: Sequence[str], queries: MisspellingQueries
) -> dict[str, Indices]:
    """Returns the ranks of the right forms `(num_queries,)`, by vectors alone and after correction.

    A right form that is not among the candidates of correction has the last rank.

    Args:
        model: Run folder, model folder or name of a model.
        words: The vocabulary, most frequent first.
        queries: The misspellings.
    """
    num_chars = num_chars_of(words)
    embedder = load_embedder(model, num_chars)
    as_written = load_embedder(model, num_chars, correct_spelling=False)
    corrector = SpellingCorrector(as_written, words)
    wrong = embedder.encode(queries.wrong, normalize=True)
    right = embedder.encode(corrector.keys, normalize=True)
    by_vectors = _ranks(queries, cosine_blocks(wrong, right))
    last = len(corrector.keys) - 1
    corrected = []
    wrong = corrector.embed(queries.wrong)
    for start, cosines in cosine_blocks(wrong, corrector.vectors):
        for query, row in enumerate(cosines, start):
            own = int(queries.own[query])
            candidates = nearest(row, NUM_CANDIDATES, own)
            features = candidate_features(queries.wrong[query], candidates, row, corrector.keys)
            order, _ = ordered(features)
            is_right = np.isin(candidates[order], queries.right[query])
            ranks = np.flatnonzero(is_right)
            corrected.append(ranks[0] if len(ranks) else last)
    return {_VECTORS: by_vectors, _CORRECTIONS: np.array(corrected)}


def cosine_blocks(queries: NDArray[np.float32], words: NDArray[np.float32]) -> Blocks:
    """Yields blocks of the cosines of queries and words.

    Args:
        queries: Unit-length vectors `(num_queries, dim)`.
        words: Unit-length vectors `(num_words, dim)`.
    """
    for rows in _slices(len(queries), len(words)):
        yield rows.start, queries[rows] @ words.T


def _edit_blocks(wrong: Sequence[str], words: Sequence[str]) -> Blocks:
    """Yields blocks of 255 minus the edit distance, where swapping two letters is one edit."""
    queries = [word[:MAX_CHARS] for word in wrong]
    answers = [word[:MAX_CHARS] for word in words]
    for rows in _slices(len(queries), len(answers)):
        distances: NDArray[np.uint8] = process.cdist(
            queries[rows],
            answers,
            scorer=OSA.distance,
            dtype=np.uint8,
            workers=-1,
            score_cutoff=_MAX_EDITS - 1,
        )
        yield rows.start, _MAX_EDITS - distances


def _slices(num_queries: int, num_words: int) -> Iterator[slice]:
    """Yields the queries of each block, whose scores fit into memory."""
    size = max(1, _MAX_CELLS // num_words)
    for start in range(0, num_queries, size):
        yield slice(start, start + size)


def _ranks(queries: MisspellingQueries, blocks: Blocks) -> Indices:
    return np.concatenate([queries.ranks(scores, start) for start, scores in blocks])
