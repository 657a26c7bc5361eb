"""Tables of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.markup import escape
from rich.table import Table

from tf_charagram._common.reporting import INTERVAL, interval, make_table, number
from tf_charagram.evaluation._scores.scores import Difference, SetScore
from tf_charagram.evaluation._scores.statistics import MetricScore

_TITLE = "Correlation x 100"
_PRIMARY = "*"


def score_table(scores: Sequence[SetScore]) -> Table:
    """Returns a table of scores x 100, means last; a star marks the primary correlation."""
    has_intervals = any(score.interval for score in scores)
    numbers = ["pairs", "Spearman", "Pearson"]
    if has_intervals:
        numbers.append(INTERVAL)
    table = make_table(_TITLE, ["set"], numbers)
    for index, score in enumerate(scores):
        _start_section(table, scores, index)
        cells = [
            f"{score.num_pairs:,}",
            _correlation(score, "spearman", score.spearman),
            _correlation(score, "pearson", score.pearson),
        ]
        if has_intervals:
            cells.append(interval(score.interval))
        table.add_row(_label(score), *cells)
    caption = "\n".join([f"{_PRIMARY} primary correlation", *_notes(scores)])
    table.caption = escape(caption)
    return table


def _correlation(score: SetScore, metric: str, value: float | None) -> str:
    """Formats a correlation; a space keeps the digits of unmarked ones aligned."""
    is_marked = metric == score.metric and value is not None
    return number(value) + (_PRIMARY if is_marked else " ")


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
    headers = ["pairs"]
    # The cells of each set.
    lines = [[f"{score.num_pairs:,}"] for score in rows]
    notes = _notes(rows)
    for name, scores in columns:
        headers.append(name)
        notes += _notes(scores)
        for line, score in zip(lines, scores, strict=True):
            line.append(number(score.value))
    for name, changes in comparisons:
        headers.append(name)
        has_intervals = any(change.interval for change in changes)
        if has_intervals:
            headers.append(INTERVAL)
        for line, change in zip(lines, changes, strict=True):
            line.append(number(change.value, "+.2f"))
            if has_intervals:
                line.append(interval(change.interval, "+.2f"))
    table = make_table(_TITLE + title, ["set", "metric"], headers)
    for index, score in enumerate(rows):
        _start_section(table, rows, index)
        table.add_row(_label(score), score.metric, *lines[index])
    # Models share most notes: each is shown once.
    table.caption = escape("\n".join(dict.fromkeys(notes)))
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
    # Each metric has a column, and one for its interval.
    has_intervals = any(score.intervals for _, score in scores)
    names_header, examples_header = columns
    numbers = [examples_header]
    for header, _ in metrics.values():
        numbers.append(header)
        if has_intervals:
            numbers.append(INTERVAL)
    table = make_table(title, [names_header], numbers)
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
        name = score.name
        if score.left_out:
            notes.append(f"{name}: without {', '.join(score.left_out)}, no correlation.")
        if score.is_mean:
            continue
        if score.num_unscored:
            notes.append(f"{name}: {score.num_unscored:,} without a human score left out.")
        if score.value is None:
            notes.append(f"{name}: no correlation, because all cosines or scores are equal.")
    return notes


def _start_section(table: Table, scores: Sequence[SetScore], index: int) -> None:
    """Starts a section of the table at the first mean, which follows the sets."""
    is_after_set = index == 0 or not scores[index - 1].is_mean
    if scores[index].is_mean and is_after_set:
        table.add_section()


def _label(score: SetScore) -> str:
    if not score.is_mean:
        return escape(score.name)
    return escape(f"{score.name} (mean of {score.num_sets})")
