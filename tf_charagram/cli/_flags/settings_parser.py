"""Parsers of command lines whose flags are made from settings."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, get_args, get_origin

import jsonargparse
import yaml

from tf_charagram.cli._flags.flags import WithHints, flag_of, tuple_of
from tf_charagram.settings import Group, choices_of, described, types_of, without_none

_YAML = "charagram_yaml"


class _Dumper(yaml.SafeDumper):
    """Quotes texts such as 1e-3: jsonargparse reads them as numbers, as YAML 1.1 does not."""


_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?\d[\d_]*(\.[\d_]*)?[eE][-+]?\d+$"),
    [*"-+0123456789"],
)


def _to_yaml(settings: dict[str, Any]) -> str:
    return yaml.dump(settings, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


jsonargparse.set_dumper(_YAML, _to_yaml)


class SettingsParser(WithHints, jsonargparse.ArgumentParser):
    """The parser of a command whose flags are made from the fields of dataclasses."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=argparse.HelpFormatter, **kwargs)

    def parse_args(  # type: ignore[override]
        self, args: Any = None, namespace: Any = None, **kwargs: Any
    ) -> Any:
        """Parses the arguments; `defaults=False` leaves out flags that are not given."""
        args = sys.argv[1:] if args is None else args
        self.check_flags(args)
        try:
            return super().parse_args(args, namespace, **kwargs)
        except UnicodeDecodeError as error:
            self.error(f"the file of --config must be UTF-8: {error}")

    def dump(self, namespace: Any, format: str = _YAML, **kwargs: Any) -> str:
        """Returns settings as YAML that `--config` reads."""
        return super().dump(namespace, _YAML if format == "parser_mode" else format, **kwargs)


class Flag(NamedTuple):
    """A flag that is about to be added to a parser.

    Attributes:
        name: Name of the setting.
        arguments: Arguments of `add_argument`.
        group: What the flag is about, `None` for a flag without a group.
        is_file_only: Whether only the file of `--config` can set it.
    """

    name: str
    arguments: dict[str, Any]
    group: str | None = None
    is_file_only: bool = False


def settings_flags(config_class: type, group: str | None = None) -> list[Flag]:
    """Returns a flag for each field of a dataclass that `option` made.

    Args:
        config_class: The dataclass.
        group: Group of fields without a group of their own.
    """
    types = types_of(config_class)
    flags = []
    for name, told in described(config_class).items():
        default = getattr(config_class, name)
        shown = "" if default in (None, False, ()) else " [%(default)s]"
        arguments = {"help": told["help"] + shown, "default": default}
        if told.get("is_repeatable"):
            arguments |= {"action": _Repeatable, "metavar": "FILE", "default": list(default)}
        else:
            arguments |= _of_type(types[name])
        is_file_only = told.get("is_file_only", False)
        flags.append(Flag(name, arguments, told.get("group", group), is_file_only))
    return flags


def _of_type(kind: Any) -> dict[str, Any]:
    """Returns the arguments of `add_argument` that read values of a type."""
    if kind in (bool, bool | None):
        return {"action": jsonargparse.ActionYesNo(no_prefix="no-")}
    if get_origin(kind) is tuple:
        return {"type": tuple_of(get_args(kind)[0]), "metavar": "A,B,..."}
    # `None` is accepted for a flag whose default it is, and left out of error messages.
    arguments: dict[str, Any] = {"type": without_none(kind)}
    choices = choices_of(kind)
    if choices:
        listed = ",".join(str(choice) for choice in choices)
        arguments["metavar"] = f"{{{listed}}}"
    return arguments


def switch(name: str, text: str, group: str | None = None) -> Flag:
    """Returns a flag without a value."""
    return Flag(name, {"action": "store_true", "help": text}, group)


#: The flag that suppresses progress.
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
        first: Names of the flags that come first.
        show_all: Whether the help shows the other flags, too.
    """
    for flag in flags:
        if flag.is_file_only:
            _add_file_only(parser, flag)
    flags = [flag for flag in flags if not flag.is_file_only]
    by_name = {flag.name: flag for flag in flags}
    for name in first:
        if name in by_name:
            parser.add_argument(flag_of(name), **by_name[name].arguments)
    # Groups of settings come before groups that only this command has.
    titles = dict.fromkeys([*get_args(Group), *(flag.group for flag in flags)])
    for title in titles:
        others = [flag for flag in flags if flag.group == title and flag.name not in first]
        # An empty group would show its title.
        group = parser.add_argument_group(title) if title and others else parser
        for flag in others:
            arguments = dict(flag.arguments)
            if not show_all:
                arguments["help"] = argparse.SUPPRESS
            group.add_argument(flag_of(flag.name), **arguments)


def _add_file_only(parser: SettingsParser, flag: Flag) -> None:
    """Adds a setting that the file of `--config` can have, and no flag."""
    # jsonargparse reads and prints only settings that belong to an action.
    action = parser.add_argument(flag_of(flag.name), **flag.arguments)
    for option_string in action.option_strings:
        del parser._option_string_actions[option_string]
    # Not in the help; with argparse.SUPPRESS, --print_config would leave it out, too.
    parser._optionals._group_actions.remove(action)


class _Repeatable(argparse.Action):
    """A flag that can be given several times; its first use replaces the value of a file."""

    is_given = False

    def __call__(
        self, parser: Any, namespace: Any, values: Any, option_string: str | None = None
    ) -> None:
        # Before the first use, the namespace has the default or the value of a file.
        before = getattr(namespace, self.dest) if self.is_given else []
        self.is_given = True
        setattr(namespace, self.dest, [*before, values])
