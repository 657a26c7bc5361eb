"""Accuracy, F1 and confusion of predicted labels, counted one example at a time."""

from __future__ import annotations

from collections.abc import Sequence


def accuracy(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """Returns the share of the examples whose label was predicted."""
    return sum(g == p for g, p in zip(gold, predicted, strict=True)) / len(gold)


def precision(gold: Sequence[str], predicted: Sequence[str], label: str) -> float | None:
    """Returns the share of correct examples among those predicted as a label."""
    chosen = [g for g, p in zip(gold, predicted, strict=True) if p == label]
    return sum(g == label for g in chosen) / len(chosen) if chosen else None


def recall(gold: Sequence[str], predicted: Sequence[str], label: str) -> float | None:
    """Returns the share of the examples with a label for which it was predicted."""
    return precision(predicted, gold, label)


def f1(gold: Sequence[str], predicted: Sequence[str], label: str) -> float | None:
    """Returns the harmonic mean of precision and recall.

    0 if nothing with the label was found; None if it is neither in gold nor predicted.
    """
    p, r = precision(gold, predicted, label), recall(gold, predicted, label)
    if p is None and r is None:
        return None
    if not p or not r:
        return 0.0
    return 2 * p * r / (p + r)


def macro_f1(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """Returns the mean of the F1 of the labels in gold or predicted."""
    scores = [f1(gold, predicted, label) for label in sorted({*gold, *predicted})]
    return sum(score for score in scores if score is not None) / len(scores)


def confusion(
    gold: Sequence[str], predicted: Sequence[str], labels: Sequence[str]
) -> list[list[int]]:
    """Returns the number of examples by true label (row) and predicted label (column)."""
    pairs = list(zip(gold, predicted, strict=True))
    return [[pairs.count((row, column)) for column in labels] for row in labels]


def written_out(values: Sequence[str], counts: Sequence[float]) -> list[str]:
    """Returns a resample that holds each value as often as counted."""
    return [value for value, count in zip(values, counts, strict=True) for _ in range(int(count))]
