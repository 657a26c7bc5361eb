"""`charagram models`: lists the models that ship with the package."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tf_charagram._common.reporting import make_table, table_console
from tf_charagram.cli._flags.flags import Parser
from tf_charagram.models._storage.locations import read_card, read_config, shipped_models


def _make_parser() -> Parser:
    """Returns the parser."""
    return Parser(prog="charagram models", description=__doc__)


def models(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    _make_parser().parse_args(arguments)
    table = make_table(
        "Models that ship with the package",
        ("name", "summary", "scores", "licence"),
        ("MB", "dim", "n-grams"),
    )
    for name, folder in shipped_models().items():
        encoder = read_config(folder)["encoder"]["config"]
        # Each shipped model has a card.
        card = read_card(folder) or {}
        scores = ", ".join(f"{set_name} {value}" for set_name, value in card["scores"].items())
        num_bytes = sum(file.stat().st_size for file in folder.iterdir())
        table.add_row(
            name,
            card["summary"],
            scores,
            card["licence"],
            f"{num_bytes / 1e6:.1f}",
            str(encoder["dim"]),
            f"{encoder['num_rows']:,}",
        )
    if table.row_count:
        table_console().print(table)
    else:
        sys.stdout.write("No model ships with this installation. Train one: charagram train\n")
    return 0
