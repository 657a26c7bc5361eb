"""The table of how well misspellings are corrected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.markup import escape
from rich.table import Table

from tf_charagram.evaluation.misspellings import MisspellingQueries, RecallScore
from tf_charagram.reporting.console import INTERVAL, interval, make_table, number


def recall_table(
    scores: Mapping[str, RecallScore],
    queries: MisspellingQueries,
    num_words: int,
    notes: Sequence[str] = (),
) -> Table:
    """Returns a table of recall x 100, one row per method.

    Args:
        scores: Method -> score; one or more.
        queries: What was asked.
        num_words: Size of the vocabulary.
        notes: Lines below the table, after those on what was left out.
    """
    first = next(iter(scores.values()))
    columns = [
        header
        for name in first.metrics
        for header in (name.removeprefix("recall_"), *([INTERVAL] if first.intervals else ()))
    ]
    title = f"Recall x 100 of the right form among {num_words:,} words"
    table = make_table(title, ["method"], [name.replace("_", " ") for name in columns])
    for method, score in scores.items():
        cells = []
        for name, value in score.metrics.items():
            cells.append(number(value))
            if first.intervals:
                cells.append(interval(score.intervals[name]))
        table.add_row(escape(method), *cells)
    table.caption = escape("\n".join([*_query_notes(queries), *notes]))
    return table


def _query_notes(queries: MisspellingQueries) -> list[str]:
    """Returns what was asked, and what was left out and why."""
    notes = [f"{len(queries):,} misspellings; of equal answers the more frequent word comes first."]
    if queries.num_unknown:
        notes.append(f"{queries.num_unknown:,} left out: no right form is in the vocabulary.")
    if queries.num_equal:
        notes.append(f"{queries.num_equal:,} left out: both forms are the same, case ignored.")
    if queries.num_words:
        notes.append(
            f"{queries.num_words:,} wrong forms are words too; none is an answer to itself."
        )
    return notes
