"""What a shell is answered that asks how a command line may go on; see `completion`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

from tf_charagram.errors import CharagramError

if TYPE_CHECKING:
    from tf_charagram.cli.flags import FlagParser

#: Set by the script when it asks; its value is the number of the word that the flags come after.
ASKED = "_ARGCOMPLETE"
_AFTER_THE_COMMAND = "2"
#: Flags and arguments that take the name of a model or a file.
_MODELS = ("model", "init")

Completer = Callable[..., list[str]]


def complete(commands: Mapping[str, tuple[str, str]]) -> None:
    """Answers the shell, and ends the process.

    Args:
        commands: Module and purpose of each command, by its name.
    """
    argcomplete = import_module("argcomplete")
    line = os.environ["COMP_LINE"][: int(os.environ["COMP_POINT"])]
    _, _, _, words, _ = argcomplete.split_line(line)
    if len(words) < 2:
        parser = argparse.ArgumentParser()
        parser.add_argument("command", choices=list(commands))
        parser.add_argument("--version", action="store_true")
        argcomplete.autocomplete(parser)
    elif words[1] in commands:
        os.environ[ASKED] = _AFTER_THE_COMMAND
        parser = parser_of(commands[words[1]][0], words[2:])
        for action in parser._actions:
            action.completer = completer_of(parser, action)  # type: ignore[attr-defined]
        parser.parse_args([])
    raise SystemExit(0)


def parser_of(module: str, arguments: Sequence[str]) -> FlagParser:
    """Returns the command line of a module, for the task and the encoder if these decide it."""
    make_parser = import_module(module).make_parser
    if "task" in signature(make_parser).parameters:
        from tf_charagram.cli.run_flags import run_parser

        try:
            return run_parser(arguments, make_parser)
        except CharagramError:  # Of an unknown task, say, which is still being typed.
            pass
    return make_parser()


def completer_of(parser: FlagParser, action: Any) -> Completer:
    """Returns what completes the value of a flag or an argument."""
    from argcomplete.completers import FilesCompleter

    names: Iterable[str] = parser.choices.get(action.dest) or action.choices or ()
    if names:
        return lambda prefix, **_: [name for name in names if name.startswith(prefix)]
    if action.dest in _MODELS:
        from tf_charagram.models.locations import shipped_models

        names = shipped_models()
    elif "str" not in str(getattr(action, "_typehint", "str")):
        return lambda **_: []
    return lambda prefix, **_: [
        *(name for name in names if name.startswith(prefix)), *FilesCompleter()(prefix),
    ]  # fmt: skip
