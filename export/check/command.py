"""`charagram check`: checks that an exported version can be served, and measures its latency.

It is loaded in a process that has only `tensorflow`, and by TensorFlow's C++ runtime without any
Python. With `--url`, servers are checked instead.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

from rich.markup import escape
from rich.table import Table

from tf_charagram.cli.commands import run_command
from tf_charagram.cli.flags import Parser
from tf_charagram.errors import ConfigError
from tf_charagram.reporting.console import table_console

_STATES = {True: "pass", False: "FAIL", None: "skip"}


def make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="charagram check", description=__doc__)
    parser.add_argument(
        "model", metavar="FOLDER",
        help="a version, models/NAME/1; or models/NAME or a run folder, for the last version",
    )  # fmt: skip
    parser.add_argument(
        "--url", type=str, nargs="+", default=[],
        help="servers to check, http://HOST:8501/v1/models/NAME or grpc://HOST:8500/NAME; golden "
        "answers come from the folder; embedders only",
    )  # fmt: skip
    parser.add_argument("--batches", type=str, default="1,32,1000", help="batch sizes to time")
    parser.add_argument("--seconds", type=float, default=5.0, help="time for each batch size")
    parser.add_argument("--json", action="store_true", help="print one line of JSON, no table")
    return parser


def check(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status, 1 if a check failed."""
    values = make_parser().parse_args(arguments)
    sizes = values.batches.split(",")
    if not all(size.isdecimal() and int(size) for size in sizes):
        raise ConfigError(
            f"`batches` must be numbers above 0, such as 1,32. Received: {values.batches}"
        )
    if not values.seconds > 0:
        raise ConfigError(f"`seconds` must be above 0. Received: seconds={values.seconds}")
    from tf_charagram.export.check.checks import VersionChecks, version_folder
    from tf_charagram.export.serving.client import connect

    folder = version_folder(values.model)
    with ExitStack() as stack:
        clients = [stack.enter_context(connect(url)) for url in values.url]
        checks = VersionChecks(folder, batches=[*map(int, sizes)], seconds=values.seconds)
        for client in clients:
            checks.check_server(client)
        if not clients:
            checks.check_graph()
            checks.check_runtimes()
    report = {
        "model": str(folder),
        "ok": all(result.ok is not False for result in checks.results),
        "checks": [asdict(result) for result in checks.results],
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
    if not report["latency"]:
        return
    latency = Table("where", title=f"Latency of English {unit}")
    for name in ("batch", "calls", "p50 ms", "p99 ms", "texts/s"):
        latency.add_column(name, justify="right")
    for row in report["latency"]:
        latency.add_row(
            escape(row["where"]), f"{row['batch']:,}", f"{row['calls']:,}",
            f"{row['p50_ms']:.3f}", f"{row['p99_ms']:.3f}", f"{row['texts_per_second']:,.0f}",
        )  # fmt: skip
    console.print(latency)


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(check, arguments)
