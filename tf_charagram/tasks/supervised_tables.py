"""Tables of the scores of predicted labels and of predicted relatedness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.markup import escape
from rich.table import Table

from tf_charagram.evaluation.classification import ClassificationScore
from tf_charagram.reporting.console import INTERVAL, interval, make_table, number
from tf_charagram.tasks.pairs.scores import RelatednessScore

#: The metrics of a score, each with its name in the header and the format of its numbers.
_Metrics = Mapping[str, tuple[str, str]]
_RELATEDNESS: _Metrics = {
    "pearson": ("Pearson", ".2f"),
    "spearman": ("Spearman", ".2f"),
    "mse": ("MSE", ".4f"),
}
_CLASSIFICATION: _Metrics = {"accuracy": ("accuracy", ".2f"), "macro_f1": ("macro-F1", ".2f")}


def relatedness_table(scores: Sequence[tuple[str, RelatednessScore]]) -> Table:
    """Returns a table of Pearson and Spearman x 100 and the squared error, one row per set."""
    table = _metric_table("Relatedness: correlations x 100", "pairs", _RELATEDNESS)
    for name, score in scores:
        table.add_row(escape(name), f"{score.num_pairs:,}", *_metric_cells(score, _RELATEDNESS))
    table.caption = "MSE: in squared units of the scale."
    return table


def classification_table(scores: Sequence[tuple[str, ClassificationScore]]) -> Table:
    """Returns a table of accuracy and macro-F1 x 100, one row per set."""
    table = _metric_table("Classification: % correct, F1 x 100", "examples", _CLASSIFICATION)
    for name, score in scores:
        cells = _metric_cells(score, _CLASSIFICATION)
        table.add_row(escape(name), f"{score.num_examples:,}", *cells)
    table.caption = "macro-F1: over the labels that are in the set or were predicted."
    return table


def label_table(score: ClassificationScore, title: str = "Labels: rates x 100") -> Table:
    """Returns a table of the rates and the confusion matrix, one row per label."""
    names = ["examples", "precision", "recall", "F1"]
    names += [f"-> {label.label}" for label in score.labels]
    table = make_table(title, ["label"], names)
    for label, counts in zip(score.labels, score.confusion, strict=True):
        rates = [number(rate) for rate in (label.precision, label.recall, label.f1)]
        table.add_row(
            escape(label.label), f"{label.support:,}", *rates, *(f"{count:,}" for count in counts)
        )
    table.caption = "->: confusion matrix, the examples of each label by predicted label."
    return table


def _metric_table(title: str, counted: str, metrics: _Metrics) -> Table:
    """Returns a table without rows: set, number of examples, each metric and its interval."""
    names = [name for header, _ in metrics.values() for name in (header, INTERVAL)]
    return make_table(title, ["set"], [counted, *names])


def _metric_cells(score: RelatednessScore | ClassificationScore, metrics: _Metrics) -> list[str]:
    cells = []
    for metric, (_, spec) in metrics.items():
        cells += [
            number(score.metrics[metric], spec),
            interval(score.intervals.get(metric), spec),
        ]
    return cells
