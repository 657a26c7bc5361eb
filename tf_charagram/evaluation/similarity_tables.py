"""Tables of similarity: the scores of embedders, and nearest neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.markup import escape
from rich.table import Table

from tf_charagram.evaluation.comparison import Difference
from tf_charagram.evaluation.scores import SetScore
from tf_charagram.models.embedder import TextEmbedder, unit_rows
from tf_charagram.reporting.console import INTERVAL, interval, make_table, number

_TITLE = "Correlation x 100"
_PRIMARY = "*"
_LONGEST = 60


def score_table(scores: Sequence[SetScore]) -> Table:
    """Returns a table of scores x 100, the paper's beside ours; a star marks the primary one.

    The paper's numbers are those of the same encoder. Means follow the sets. Below the table are
    the paper, and missing, left-out and constant sets.
    """
    has_intervals = any(score.interval for score in scores)
    numbers = ["pairs", "Spearman", "Pearson", "paper", *([INTERVAL] if has_intervals else [])]
    table = make_table(_TITLE, ["set"], numbers)
    for score in _with_sections(table, scores):
        cells = [
            number(value) + (_PRIMARY if metric == score.metric and value is not None else " ")
            for metric, value in (("spearman", score.spearman), ("pearson", score.pearson))
        ]
        cells.append(number(score.paper))
        if has_intervals:
            cells.append(interval(score.interval))
        table.add_row(_label(score), f"{score.num_pairs:,}", *cells)
    table.caption = escape("\n".join([f"{_PRIMARY} the one that counts", *score_notes(scores)]))
    return table


def comparison_table(
    rows: Sequence[SetScore],
    columns: Sequence[tuple[str, Sequence[SetScore]]],
    comparisons: Sequence[tuple[str, Sequence[Difference]]],
    title: str = "",
) -> Table:
    """Returns a table of the primary correlations x 100, several runs side by side.

    Args:
        rows: Scores of any of the runs; sets and sizes are taken from it.
        columns: Header and scores of each column; all of the same sets.
        comparisons: Header and values of each difference; its intervals get a column too.
        title: Added to the title.
    """
    columns_of_cells: list[list[str]] = []
    names = ["pairs"]
    for name, scores in columns:
        names.append(name)
        columns_of_cells.append([number(score.value) for score in scores])
    # The papers have no typing errors.
    papers = {} if title else _paper_columns([scores for _, scores in columns])
    for name, scores in papers.items():
        names.append(name)
        columns_of_cells.append([number(score.paper) for score in scores])
    for name, changes in comparisons:
        names.append(name)
        columns_of_cells.append([number(change.value, "+.2f") for change in changes])
        if any(change.interval for change in changes):
            names.append(INTERVAL)
            columns_of_cells.append([interval(change.interval, "+.2f") for change in changes])
    table = make_table(_TITLE + title, ["set", "metric"], names)
    lines = zip(*columns_of_cells, strict=True)
    for score, line in zip(_with_sections(table, rows), lines, strict=True):
        table.add_row(_label(score), score.metric, f"{score.num_pairs:,}", *line)
    runs = [rows, *(scores for _, scores in columns)]
    notes = dict.fromkeys(note for scores in runs for note in score_notes(scores))
    table.caption = escape("\n".join(notes))
    return table


def score_notes(scores: Sequence[SetScore]) -> list[str]:
    """Returns notes on the scores: missing, left-out and constant sets."""
    notes = []
    for score in scores:
        if score.num_unscored and not score.is_mean:
            notes.append(f"{score.name}: {score.num_unscored:,} without a human score left out.")
        if score.value is None and not score.is_mean:
            notes.append(f"{score.name}: no correlation, for all cosines or all scores are equal.")
        if score.left_out:
            notes.append(f"{score.name}: without {_names(score.left_out)}, no correlation.")
    missing = list(dict.fromkeys(name for score in scores for name in score.missing))
    if missing:
        notes.append(f"Missing: {_names(missing)}.")
    sources = (score.paper_source for score in scores if score.paper is not None)
    notes += [f"paper: {source}." for source in dict.fromkeys(sources)]
    if any(score.paper is not None and (score.missing or score.left_out) for score in scores):
        notes.append("Where sets are missing, the paper's mean is over the same sets as ours.")
    return notes


def neighbor_table(embedder: TextEmbedder, queries: Sequence[str], texts: Sequence[str]) -> Table:
    """Returns a table of the nearest neighbours of queries among texts, five of each."""
    table = Table("text", "nearest neighbours (cosine)", title="Nearest neighbours")
    vectors = unit_rows(embedder.encode(texts))
    for query in queries:
        neighbors = embedder.neighbors(query, texts, 5, vectors, include_query=False)
        cells = (f"{_short(text)} {cosine:.2f}" for text, cosine in neighbors)
        table.add_row(_short(query), ("\n" if len(query) > _LONGEST else ", ").join(cells))
    return table


def _short(text: str) -> str:
    """Returns a text on one line, shortened to fit a table."""
    text = " ".join(text.split())
    return escape(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}...")


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
    total = score.num_sets + len(score.left_out) + len(score.missing)
    count = str(total) if total == score.num_sets else f"{score.num_sets} of {total}"
    return escape(f"{score.name} ({count} sets)")


def _paper_columns(runs: Sequence[Sequence[SetScore]]) -> dict[str, Sequence[SetScore]]:
    """Returns header and scores of a column of each paper's numbers: one for equal encoders."""
    by_source = {scores[0].paper_source: scores for scores in reversed(runs) if scores}
    if len(by_source) == 1:
        return {"paper": next(iter(by_source.values()))}
    return {
        f"paper, {source.partition(':')[0]}": scores
        for source, scores in reversed(by_source.items())
        if source is not None
    }


def _names(names: Sequence[str]) -> str:
    """Returns names, grouped by what is before the first dot."""
    groups: dict[str, list[str]] = {}
    for name in names:
        group, dot, rest = name.partition(".")
        groups.setdefault(group, []).extend([rest] if dot else [])
    return "; ".join(" ".join([group, *rest]) for group, rest in groups.items())
