"""Scores of predicted labels: accuracy, macro-F1, each label, and the confusion matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tf_charagram.evaluation._scores.statistics import Floats, MetricScore, intervals_of


@dataclass(frozen=True)
class LabelScore:
    """The score of one label; rates x 100.

    Attributes:
        label: The label.
        support: Number of examples with the label.
        precision: Precision; `None` if the label was never predicted.
        recall: Recall; `None` if no example has the label.
        f1: Harmonic mean of precision and recall; `None` if the label neither occurs nor was
            predicted.
    """

    label: str
    support: int
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True, eq=False)
class ClassificationScore(MetricScore):
    """The score of predicted labels: `accuracy` and `macro_f1` x 100.

    `accuracy` is the share of examples whose label was predicted, `macro_f1` the mean F1 of the
    labels that occur or were predicted.

    Attributes:
        labels: The score of each label.
        confusion: Number of examples by label (row) and predicted label (column), int64
            `(num_labels, num_labels)`, in the order of `labels`.
    """

    labels: tuple[LabelScore, ...]
    confusion: NDArray[np.int64]

    def to_dict(self) -> dict[str, Any]:
        """Returns all attributes, for JSON."""
        return {
            **super().to_dict(),
            "labels": [vars(label) for label in self.labels],
            "confusion": self.confusion.tolist(),
        }


def score_labels(
    gold: Sequence[str],
    predicted: Sequence[str],
    labels: Sequence[str],
    *,
    num_resamples: int = 1000,
    seed: int = 0,
) -> ClassificationScore:
    """Scores predicted labels.

    Args:
        gold: Label of each example.
        predicted: Predicted label of each example.
        labels: All labels, in the order of the result.
        num_resamples: Bootstrap resamples; 0 for no intervals.
        seed: Seed of the resamples.
    """
    num_labels = len(labels)
    index = {label: i for i, label in enumerate(labels)}
    rows = np.array([index[label] for label in gold])
    columns = np.array([index[label] for label in predicted])
    confusion = np.zeros((num_labels, num_labels), np.int64)
    np.add.at(confusion, (rows, columns), 1)
    hits = np.diag(confusion).tolist()
    supports = confusion.sum(axis=1).tolist()
    predictions = confusion.sum(axis=0).tolist()
    per_label = []
    for i, label in enumerate(labels):
        score = LabelScore(
            label=label,
            support=supports[i],
            precision=_rate(hits[i], predictions[i]),
            recall=_rate(hits[i], supports[i]),
            # 2PR / (P + R), without dividing by a precision or recall of 0
            f1=_rate(2 * hits[i], supports[i] + predictions[i]),
        )
        per_label.append(score)
    f1_scores = [score.f1 for score in per_label if score.f1 is not None]
    metrics = {
        "accuracy": 100.0 * sum(hits) / len(gold),
        "macro_f1": float(np.mean(f1_scores)),
    }
    is_gold = np.eye(num_labels)[rows]
    is_predicted = np.eye(num_labels)[columns]

    def resampled(counts: Floats) -> Iterator[Floats]:
        # Sums over the examples of each resample: `(num_rows, num_labels)`.
        hits = counts @ (is_gold * is_predicted)
        occurring = counts @ (is_gold + is_predicted)
        # Labels that are absent from a resample have 0 hits, and are not part of its mean.
        f1 = 2.0 * hits / np.maximum(occurring, 1.0)
        num_present = (occurring > 0).sum(axis=1)
        yield 100.0 * (hits.sum(axis=1) / len(rows))
        yield 100.0 * (f1.sum(axis=1) / num_present)

    intervals = intervals_of(
        [*metrics], len(gold), resampled, num_resamples=num_resamples, seed=seed
    )
    return ClassificationScore(len(gold), metrics, intervals, tuple(per_label), confusion)


def _rate(part: int, whole: int) -> float | None:
    # Not 0: a label that does not occur has no recall.
    return 100.0 * part / whole if whole else None
