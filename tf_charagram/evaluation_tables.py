"""Tables of how well labels and scores were predicted."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from tf_charagram.evaluation.classification import ClassificationScore
from tf_charagram.evaluation.comparison import Difference
from tf_charagram.evaluation.relatedness import RelatednessScore

_INTERVAL = "95 % interval"
Bounds = tuple[float, float] | None


def relatedness_table(scores: Sequence[tuple[str, RelatednessScore]]) -> Table:
    """Returns a table of Pearson and Spearman x 100 and the squared error, a set a row."""
    names = ["set", "pairs", "Pearson", _INTERVAL, "Spearman", _INTERVAL, "MSE", _INTERVAL]
    table = _table("Relatedness: correlations x 100", names)
    for name, score in scores:
        cells = [escape(name), f"{score.num_pairs:,}"]
        for metric, value in score.metrics.items():
            digits = 4 if metric == "mse" else 2
            cells += [_number(value, digits), _interval(score.intervals.get(metric), digits)]
        table.add_row(*cells)
    table.caption = "MSE: in squared units of the scale."
    return table


def classification_table(scores: Sequence[tuple[str, ClassificationScore]]) -> Table:
    """Returns a table of accuracy and macro-F1 x 100, a set a row."""
    names = ["set", "examples", "accuracy", _INTERVAL, "macro-F1", _INTERVAL]
    table = _table("Classification: % correct, F1 x 100", names)
    for name, score in scores:
        cells = [escape(name), f"{score.num_examples:,}"]
        for metric, value in score.metrics.items():
            cells += [_number(value), _interval(score.intervals.get(metric))]
        table.add_row(*cells)
    table.caption = "macro-F1: over the labels that are in the set or were predicted."
    return table


def label_table(score: ClassificationScore, title: str = "Labels: rates x 100") -> Table:
    """Returns a table of what was predicted for the examples of each label, a label a row."""
    names = ["label", "examples", "precision", "recall", "F1"]
    table = _table(title, [*names, *(f"-> {label.label}" for label in score.labels)])
    for label, counts in zip(score.labels, score.confusion, strict=True):
        rates = [_number(rate) for rate in (label.precision, label.recall, label.f1)]
        table.add_row(
            escape(label.label), f"{label.support:,}", *rates, *(f"{count:,}" for count in counts)
        )
    table.caption = "->: how many of the examples of a row were taken for what."
    return table


def difference_table(name: str, differences: Sequence[Difference]) -> Table:
    """Returns a table of what the second of two models has more than the first on a set."""
    table = _table(f"{name}: second less first", ["metric", "difference", _INTERVAL])
    for change in differences:
        table.add_row(change.name, _number(change.value, 4), _interval(change.interval, 4))
    return table


def _table(title: str, names: Sequence[str]) -> Table:
    table = Table(title=escape(title), caption_justify="left")
    table.add_column(names[0])
    for name in names[1:]:
        table.add_column(escape(name), justify="right", no_wrap=True)
    return table


def _number(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _interval(bounds: Bounds, digits: int = 2) -> str:
    return "-" if bounds is None else f"{bounds[0]:.{digits}f} to {bounds[1]:.{digits}f}"
