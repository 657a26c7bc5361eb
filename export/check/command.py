"""`charagram check`: whether an exported version can be served, and how fast it answers.

It is loaded in a process that has only `tensorflow`, and by TensorFlow's C++ runtime without any
Python of TensorFlow's; with `--url`, servers are asked instead.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from rich.markup import escape
from rich.table import Table

from tf_charagram.cli.arguments import repeatable
from tf_charagram.cli.commands import run_command
from tf_charagram.cli.flags import FlagParser
from tf_charagram.errors import ConfigError
from tf_charagram.reporting.console import table_console

_STATES = {True: "pass", False: "FAIL", None: "skip"}


def make_parser() -> FlagParser:
    """Returns the command line."""
    parser = FlagParser(prog="charagram check", description=__doc__)
    parser.add_argument(
        "model", type=str, metavar="FOLDER",
        help="a version, models/NAME/1; or models/NAME or a run folder, for the last version",
    )  # fmt: skip
    parser.add_argument(
        "--url", type=list[str], default=[],
        help="server to check, http://HOST:8501/v1/models/NAME or grpc://HOST:8500/NAME; "
        "repeatable; the folder gives the golden vectors; embedders only",
    )  # fmt: skip
    parser.add_argument(
        "--batches", type=str, default="1,32,1000", help="batch sizes to time, as 1,32,1000"
    )
    parser.add_argument("--repeats", type=int, default=1000, help="most calls of each batch size")
    parser.add_argument(
        "--seconds", type=float, default=5.0,
        help="time after which a batch size is called no more, once it was called 20 times",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one line of JSON, no table")
    return parser


def check(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status, 1 if a check failed."""
    values = make_parser().parse_args(repeatable(arguments, ["--url"]))
    sizes = values.batches.split(",")
    if not all(size.isdecimal() and int(size) for size in sizes):
        raise ConfigError(
            f"`batches` must be numbers above 0, such as 1,32. Received: {values.batches}"
        )
    for name in ("repeats", "seconds"):
        if not values[name] > 0:
            raise ConfigError(f"`{name}` must be above 0. Received: {name}={values[name]}")
    from tf_charagram.export.check.version import version_folder
    from tf_charagram.export.serving.client import connect

    folder = version_folder(values.model)
    with ExitStack() as stack:
        clients = [stack.enter_context(connect(url)) for url in values.url]
        from tf_charagram.export.check.checks import VersionChecks

        checks = VersionChecks(
            folder, batches=[*map(int, sizes)], repeats=values.repeats, seconds=values.seconds
        )
        for client in clients:
            checks.check_server(client)
        if not clients:
            checks.check_graph()
            checks.check_runtimes()
    report = {
        "model": str(folder),
        "ok": all(result.ok is not False for result in checks.results),
        "checks": [result.to_dict() for result in checks.results],
        "operations": checks.operations,
        "latency": checks.latency,
    }
    if values.json:
        sys.stdout.write(json.dumps(report) + "\n")
    else:
        _print(report, checks.unit)
    return 0 if report["ok"] else 1


def _print(report: dict[str, Any], unit: str) -> None:
    console = table_console()
    for owner, names in report["operations"].items():
        console.print(escape(f"Operations of {owner}: {', '.join(names)}"))
    checks = Table("where", "check", "", "found", title=escape(report["model"]))
    for row in report["checks"]:
        checks.add_row(*map(escape, (row["where"], row["name"], _STATES[row["ok"]], row["detail"])))
    console.print(checks)
    if report["latency"]:
        console.print(_latency_table(report["latency"], unit))


def _latency_table(rows: Sequence[dict[str, Any]], unit: str) -> Table:
    table = Table("where", title=f"Latency of English {unit}")
    for name in ("batch", "calls", "p50 ms", "p99 ms", "texts/s"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            escape(row["where"]), f"{row['batch']:,}", f"{row['calls']:,}",
            f"{row['p50_ms']:.3f}", f"{row['p99_ms']:.3f}", f"{row['texts_per_second']:,.0f}",
        )  # fmt: skip
    return table


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(check, arguments)
