"""The command line: `charagram COMMAND ...`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from tf_charagram._common.lazy import extra_module
from tf_charagram._version import __version__
from tf_charagram.cli.commands import run_command
from tf_charagram.errors import unknown_name

_SEARCH = "tf_charagram.search._commands"
#: Command -> the module with a function of its name, and its purpose.
COMMANDS = {
    "train": ("tf_charagram.cli.train", "train a model on text pairs"),
    "tune": ("tf_charagram.tuning.command", "search settings, a short training run per trial"),
    "evaluate": ("tf_charagram.cli.evaluate", "score models on word and sentence similarity sets"),
    "embed": ("tf_charagram.cli.embed", "embed the lines of files"),
    "tag": ("tf_charagram.cli.tag", "tag the words in the lines of files"),
    "export": ("tf_charagram.export.command", "write a version for TensorFlow Serving"),
    "check": ("tf_charagram.export._check.command", "check that an export can be served"),
    "convert": ("tf_charagram.export.convert", "read and write vectors of other tools"),
    "search": (f"{_SEARCH}.search", "find the most similar texts of a list"),
    "match": (f"{_SEARCH}.match", "find the rows of two tables that belong together"),
    "dedupe": (f"{_SEARCH}.dedupe", "find the rows of a table that are the same thing"),
    "label": (f"{_SEARCH}.label", "ask about pairs of rows, for match and dedupe to learn"),
    "demo": ("tf_charagram.cli.demo", "try a model on a page in the browser"),
    "models": ("tf_charagram.cli.models", "list the models that ship with the package"),
    "data": ("tf_charagram.cli.data", "list the known data sets, or download some"),
    "runs": ("tf_charagram.cli.runs", "list runs side by side, or show one"),
    "doctor": ("tf_charagram.cli.doctor", "report the state of this installation"),
}


def _complete() -> None:
    """Answers the shell that completes a command line, and exits.

    Raises:
        ConfigError: argcomplete is not installed.
    """
    argcomplete = extra_module("argcomplete", "completion")
    parser = argparse.ArgumentParser(prog="charagram")
    commands = parser.add_subparsers()
    words = os.environ["COMP_LINE"].split()
    for name, (module, purpose) in COMMANDS.items():
        parents = []
        # Other commands' parsers would take long to make.
        if name in words[1:2]:
            home = import_module(module)
            make = getattr(home, "make_parser", None) or home._make_parser
            parents = [make()]
        # A plain parser with the same flags: argcomplete replaces methods that ours have changed.
        commands.add_parser(name, help=purpose, parents=parents, add_help=not parents)
    argcomplete.autocomplete(parser)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command that the first argument names; only its module is imported.

    Returns its exit status, or the status of the error it ended with.
    """
    if "_ARGCOMPLETE" in os.environ:
        _complete()
    given = list(sys.argv[1:] if arguments is None else arguments)
    command, *rest = given or ["--help"]
    if command in ("--help", "-h"):
        sys.stdout.write("usage: charagram COMMAND ...\n\n")
        for name, (_, purpose) in COMMANDS.items():
            sys.stdout.write(f"  {name:10} {purpose}\n")
        sys.stdout.write("\nFor the flags of a command: charagram COMMAND --help\n")
        return 0
    if command == "--version":
        sys.stdout.write(f"tf-charagram {__version__}\n")
        return 0
    if command not in COMMANDS:
        sys.stderr.write(f"error: {unknown_name('command', command, COMMANDS)}\n")
        return 2
    # Other commands' modules would take seconds to import.
    module, _ = COMMANDS[command]
    function = getattr(import_module(module), command)
    return run_command(function, rest)
