"""What `--help` prints: flags with their defaults, in groups, and for many flags a short form."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Collection, Sequence
from types import SimpleNamespace
from typing import Any

import jsonargparse


class FlagHelpFormatter(jsonargparse.DefaultHelpFormatter):
    """Prints flags with their defaults in brackets, and never breaks one at its hyphens."""

    def _get_help_string(self, action: argparse.Action) -> str:
        text, default = action.help or "", action.default
        is_shown = action.option_strings and not text.endswith("]") and "%(default)" not in text
        if not is_shown or default is False or default in (None, [], argparse.SUPPRESS):
            return text
        if default is True:
            shown = "yes"
        else:
            shown = ",".join(default) if isinstance(default, list) else str(default)
        return f"{text} [{shown.replace('%', '%%')}]"

    def _format_action_invocation(self, action: argparse.Action) -> str:
        # A list has a second form, `--data+`, which is for files of settings.
        options = action.option_strings
        action.option_strings = [option for option in options if not option.endswith("+")]
        try:
            return super()._format_action_invocation(action)
        finally:
            action.option_strings = options

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(_wrapped(text, width, indent))

    def _split_lines(self, text: str, width: int) -> list[str]:
        return _wrapped(text, width)


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(
        " ".join(text.split()), width, initial_indent=indent, subsequent_indent=indent,
        break_on_hyphens=False,
    )  # fmt: skip


class HelpAllAction(argparse._HelpAction):
    """Prints the help of all flags, and exits."""

    def __call__(self, parser: Any, *values: Any) -> None:
        """Prints the help of `FlagParser.format_help`."""
        parser._print_message(parser.format_help(), sys.stdout)
        parser.exit()


def short_groups(
    groups: Sequence[Any], common: Collection[str], open_groups: Collection[str]
) -> list[Any]:
    """Returns what a short help shows in place of the groups of a parser.

    Args:
        groups: The groups.
        common: Names of the flags that are explained, in a group of their own.
        open_groups: Titles of the groups whose flags are explained too.

    Returns:
        Groups, of which those of the other flags have only their names.
    """
    shown = [(group.title, _visible(group)) for group in groups]
    first = [action for _, actions in shown for action in actions if action.dest in common]
    result = [_group("the flags most runs need", first)]
    for title, actions in shown:
        rest = [action for action in actions if action not in first]
        if rest and title in open_groups:
            result.append(_group(title, rest))
    for title, actions in shown:
        rest = [action for action in actions if action not in first]
        if rest and title not in open_groups:
            names = "  ".join(_name(action) for action in rest)
            result.append(_group(f"more: {title}", [], names))
    return result


def _group(title: str, actions: list[argparse.Action], description: str | None = None) -> Any:
    return SimpleNamespace(title=title, description=description, _group_actions=actions)


def _visible(group: Any) -> list[argparse.Action]:
    return [action for action in group._group_actions if action.help is not argparse.SUPPRESS]


def _name(action: argparse.Action) -> str:
    """Returns the long form of a flag, and not the one with `no-`."""
    return next(name for name in action.option_strings if name.startswith("--"))
