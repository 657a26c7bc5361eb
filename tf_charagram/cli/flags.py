"""Parsers of command lines: plain ones, and those whose flags are made from settings."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn, get_args, get_origin

import jsonargparse

from tf_charagram.settings import Group, choices_of, described, types_of, without_none

#: Help text of the argument that names a model.
MODEL_HELP = "run folder, model folder, or a name that charagram models lists"


class _WithHints(argparse.ArgumentParser):
    """An argument parser with short errors, which suggest the flag that was meant.

    Attributes:
        hints: Hints about unknown flags, by flag.
    """

    hints: Mapping[str, str] = MappingProxyType({})

    def error(self, message: str, ex: Exception | None = None) -> NoReturn:
        """Prints the problem and how to get help, and exits with status 2."""
        sys.stderr.write(f"{self.prog}: error: {' '.join(message.split())}\n")
        sys.stderr.write(f"See {self.prog} --help\n")
        raise SystemExit(2)

    def check_flags(self, arguments: Sequence[str]) -> None:
        """Exits with an error for a flag that does not exist."""
        known = list(self._option_string_actions)
        for argument in arguments:
            flag = argument.partition("=")[0]
            if flag == "--":
                return
            if flag.startswith("--") and flag not in known:
                close = difflib.get_close_matches(flag, known, n=1)
                hint = f"Did you mean {close[0]}?" if close else ""
                self.error(f"unknown flag {flag}. {self.hints.get(flag, hint)}")


class Parser(_WithHints):
    """The parser of a command with few flags, which can stand before and after other arguments."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_abbrev=False, **kwargs)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parses the arguments."""
        args = sys.argv[1:] if args is None else args
        self.check_flags(args)
        return self.parse_intermixed_args(args, namespace)

    def given(self, values: Any) -> set[str]:
        """Returns the names of the arguments whose values are not their defaults."""
        return {name for name, value in vars(values).items() if value != self.get_default(name)}


class SettingsParser(_WithHints, jsonargparse.ArgumentParser):
    """The parser of a command whose flags are made from settings; see `add_flags`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=argparse.HelpFormatter, **kwargs)

    def parse_args(  # type: ignore[override]
        self, args: Any = None, namespace: Any = None, **kwargs: Any
    ) -> Any:
        """Parses the arguments; see `jsonargparse.ArgumentParser`."""
        args = sys.argv[1:] if args is None else args
        self.check_flags(args)
        try:
            return super().parse_args(args, namespace, **kwargs)
        except UnicodeDecodeError as error:
            self.error(f"the file of --config must be UTF-8: {error}")


class Flag(NamedTuple):
    """A flag that is about to be added to a parser.

    Attributes:
        name: Name of the setting.
        arguments: Arguments of `add_argument`.
        group: What the flag is about, `None` for a flag without a group.
    """

    name: str
    arguments: dict[str, Any]
    group: str | None = None


def settings_flags(config_class: type, group: str | None = None) -> list[Flag]:
    """Returns a flag for each field of a dataclass that `option` made.

    Args:
        config_class: The dataclass.
        group: Group of fields that name none.
    """
    types, flags = types_of(config_class), []
    for name, told in described(config_class).items():
        kind, default = types[name], getattr(config_class, name)
        shown = "" if default in (None, False, ()) else " [%(default)s]"
        arguments = {"help": told["help"] + shown, "default": default}
        if kind in (bool, bool | None):
            arguments["action"] = jsonargparse.ActionYesNo(no_prefix="no-")
        elif told.get("is_repeatable"):
            arguments |= {"action": _Repeatable, "metavar": "FILE", "default": list(default)}
        elif get_origin(kind) is tuple:
            arguments |= {"type": tuple_of(get_args(kind)[0]), "metavar": "A,B,..."}
        else:
            # `None` is accepted for a flag whose default it is, and left out of error messages.
            arguments["type"] = without_none(kind)
            if choices := choices_of(kind):
                arguments["metavar"] = f"{{{','.join(map(str, choices))}}}"
        flags.append(Flag(name, arguments, told.get("group", group)))
    return flags


def switch(name: str, text: str, group: str | None = None) -> Flag:
    """Returns a flag without a value."""
    return Flag(name, {"action": "store_true", "help": text}, group)


#: The flag that `reporting.progress.quiet` follows.
QUIET = switch("quiet", "print only warnings, errors and results", "run")


def add_flags(
    parser: SettingsParser,
    flags: Sequence[Flag],
    *,
    first: Sequence[str] = (),
    show_all: bool = True,
) -> None:
    """Adds flags to a parser: the first ones in their order, the others in groups.

    Args:
        parser: Gets the flags.
        flags: The flags.
        first: Names of those that come first.
        show_all: Whether the help shows the others, too.
    """
    by_name = {flag.name: flag for flag in flags}
    for name in first:
        if name in by_name:
            parser.add_argument(flag_of(name), **by_name[name].arguments)
    titles = list(dict.fromkeys([*get_args(Group), *(flag.group for flag in flags)]))
    for title in titles:
        rest = [flag for flag in flags if flag.group == title and flag.name not in first]
        group = parser.add_argument_group(title) if title and rest else parser
        for name, arguments, _ in rest:
            hidden = {} if show_all else {"help": argparse.SUPPRESS}
            group.add_argument(flag_of(name), **{**arguments, **hidden})


class _Repeatable(argparse.Action):
    """A flag that can be given several times; its first use replaces the value of a file."""

    is_given = False

    def __call__(
        self, parser: Any, namespace: Any, values: Any, option_string: str | None = None
    ) -> None:
        before = getattr(namespace, self.dest, []) if self.is_given else []
        self.is_given = True
        setattr(namespace, self.dest, [*before, values])


def tuple_of(kind: type) -> Callable[[Any], Any]:
    """Returns the type of a flag with a comma-separated list, such as `2,3,4`."""

    def comma_separated(value: Any) -> Any:
        parts = value.split(",") if isinstance(value, str) else value
        return tuple(map(kind, filter(None, parts)))

    comma_separated.__name__ = f"comma-separated {kind.__name__}"
    return comma_separated


def flag_of(name: str) -> str:
    """Returns the flag of a setting."""
    return "--" + name.replace("_", "-")
