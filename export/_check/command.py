"""`charagram check`: checks that an exported version can be served, and measures its latency.

It is loaded in a process that has only `tensorflow`. With `--url`, servers are checked instead.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from rich.markup import escape
from rich.table import Table

from tf_charagram._common.lazy import load_tensorflow
from tf_charagram._common.reporting import table_console
from tf_charagram.cli._flags.flags import Parser

_STATES = {True: "pass", False: "FAIL", None: "skip"}


def _make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="charagram check", description=__doc__)
    parser.add_argument(
        "model",
        metavar="FOLDER",
        help="a version, models/NAME/1; or models/NAME or a run folder, for the last version",
    )
    parser.add_argument(
        "--url",
        type=str,
        nargs="+",
        default=[],
        help="servers to check, http://HOST:8501/v1/models/NAME; golden answers come from the "
        "folder; embedders only",
    )
    parser.add_argument("--json", action="store_true", help="print one line of JSON, no table")
    return parser


def check(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status, 1 if a check failed."""
    values = _make_parser().parse_args(arguments)
    load_tensorflow()
    from tf_charagram.export._check.checks import VersionChecks, version_folder
    from tf_charagram.export.client import RestClient

    folder = version_folder(values.model)
    checks = VersionChecks(folder)
    results = []
    if not values.url:
        results = checks.check_in_process()
    for url in values.url:
        results += checks.check_server(RestClient(url))
    # A check that was skipped is `None`.
    is_ok = all(result.ok is not False for result in results)
    if values.json:
        rows = [asdict(result) for result in results]
        answer = {"model": str(folder), "ok": is_ok, "checks": rows}
        sys.stdout.write(json.dumps(answer) + "\n")
    else:
        table = Table("where", "check", "", "found", title=escape(str(folder)))
        for result in results:
            state = _STATES[result.ok]
            table.add_row(escape(result.where), result.name, state, escape(result.detail))
        table_console().print(table)
    return 0 if is_ok else 1
