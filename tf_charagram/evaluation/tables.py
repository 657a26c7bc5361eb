"""Tables of scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.markup import escape
from rich.table import Table

from tf_charagram.evaluation.scores import Difference, SetScore
from tf_charagram.evaluation.statistics import MetricScore
from tf_charagram.reporting import INTERVAL, interval, make_table, number

_TITLE = "Correlation x 100"
_PRIMARY = "*"


def score_table(scores: Sequence[SetScore]) -> Table:
    """Returns a table of scores x 100, means last; a star marks the primary correlation."""
    has_intervals = any(score.interval for score in scores)
    numbers = ["pairs", "Spearman", "Pearson", *([INTERVAL] if has_intervals else [])]
    table = make_table(_TITLE, ["set"], numbers)
    for score in _with_sections(table, scores):
        cells = [
            number(value) + (_PRIMARY if metric == score.metric and value is not None else " ")
            for metric, value in (("spearman", score.spearman), ("pearson", score.pearson))
        ]
        if has_intervals:
            cells.append(interval(score.interval))
        table.add_row(_label(score), f"{score.num_pairs:,}", *cells)
    caption = [f"{_PRIMARY} primary correlation", *_notes(scores)]
    table.caption = escape("\n".join(caption))
    return table


def comparison_table(
    rows: Sequence[SetScore],
    columns: Sequence[tuple[str, Sequence[SetScore]]],
    comparisons: Sequence[tuple[str, Sequence[Difference]]],
    title: str = "",
) -> Table:
    """Returns a table of the primary correlations x 100 of several models side by side.

    Args:
        rows: Scores of any of the models, for the names and sizes of the sets.
        columns: Header and scores of each column, all of the same sets.
        comparisons: Header and values of each difference. Intervals get a column of their own.
        title: Appended to the title.
    """
    cells_by_column: list[list[str]] = []
    names = ["pairs"]
    for name, scores in columns:
        names.append(name)
        cells_by_column.append([number(score.value) for score in scores])
    for name, changes in comparisons:
        names.append(name)
        cells_by_column.append([number(change.value, "+.2f") for change in changes])
        if any(change.interval for change in changes):
            names.append(INTERVAL)
            cells_by_column.append([interval(change.interval, "+.2f") for change in changes])
    table = make_table(_TITLE + title, ["set", "metric"], names)
    lines = zip(*cells_by_column, strict=True)
    for score, line in zip(_with_sections(table, rows), lines, strict=True):
        table.add_row(_label(score), score.metric, f"{score.num_pairs:,}", *line)
    shown = [rows, *(scores for _, scores in columns)]
    notes = dict.fromkeys(note for scores in shown for note in _notes(scores))
    table.caption = escape("\n".join(notes))
    return table


def metric_table(
    title: str,
    columns: tuple[str, str],
    metrics: Mapping[str, tuple[str, str]],
    scores: Sequence[tuple[str, MetricScore]],
) -> Table:
    """Returns a table of metrics, and of their intervals if there are any, one row per score.

    Args:
        title: Title of the table.
        columns: Headers of the names and of the numbers of examples.
        metrics: Name of each metric -> its header and the format of its numbers.
        scores: Name and score of each row.
    """
    has_intervals = any(score.intervals for _, score in scores)
    headers = [
        name
        for header, _ in metrics.values()
        for name in (header, *([INTERVAL] if has_intervals else []))
    ]
    table = make_table(title, columns[:1], [*columns[1:], *headers])
    for name, score in scores:
        cells = []
        for metric, (_, spec) in metrics.items():
            cells.append(number(score.metrics[metric], spec))
            if has_intervals:
                cells.append(interval(score.intervals.get(metric), spec))
        table.add_row(escape(name), f"{score.num_examples:,}", *cells)
    return table


def _notes(scores: Sequence[SetScore]) -> list[str]:
    """Returns notes on left-out pairs and undefined correlations."""
    notes = []
    for score in scores:
        if score.num_unscored and not score.is_mean:
            notes.append(f"{score.name}: {score.num_unscored:,} without a human score left out.")
        if score.value is None and not score.is_mean:
            notes.append(f"{score.name}: no correlation, because all cosines or scores are equal.")
        if score.left_out:
            notes.append(f"{score.name}: without {', '.join(score.left_out)}, no correlation.")
    return notes


def _with_sections(table: Table, scores: Sequence[SetScore]) -> Iterator[SetScore]:
    """Yields the scores; starts a section of the table at the first mean."""
    is_mean = False
    for score in scores:
        if score.is_mean and not is_mean:
            table.add_section()
        is_mean = score.is_mean
        yield score


def _label(score: SetScore) -> str:
    if not score.is_mean:
        return escape(score.name)
    return escape(f"{score.name} (mean of {score.num_sets})")
