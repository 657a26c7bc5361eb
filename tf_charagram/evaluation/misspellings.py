"""Recall of the right forms of misspellings among the words of a vocabulary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tf_charagram.data.readers.misspellings import Misspelling
from tf_charagram.evaluation.statistics import Floats, interval, resample_counts

#: Numbers of first answers that recall is computed at.
RECALL_AT = (1, 10, 50)

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
        num_unknown: Wrong forms left out because no right form is in the vocabulary.
        num_equal: Wrong forms left out because they equal their only right form.
    """

    wrong: list[str]
    right: list[Indices]
    own: Indices
    num_unknown: int
    num_equal: int

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
        right_forms: dict[str, set[str]] = {}
        for wrong, forms in misspellings:
            right_forms.setdefault(wrong.lower(), set()).update(form.lower() for form in forms)
        wrong_forms, right, num_unknown, num_equal = [], [], 0, 0
        for wrong, meant in right_forms.items():
            known = sorted(positions[form] for form in meant - {wrong} if form in positions)
            if known:
                wrong_forms.append(wrong)
                right.append(np.array(known, np.intp))
            elif meant == {wrong}:
                num_equal += 1
            else:
                num_unknown += 1
        own = np.array([positions.get(wrong, -1) for wrong in wrong_forms], np.intp)
        return cls(wrong_forms, right, own, num_unknown, num_equal)

    def ranks(self, scores: NDArray[Any], start: int = 0) -> Indices:
        """Counts the answers before the first right one, `(num_scored,)`.

        Args:
            scores: `(num_scored, num_words)`, larger is better; ties keep the vocabulary's order.
            start: Query of the first row.
        """
        rows = np.arange(len(scores))
        best = np.array(
            [
                right[np.argmax(row[right])]
                for row, right in zip(scores, self.right[start:], strict=False)
            ],
            np.intp,
        )
        values = scores[rows, best][:, np.newaxis]
        positions = np.arange(scores.shape[1])
        is_before = (scores > values) | ((scores == values) & (positions < best[:, np.newaxis]))
        own = self.own[start : start + len(scores)]
        return is_before.sum(axis=1) - (is_before[rows, own] & (own >= 0))


@dataclass(frozen=True, eq=False)
class RecallScore:
    """The recall of right forms.

    Attributes:
        num_queries: Misspellings scored.
        metrics: `recall_at_1`, `recall_at_10` and so on, x 100.
        intervals: Their 95 % bootstrap intervals, if asked for.
        draws: Their values in the resamples, `(num_resamples,)` each, if asked for.
    """

    num_queries: int
    metrics: Mapping[str, float]
    intervals: dict[str, tuple[float, float] | None] = field(default_factory=dict)
    draws: dict[str, Floats] = field(default_factory=dict, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Returns all attributes except the draws, for JSON."""
        return {
            "num_queries": self.num_queries,
            **self.metrics,
            "intervals": self.intervals,
        }


def score_ranks(ranks: Indices, *, num_resamples: int = 1000, seed: int = 0) -> RecallScore:
    """Computes recall from the ranks of right forms.

    Two methods scored with the same seed get the same resamples of queries.

    Args:
        ranks: Number of answers before the right one, `(num_queries,)`.
        num_resamples: Bootstrap resamples; 0 for no intervals.
        seed: Seed of the resamples.
    """
    hits = 100.0 * (ranks[:, np.newaxis] < np.array(RECALL_AT))
    random = np.random.default_rng(seed)
    chunks = resample_counts(len(ranks), num_resamples, random)
    values = np.concatenate([np.empty((0, len(RECALL_AT))), *(counts @ hits for counts in chunks)])
    names = [f"recall_at_{k}" for k in RECALL_AT]
    draws = dict(zip(names, values.T / len(ranks), strict=True)) if num_resamples else {}
    return RecallScore(
        len(ranks),
        dict(zip(names, hits.mean(axis=0).tolist(), strict=True)),
        {name: interval(drawn) for name, drawn in draws.items()},
        draws,
    )
