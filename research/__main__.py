"""`python -m research NAME ...`: reproduces the papers; `NAME --help` explains its flags."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from tf_charagram._common.lazy import load_tensorflow
from tf_charagram.cli.commands import run_command
from tf_charagram.errors import unknown_name

#: Command, the module whose `run` runs it, and its purpose.
COMMANDS = {
    "papers": ("research.papers.command", "make the tables and figures of three papers"),
    "analyze": ("research.analysis.command", "analyze trained models as the papers do"),
    "settings": ("research.paper_settings", "print the settings of a paper for train --config"),
    "evaluate": ("research.evaluate", "score models next to baselines and the papers' numbers"),
    "charagram": ("research.readers", "run a command of the package on the sets of papers, too"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns its exit status."""
    name, *rest = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if name in ("-h", "--help"):
        lines = [f"  {name:10} {purpose}" for name, (_, purpose) in COMMANDS.items()]
        sys.stdout.write("\n".join(["usage: python -m research COMMAND ...", "", *lines, ""]))
        return 0
    if name not in COMMANDS:
        sys.stderr.write(f"error: {unknown_name('command', name, COMMANDS)}\n")
        return 2

    def run(arguments: Sequence[str]) -> int:
        load_tensorflow()
        return int(import_module(COMMANDS[name][0]).run(arguments))

    return run_command(run, rest)


if __name__ == "__main__":
    sys.exit(main())
