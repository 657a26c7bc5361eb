"""Tables that commands print."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from tf_charagram.evaluation.scores import SetScore
from tf_charagram.models.embedder import TextEmbedder, unit_rows


def score_table(scores: Sequence[SetScore]) -> Table:
    """Returns a table of scores x 100, the paper's beside ours."""
    table = Table(title="Word similarity, correlation x 100")
    table.add_column("set")
    for column in ("pairs", "Spearman", "Pearson", "paper"):
        table.add_column(column, justify="right")
    for score in scores:
        cells = (_number(value) for value in (score.spearman, score.pearson, score.paper))
        table.add_row(score.name, f"{score.num_pairs:,}", *cells)
    return table


def neighbor_table(
    embedder: TextEmbedder, queries: Sequence[str], texts: Sequence[str], k: int = 5
) -> Table:
    """Returns a table of the nearest neighbours of some texts."""
    table = Table("text", "nearest neighbours (cosine)", title="Nearest neighbours")
    vectors = unit_rows(embedder.encode(texts))
    for query in queries:
        found = embedder.neighbors(query, texts, k, vectors)
        table.add_row(query, ", ".join(f"{text} {cosine:.2f}" for text, cosine in found))
    return table


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
