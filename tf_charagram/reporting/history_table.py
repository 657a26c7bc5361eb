"""The evaluations of a run as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from tf_charagram.reporting.console import make_table, number

_MAX_ROWS = 15
# Width of the columns that every table has, and of a column of scores.
_WIDTH, _SET_WIDTH = 30, 12


def history_table(history: Sequence[dict[str, Any]], select: str, width: int) -> Table:
    """Returns a table of up to 15 evaluations, with as many sets as fit.

    Args:
        history: The records of `history.jsonl`.
        select: The set that selected weights, which comes first, or `"last"`.
        width: Characters of a line.
    """
    names = sorted(history[-1]["scores"], key=lambda name: name != select) if history else []
    names = names[: max(1, (width - _WIDTH) // _SET_WIDTH)]
    table = make_table("History", (), ("epoch", "loss", *names, "seconds"))
    step = max(1, -(-len(history) // _MAX_ROWS))
    # The last one is always shown.
    records = history[::-1][::step][::-1]
    for record in records:
        scores = (number(record["scores"].get(name)) for name in names)
        table.add_row(
            f"{record['epoch']:.2f}", f"{record['loss']:.4f}", *scores, f"{record['seconds']:.0f}"
        )
    if step > 1:
        table.caption = f"{len(records)} of {len(history)} evaluations"
    return table
