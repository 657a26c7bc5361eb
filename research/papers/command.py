"""`charagram papers`: every table and figure of three papers, our number beside theirs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tf_charagram.cli.commands import run_command
from tf_charagram.cli.flags import FlagParser, flag_of
from tf_charagram.errors import CharagramError, ConfigError, unknown_name
from tf_charagram.reporting.console import make_table, table_console

_REPORT, _ALL = "report", "all"


def make_parser() -> FlagParser:
    """Returns the command line."""
    parser = FlagParser(prog="charagram papers", description=__doc__)
    parser.add_argument(
        "name", type=str, nargs="*", default=[],
        help="tables and figures to make, `all` of them, or `report`; none: list them",
    )  # fmt: skip
    parser.add_argument(
        "--data", type=str | None, default=None, help="folder with all data, at any depth"
    )
    parser.add_argument(
        "--runs",
        type=str,
        default="papers",
        help="folder of runs and results, kept and gone on with",
    )
    parser.add_argument(
        "--max-epochs", type=float | None, default=None,
        help="train no run for more epochs than this [as the papers]",
    )  # fmt: skip
    parser.add_argument(
        "--max-minutes", type=float | None, default=None, help="train no run for longer than this"
    )
    parser.add_argument(
        "--trained-only", action="store_true", help="train nothing: leave cells without a run empty"
    )
    parser.add_argument(
        "--out", type=str, default="report", help="report: folder of index.html and papers.md"
    )
    return parser


def papers(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    parser = make_parser()
    values = parser.parse_args(arguments)
    _check_read(parser.given(arguments), values.name)
    out = Path(values.runs)
    if values.name == [_REPORT]:
        from research.papers.report import write_report

        for path in write_report(out, Path(values.out)):
            sys.stdout.write(f"{path}\n")
        return 0
    if len(values.name) > 1 and {_REPORT, _ALL} & {*values.name}:
        raise ConfigError(
            f"Give `{_REPORT}` and `{_ALL}` alone, without other names. Received: "
            f"{' '.join(values.name)}"
        )
    from research.papers.catalog import ENTRIES

    names = list(ENTRIES) if values.name == [_ALL] else values.name
    for name in names:
        if name not in ENTRIES:
            raise ConfigError(unknown_name("table or figure", name, [*ENTRIES, _ALL, _REPORT]))
    if not names:
        _list(out)
        return 0
    if values.data is None:
        raise ConfigError("Name the folder with the data: --data FOLDER")
    return _make(names, values, out, goes_on=values.name == [_ALL])


def _check_read(given: set[str], names: Sequence[str]) -> None:
    """Raises an error for a flag that is not read: the list and the report make no table."""
    if names and names != [_REPORT]:
        unread, rule = given & {"out"}, f"is for `charagram papers {_REPORT}`"
    else:
        unread, rule = given - {"name", "runs", *(["out"] if names else [])}, "is for making tables"
    if unread:
        raise ConfigError(f"{flag_of(min(unread))} {rule}. Leave it out.")


def _make(names: Sequence[str], values: Any, out: Path, goes_on: bool) -> int:
    """Makes tables one after the other; returns 1 if one could not be made."""
    from research.analysis.table import rich_tables
    from research.papers.catalog import ENTRIES
    from research.papers.context import Context
    from research.papers.making import make
    from research.papers.result import VERDICTS
    from research.papers.sources import find_sources
    from research.papers.training import Limits

    folder = Path(values.data)
    context = Context(folder, find_sources(folder), out)
    limits = Limits(values.max_epochs, values.max_minutes)
    failed = 0
    for name in names:
        try:
            result = make(
                ENTRIES[name], context, limits=limits, trained_only=values.trained_only,
                say=_say,
            )  # fmt: skip
        except CharagramError as error:
            if not goes_on:
                raise
            sys.stderr.write(f"{name}: {error}\n")
            failed += 1
            continue
        sys.stdout.write(f"{name}: {ENTRIES[name].shows}\n")
        table_console().print(rich_tables(result.beside))
        for claim, holds in result.claims.items():
            sys.stdout.write(f"  {VERDICTS[holds]}: {claim}.\n")
        for difference in result.differences:
            sys.stdout.write(f"  {difference}\n")
    return 1 if failed else 0


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _list(out: Path) -> None:
    from research.papers.catalog import ENTRIES
    from research.papers.making import result_file
    from research.papers.training import is_trained, roles_of, run_order

    table = make_table(
        "Tables and figures: charagram papers NAME --data FOLDER", ("name", "shows", "needs"),
        ("runs", "trained", "hours"),
    )  # fmt: skip
    for name, entry in ENTRIES.items():
        runs = run_order(entry.runs)
        trained = sum(is_trained(out, run.name) for run in runs)
        roles = dict.fromkeys(role.split("-")[0] for run in runs for role in roles_of(run))
        hours = sum(run.hours for run in runs)
        done = " (made)" if result_file(out, name).is_file() else ""
        table.add_row(
            name + done, entry.shows, ", ".join(roles), str(len(runs)), str(trained),
            f"{hours:.1f}" if runs else "0",
        )  # fmt: skip
    table.caption = (
        "hours: about, for the papers' data and epochs on two cores; --max-epochs and "
        "--max-minutes make it less"
    )
    table_console().print(table)


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(papers, arguments)
