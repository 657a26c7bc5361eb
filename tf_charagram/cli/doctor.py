"""`charagram doctor`: says what this installation has, what it lacks, and what it would need."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.markup import escape
from rich.table import Table

from tf_charagram._version import __version__
from tf_charagram.cli.commands import run_command
from tf_charagram.cli.flags import FlagParser
from tf_charagram.cli.needs import Need, needs
from tf_charagram.data.download.fetch import cache_folder, cached
from tf_charagram.data.download.sources import SOURCES
from tf_charagram.models.locations import shipped_models
from tf_charagram.reporting.console import make_table, table_console
from tf_charagram.text.batches import num_threads


def examine(packages: Sequence[Need]) -> dict[str, Any]:
    """Returns what `--json` prints; TensorFlow is imported to look for GPUs, if it can be."""
    try:
        import tensorflow as tf

        gpus: list[str] | None = [gpu.name for gpu in tf.config.list_physical_devices("GPU")]
        error = None
    except Exception as problem:  # A broken installation may raise anything.
        gpus, error = None, f"{type(problem).__name__}: {problem}"
    return {
        "tf_charagram": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "threads": num_threads(),
        "gpus": gpus,
        "tensorflow_error": error,
        "packages": [{**asdict(need), "problem": need.problem} for need in packages],
        "models": list(shipped_models()),
        "downloads": {
            "folder": str(cache_folder()),
            "sets": [name for name in SOURCES if cached(name) is not None],
        },
    }


def packages_table(found: Sequence[Need]) -> Table:
    """Returns the table of the packages, with the command that mends what is wrong."""
    table = make_table("Packages", ("package", "for", "needs", "found", "to mend it"), ())
    for need in found:
        mend = "" if need.problem is None else f"{need.problem}: {need.cure}"
        table.add_row(
            need.package, need.extra or "everything", need.versions or "any",
            need.version or "-", escape(mend),
        )  # fmt: skip
    return table


def make_parser() -> FlagParser:
    """Returns the command line."""
    parser = FlagParser(prog="charagram doctor", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one line of JSON, no table")
    return parser


def doctor(arguments: Sequence[str]) -> int:
    """Runs the command; returns 1 if something that all needs is missing or wrong."""
    values = make_parser().parse_args(arguments)
    packages = needs()
    found = examine(packages)
    is_well = found["gpus"] is not None and not any(
        need.problem for need in packages if need.extra is None
    )
    if values.json:
        sys.stdout.write(json.dumps(found) + "\n")
        return 0 if is_well else 1
    console = table_console()
    console.print(packages_table(packages))
    facts = {
        "tf-charagram": f"{__version__}, Python {found['python']}, {found['platform']}",
        "threads": f"{found['threads']} of {found['cores']} cores",
        "GPUs": ", ".join(found["gpus"] or ()) or found["tensorflow_error"] or "none",
        "models": ", ".join(found["models"]) or "none",
        "downloads": f"{', '.join(found['downloads']['sets']) or 'none'} in "
        f"{found['downloads']['folder']}",
    }
    for name, value in facts.items():
        console.print(f"{name:13} {value}", soft_wrap=True, markup=False)
    return 0 if is_well else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(doctor, arguments)
