"""`charagram data` lists public data sets; `charagram data get NAME` downloads one."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from tf_charagram.cli.commands import run_command
from tf_charagram.cli.flags import Parser
from tf_charagram.errors import ConfigError, DataError
from tf_charagram.reporting.console import make_table, number, table_console

if TYPE_CHECKING:
    from rich.table import Table

_PPDB = "ppdb-"


def known_sets(cache_dir: str | None = None) -> list[dict[str, Any]]:
    """Returns the facts about all sets, by kind: `path` in the cache, `use` as a command."""
    from tf_charagram.data.download import SOURCES, USES, cached

    sets = []
    for name, source in sorted(SOURCES.items(), key=lambda item: [*USES].index(item[1].kind)):
        path = cached(name, cache_dir=cache_dir)
        use = f"charagram {USES[source.kind]}"
        num_bytes = source.num_bytes
        if path is not None:
            use = use.replace("PATH", str(path))
            files = path.iterdir() if path.is_dir() else (path,)
            num_bytes = sum(file.stat().st_size for file in files)
        sets.append(
            {"name": name, "kind": source.kind, "licence": source.licence,
             "path": path and str(path), "num_bytes": num_bytes, "use": use}
        )  # fmt: skip
    return sets


def sets_table(sets: Sequence[dict[str, Any]]) -> Table:
    """Returns a table of data sets."""
    table = make_table("Data sets", ("name", "kind", "licence", "use"), ("MB",))
    table.columns[3].overflow = "fold"  # Paths are to be copied.
    for known in sets:
        size = None if known["num_bytes"] is None else known["num_bytes"] / 1e6
        cells = map(escape, (known["licence"], known["use"]))
        table.add_row(known["name"], known["kind"], *cells, number(size, ",.2f"))
    return table


def _without_ppdb(sets: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the sets to list: one of the sixty files of PPDB, and those that are cached."""
    first = next(known["name"] for known in sets if known["name"].startswith(_PPDB))
    return [s for s in sets if not s["name"].startswith(_PPDB) or s["path"] or s["name"] == first]


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
    if data_dir is not None and not Path(data_dir).is_dir():
        raise DataError(data_dir, "no such folder to look for data sets")
    sets = known_sets(data_dir)
    if as_json:
        sys.stdout.write(json.dumps({"sets": sets}) + "\n")
        return 0
    table_console().print(sets_table(sets if every else _without_ppdb(sets)))
    if not every:
        sys.stdout.write("PPDB: ppdb-{1.0,2.0}-{s,m,l,xl,xxl,xxxl}-{lexical,phrasal,o2m,m2o,all}\n")
    sys.stdout.write(
        "Download sets with charagram data get NAME. starter ships with the package.\n"
    )
    return 0


def _get(names: Sequence[str], data_dir: str | None) -> int:
    from tf_charagram.data.download import SOURCES, fetch

    for name in names:
        path = fetch(name, cache_dir=data_dir, progress=sys.stderr.isatty())
        sys.stdout.write(f"{name} -> {path}\n")
        sys.stderr.write(f"{name}: licence: {SOURCES[name].licence}\n")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(data, arguments)
