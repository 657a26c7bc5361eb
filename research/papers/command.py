"""`python -m research papers`: every table and figure of three papers, our number next to theirs.

Without a name, it writes `research/papers.md` from the saved results.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from research.analysis.plot import svg
from research.analysis.table import rich_tables
from research.papers.catalog import ENTRIES
from research.papers.context import Context
from research.papers.making import make, read_result, result_file
from research.papers.report import page
from research.papers.result import VERDICTS
from research.papers.sources import find_sources
from research.papers.training import Limits, is_trained, roles_of, run_order
from tf_charagram._common.reporting import make_table, table_console
from tf_charagram._files.writing import whole_file
from tf_charagram.errors import CharagramError, ConfigError, unknown_name

_ALL = "all"
_RESEARCH = Path(__file__).parents[1]


def make_parser() -> argparse.ArgumentParser:
    """Returns the command line."""
    parser = argparse.ArgumentParser(prog="python -m research papers", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="table or figure to make, or all")
    parser.add_argument("--list", action="store_true", help="list the tables and figures")
    parser.add_argument("--data", type=Path, help="folder with all data, at any depth")
    parser.add_argument(
        "--runs", type=Path, default=Path("papers"), help="folder of the training runs [papers]"
    )
    parser.add_argument(
        "--results", type=Path, default=_RESEARCH / "results", help="folder of the saved results"
    )
    parser.add_argument(
        "--page", type=Path, default=_RESEARCH / "papers.md", help="page to write, without a NAME"
    )
    parser.add_argument("--pictures", type=Path, help="folder to write the figures to, as SVG")
    parser.add_argument("--max-epochs", type=float, help="limit of the epochs of a run")
    parser.add_argument("--max-minutes", type=float, help="limit of the minutes of a run")
    parser.add_argument(
        "--trained-only",
        action="store_true",
        help="train nothing: keep the saved cells of missing runs",
    )
    return parser


def run(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = make_parser().parse_args(arguments)
    if values.list:
        _list(values)
        return 0
    if values.names:
        return _make(values)
    with whole_file(values.page, "w") as file:
        file.write(page(values.results))
    if values.pictures is not None:
        _draw(values)
    return 0


def _draw(values: Any) -> None:
    for name in ENTRIES:
        path = result_file(values.results, name)
        curves = read_result(path).ours.curves if path.is_file() else None
        if curves is not None:
            with whole_file(values.pictures / f"{path.stem}.svg", "w") as file:
                file.write(svg(curves))


def _make(values: Any) -> int:
    """Makes tables one after the other; returns 1 if one could not be made."""
    makes_all = values.names == [_ALL]
    names = list(ENTRIES) if makes_all else values.names
    for name in names:
        if name not in ENTRIES:
            raise ConfigError(unknown_name("table or figure", name, [*ENTRIES, _ALL]))
    if values.data is None:
        raise ConfigError("Name the folder with the data: --data FOLDER")
    context = Context(values.data, find_sources(values.data), values.runs)
    limits = Limits(values.max_epochs, values.max_minutes)
    failed = 0
    for name in names:
        try:
            result = make(
                ENTRIES[name], context, values.results, limits=limits,
                trained_only=values.trained_only, say=lambda text: sys.stderr.write(f"{text}\n"),
            )  # fmt: skip
        except CharagramError as error:
            if not makes_all:
                raise
            sys.stderr.write(f"{name}: {error}\n")
            failed += 1
            continue
        sys.stdout.write(f"{name}: {ENTRIES[name].shows}\n")
        table_console().print(rich_tables(result.beside))
        for claim, holds in result.claims.items():
            sys.stdout.write(f"  {VERDICTS[holds]}: {claim}.\n")
        sys.stdout.writelines(f"  {difference}\n" for difference in result.differences)
    return 1 if failed else 0


def _list(values: Any) -> None:
    table = make_table(
        "python -m research papers NAME --data FOLDER", ("name", "shows", "needs"),
        ("runs", "trained", "hours"),
    )  # fmt: skip
    for name, entry in ENTRIES.items():
        runs = run_order(entry.runs)
        trained = sum(is_trained(values.runs, run.name) for run in runs)
        roles = dict.fromkeys(role.split("-")[0] for run in runs for role in roles_of(run))
        done = " (made)" if result_file(values.results, name).is_file() else ""
        hours = f"{sum(run.hours for run in runs):.1f}"
        table.add_row(
            name + done, entry.shows, ", ".join(roles), str(len(runs)), str(trained), hours
        )
    table.caption = "hours: roughly, on two cores with the papers' data and epochs"
    table_console().print(table)
