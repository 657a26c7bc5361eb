"""`charagram data` lists public data sets; `charagram data get NAME` downloads one."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from tf_charagram.cli.commands import run_command
from tf_charagram.cli.flags import Parser
from tf_charagram.errors import ConfigError, DataError
from tf_charagram.reporting.console import make_table, number, table_console

if TYPE_CHECKING:
    from tf_charagram.data.download.fetch import KnownSet

_PPDB = "ppdb-"


def sets_table(sets: Sequence[KnownSet]) -> Table:
    """Returns a table of data sets."""
    table = make_table("Data sets", ("name", "kind", "licence", "use"), ("MB",))
    table.columns[3].overflow = "fold"  # Paths are to be copied.
    for known in sets:
        size = None if known.num_bytes is None else known.num_bytes / 1e6
        cells = map(escape, (known.licence, known.use))
        table.add_row(known.name, known.kind, *cells, number(size, ",.2f"))
    return table


def _without_ppdb(sets: Sequence[KnownSet]) -> list[KnownSet]:
    """Returns the sets to list: one of the sixty files of PPDB, and those that are cached."""
    first = next(known.name for known in sets if known.name.startswith(_PPDB))
    return [s for s in sets if not s.name.startswith(_PPDB) or s.path or s.name == first]


def make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="charagram data", description=__doc__)
    parser.add_argument(
        "action", nargs="*", metavar="get NAME",
        help="download these sets [list all]",
    )  # fmt: skip
    parser.add_argument(
        "--data-dir", help="folder of downloads [the cache]"
    )  # fmt: skip
    parser.add_argument("--all", action="store_true", help="list each file of PPDB, too")
    parser.add_argument("--json", action="store_true", help="print one line of JSON, no table")
    return parser


def data(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = make_parser().parse_args(arguments)
    if not values.action:
        return _list(values.data_dir, every=values.all, as_json=values.json)
    verb, *names = values.action
    if verb != "get" or not names:
        given = " ".join(values.action)
        raise ConfigError(f"Give `charagram data` or `charagram data get NAME`. Received: {given}")
    for flag in ("all", "json"):
        if getattr(values, flag):
            raise ConfigError(f"--{flag} is for the list. Leave it out of `charagram data get`.")
    return _get(names, values.data_dir)


def _list(data_dir: str | None, *, every: bool, as_json: bool) -> int:
    from tf_charagram.data.download.fetch import known_sets
    from tf_charagram.data.download.sources import ON_REQUEST

    if data_dir is not None and not Path(data_dir).is_dir():
        raise DataError(data_dir, "no such folder to look for data sets")
    sets = known_sets(data_dir)
    if as_json:
        described = [{**asdict(known), "path": known.path and str(known.path)} for known in sets]
        sys.stdout.write(json.dumps({"sets": described}) + "\n")
        return 0
    table_console().print(sets_table(sets if every else _without_ppdb(sets)))
    if not every:
        sys.stdout.write("PPDB: ppdb-{1.0,2.0}-{s,m,l,xl,xxl,xxxl}-{lexical,phrasal,o2m,m2o,all}\n")
    sys.stdout.write(
        "Download sets with charagram data get NAME. starter ships with the package.\n"
        f"On request from their owners: {', '.join(ON_REQUEST)}.\n"
    )
    return 0


def _get(names: Sequence[str], data_dir: str | None) -> int:
    from tf_charagram.data.download.fetch import fetch
    from tf_charagram.data.download.sources import ON_REQUEST, SOURCES

    for name in names:
        if name in ON_REQUEST:
            raise ConfigError(f"{name} is only available from its owners: {ON_REQUEST[name]}.")
    for name in names:
        path = fetch(name, cache_dir=data_dir, progress=sys.stderr.isatty())
        sys.stdout.write(f"{name} -> {path}\n")
        sys.stderr.write(f"{name}: licence: {SOURCES[name].licence}\n")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(data, arguments)
