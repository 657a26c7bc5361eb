"""`charagram COMMAND ...`: the commands of the package under one name."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from tf_charagram._version import __version__
from tf_charagram.errors import unknown_name

#: Command, the module whose `main` runs it, and what it is for.
COMMANDS = {
    "train": ("tf_charagram.cli.train", "train a model on text pairs"),
    "tune": ("tf_charagram.tuning.command", "search settings, a short training run per trial"),
    "evaluate": ("tf_charagram.cli.evaluate", "score models on word and sentence similarity sets"),
    "embed": ("tf_charagram.cli.embed", "embed the lines of a file"),
    "tag": ("tf_charagram.cli.tag", "tag the words of the lines of a file"),
    "export": ("tf_charagram.export.command", "write a version for TensorFlow Serving"),
    "check": ("tf_charagram.export.check.command", "check that an export can be served"),
    "neighbors": ("tf_charagram.cli.neighbors", "find the nearest texts in a list"),
    "index": ("tf_charagram.cli.index", "prepare many texts for neighbors --index"),
    "demo": ("tf_charagram.cli.demo", "try a model on a page in the browser"),
    "models": ("tf_charagram.cli.models", "list the models that ship with the package"),
    "data": ("tf_charagram.cli.data", "list the data sets that are known, and get them"),
    "runs": ("tf_charagram.cli.runs", "list runs and searches side by side"),
    "show": ("tf_charagram.cli.show", "print a run again: settings, curve, scores, files"),
    "completion": ("tf_charagram.cli.completion", "make bash, zsh or fish complete commands"),
    "doctor": ("tf_charagram.cli.doctor", "say what this installation has and lacks"),
    "convert": (
        "tf_charagram.export.convert",
        "write word2vec text, or make a model of a table of n-grams",
    ),
}


def usage() -> str:
    """Returns the help text."""
    lines = [f"  {name:16} {purpose}" for name, (_, purpose) in COMMANDS.items()]
    return "\n".join(
        ["usage: charagram COMMAND ...", "", *lines, "", "charagram COMMAND --help tells more."]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; modules are loaded only when called."""
    if "_ARGCOMPLETE" in os.environ:
        import_module("tf_charagram.cli.completer").complete(COMMANDS)
    command, *rest = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if command in ("--help", "-h"):
        sys.stdout.write(usage() + "\n")
        return 0
    if command == "--version":
        sys.stdout.write(f"tf-charagram {__version__}\n")
        return 0
    if command not in COMMANDS:
        sys.stderr.write(f"error: {unknown_name('command', command, COMMANDS)}\n")
        return 2
    return import_module(COMMANDS[command][0]).main(rest)
