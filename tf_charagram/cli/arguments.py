"""Arguments of a command line before they are parsed."""

from __future__ import annotations

import json
import math
from argparse import Action
from collections.abc import Sequence

from tf_charagram.cli.settings_file import read_settings
from tf_charagram.errors import ConfigError


def repeatable(arguments: Sequence[str], flags: Sequence[str]) -> list[str]:
    """Makes a list of all uses of a flag; the first takes the place of what a file says."""
    result: list[str] = []
    values = iter(arguments)
    seen: set[str] = set()
    for argument in values:
        name, equals, text = argument.partition("=")
        if name not in flags:
            result.append(argument)
            continue
        value = text if equals else next(values, None)
        if value is None:
            result.append(name)  # For the parser to say what is missing.
        else:
            result.append(f"{name}{'+' if name in seen else ''}={json.dumps([value])}")
            seen.add(name)
    return result


def value_of(arguments: Sequence[str], name: str, file_flag: str = "--config") -> str | None:
    """Returns the value of a flag before all are parsed: the last given, else that of the files.

    Raises:
        ConfigError: A file is no file of settings, or the value is no text.
    """
    if flags := values_of(arguments, f"--{name}"):
        return flags[-1]
    value = None
    for path in values_of(arguments, file_flag):
        value = read_settings(path).get(name, value)
        if not isinstance(value, str | bool | None):
            raise ConfigError(f"`{name}` must be a text. Received: {value!r:.100} in {path}")
    return value


def values_of(arguments: Sequence[str], flag: str) -> list[str]:
    """Returns all values that a flag is given, in order, before all are parsed."""
    found: list[str] = []
    values = iter(arguments)
    for argument in values:
        name, equals, text = argument.partition("=")
        if name == flag and (given := text if equals else next(values, None)) is not None:
            found.append(given)
    return found


def file_first(arguments: Sequence[str], flag: str = "--config") -> list[str]:
    """Moves the file of settings to the front: flags override it, wherever they stand."""
    front: list[str] = []
    rest: list[str] = []
    values = iter(arguments)
    for argument in values:
        if argument == flag:
            front += [argument, *([value] if (value := next(values, None)) is not None else [])]
        elif argument.startswith(f"{flag}="):
            front.append(argument)
        else:
            rest.append(argument)
    return front + rest


def flags_last(arguments: Sequence[str], actions: Sequence[Action]) -> list[str]:
    """Moves flags behind the other arguments, if any number of these may be given.

    `argparse` takes them only side by side, up to Python 3.11.

    Args:
        arguments: As they were given.
        actions: Of the parser.
    """
    if not any(action.nargs in ("*", "+") for action in actions if not action.option_strings):
        return list(arguments)
    nargs_of = {flag: action.nargs for action in actions for flag in action.option_strings}
    others: list[str] = []
    flags: list[str] = []
    num_values = 0.0
    for position, argument in enumerate(arguments):
        if argument == "--":
            # What is behind the dashes must not be apart from the others either.
            return [*flags, argument, *others, *arguments[position + 1 :]]
        if argument.startswith("-") and argument != "-":
            nargs = nargs_of.get(argument, 0)
            num_values = math.inf if nargs in ("*", "+") else 0 if nargs == 0 else 1
            flags.append(argument)
        elif num_values:
            num_values -= 1
            flags.append(argument)
        else:
            others.append(argument)
    return [*others, *flags]
