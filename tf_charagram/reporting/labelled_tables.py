"""Tables of how well labels and scores were predicted."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from tf_charagram.evaluation.classification import ClassificationScore
from tf_charagram.evaluation.comparison import Difference
from tf_charagram.evaluation.relatedness import RelatednessScore
from tf_charagram.reporting.console import INTERVAL, interval, make_table, number


def relatedness_table(scores: Sequence[tuple[str, RelatednessScore]]) -> Table:
    """Returns a table of Pearson and Spearman x 100 and the squared error, a set a row."""
    names = ["pairs", "Pearson", INTERVAL, "Spearman", INTERVAL, "MSE", INTERVAL]
    table = make_table("Relatedness: correlations x 100", ["set"], names)
    for name, score in scores:
        cells = [escape(name), f"{score.num_pairs:,}"]
        for metric, value in score.metrics.items():
            spec = ".4f" if metric == "mse" else ".2f"
            cells += [number(value, spec), interval(score.intervals.get(metric), spec)]
        table.add_row(*cells)
    table.caption = "MSE: in squared units of the scale."
    return table


def classification_table(scores: Sequence[tuple[str, ClassificationScore]]) -> Table:
    """Returns a table of accuracy and macro-F1 x 100, a set a row."""
    names = ["examples", "accuracy", INTERVAL, "macro-F1", INTERVAL]
    table = make_table("Classification: % correct, F1 x 100", ["set"], names)
    for name, score in scores:
        cells = [escape(name), f"{score.num_examples:,}"]
        for metric, value in score.metrics.items():
            cells += [number(value), interval(score.intervals.get(metric))]
        table.add_row(*cells)
    table.caption = "macro-F1: over the labels that are in the set or were predicted."
    return table


def label_table(score: ClassificationScore, title: str = "Labels: rates x 100") -> Table:
    """Returns a table of what was predicted for the examples of each label, a label a row."""
    names = ["examples", "precision", "recall", "F1"]
    names += [f"-> {label.label}" for label in score.labels]
    table = make_table(title, ["label"], names)
    for label, counts in zip(score.labels, score.confusion, strict=True):
        rates = [number(rate) for rate in (label.precision, label.recall, label.f1)]
        table.add_row(
            escape(label.label), f"{label.support:,}", *rates, *(f"{count:,}" for count in counts)
        )
    table.caption = "->: how many of the examples of a row were taken for what."
    return table


def difference_table(name: str, differences: Sequence[Difference]) -> Table:
    """Returns a table of what the second of two models has more than the first on a set."""
    table = make_table(f"{name}: second less first", ["metric"], ["difference", INTERVAL])
    for change in differences:
        table.add_row(change.name, number(change.value, ".4f"), interval(change.interval, ".4f"))
    return table
