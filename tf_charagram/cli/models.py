"""`charagram models`: lists the models that ship with the package."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from tf_charagram.cli.commands import run_command
from tf_charagram.cli.flags import Parser
from tf_charagram.errors import RunError
from tf_charagram.models.locations import CARD, read_card, read_config, shipped_models
from tf_charagram.reporting.console import make_table, table_console

_NONE = "No model ships with this installation. Train one: charagram train"
# Fields of a card, as `recipes/ship.py` writes it.
_FACTS = ("summary", "scores", "licence", "data")


def describe(name: str, folder: Path) -> dict[str, Any]:
    """Returns the facts that `--json` prints of a shipped model.

    Raises:
        RunError: The folder is damaged.
    """
    config, card = read_config(folder), read_card(folder) or {}
    if missing := [fact for fact in _FACTS if fact not in card]:
        raise RunError(f"{folder / CARD} lacks {', '.join(missing)}. Install the package again.")
    encoder = config["encoder"]
    return {
        "name": name,
        "folder": str(folder),
        "kind": config["kind"],
        "encoder": encoder["name"],
        "dim": encoder["config"]["dim"],
        "num_rows": encoder["config"]["num_rows"],
        "table_dtype": config.get("table_dtype", "float32"),
        "size_bytes": sum(file.stat().st_size for file in folder.iterdir()),
        "card": card,
    }


def models_table(models: Sequence[dict[str, Any]]) -> Table:
    """Returns a table of the models that `describe` returned."""
    table = make_table(
        "Models that ship with the package",
        ("name", "summary", "scores", "licence"),
        ("MB", "dim", "n-grams"),
    )
    for model in models:
        card = model["card"]
        scores = ", ".join(f"{name} {value}" for name, value in card["scores"].items())
        table.add_row(
            model["name"], card["summary"], scores, card["licence"],
            f"{model['size_bytes'] / 1e6:.1f}", str(model["dim"]), f"{model['num_rows']:,}",
        )  # fmt: skip
    return table


def make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="charagram models", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one line of JSON, no table")
    return parser


def models(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = make_parser().parse_args(arguments)
    described = [describe(name, folder) for name, folder in shipped_models().items()]
    if values.json:
        sys.stdout.write(json.dumps({"models": described}, ensure_ascii=False) + "\n")
    elif described:
        table_console().print(models_table(described))
    else:
        sys.stdout.write(f"{_NONE}\n")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(models, arguments)
