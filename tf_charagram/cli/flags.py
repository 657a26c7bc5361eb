"""Command lines that say what is wrong with a flag, and suggest the one that was meant."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Collection, Sequence
from typing import Any, NoReturn

import jsonargparse
import yaml

from tf_charagram.cli.arguments import flags_last
from tf_charagram.cli.help import FlagHelpFormatter, HelpAllAction, short_groups
from tf_charagram.errors import ConfigError

#: What every command says of the model it is given.
MODEL_HELP = "run folder, model folder, or a name that charagram models lists"
#: Fields whose flag may be given several times if they are tuples; twice is an error if not.
REPEATABLE = (
    "data", "eval_data", "teacher", "second_teacher", "pairs", "input", "dictionary",
)  # fmt: skip

# Flags that files without one were meant for, where a command has them: the first of these.
_OF_FILES = {
    "--input": "Name each file with --input, or a pattern in quotes.",
    "--data": "Name each file with --data.",
}
#: What a value of a type is called.
TYPES = {
    "int": "a whole number", "float": "a finite number", "bool": "yes or no", "str": "a text",
    "list": "a list",
}  # fmt: skip
# What jsonargparse says of a value that is not of the type of its flag, or of one of its types.
_WRONG_TYPE = re.compile(
    r'key "(\w+)":.*?Expected a <class .(int|float|bool|str|list).>.*(?:Got|Given) value: (.*)',
    re.DOTALL,
)
# What it says of arguments that are not there.
_MISSING = re.compile(r"are required: (\w+(?:, \w+)*)$")


def _load(text: str) -> Any:
    """Returns the value of a flag; what is nothing but a comment to YAML, such as `#c`, is text."""
    value = jsonargparse.get_loader("yaml")(text)
    is_nothing = "\n" in text or text.strip().lower() in ("", "~", "null")
    return text if value is None and not is_nothing else value


_MODE = "flags"
jsonargparse.set_loader(_MODE, _load, (yaml.YAMLError,))


class FlagParser(jsonargparse.ArgumentParser):
    """An argument parser that suggests the flag that was meant.

    Args:
        common: Names of the flags that `--help` explains where there are many; it names the others,
            and `--help-all` explains all. Empty: there are few, and no `--help-all`.
        **kwargs: As for `jsonargparse.ArgumentParser`.

    Attributes:
        common: The same, to which those of settings are added.
        open_groups: Titles of groups whose flags `--help` explains all.
        choices: The values that flags may have, by name, for shell completion.
    """

    def __init__(self, *args: Any, common: Sequence[str] = (), **kwargs: Any) -> None:
        # Part of a name is not enough: some flags are looked at before all are parsed.
        own = {"allow_abbrev": False, "formatter_class": FlagHelpFormatter, "parser_mode": _MODE}
        kwargs = {**own, **kwargs}
        super().__init__(*args, **kwargs)
        self.common = list(common)
        self.open_groups: list[str] = []
        self.choices: dict[str, Collection[str]] = {}
        self._titled: dict[str, Any] = {}
        if common:
            self.usage = "%(prog)s [FLAGS]"
            self._optionals.title = "help and files of settings"
            self.add_argument("--help-all", action=HelpAllAction, help="explain all flags and exit")

    def group(self, title: str) -> Any:
        """Returns the group of a title, to which flags can be added."""
        if title not in self._titled:
            self._titled[title] = self.add_argument_group(title)
        return self._titled[title]

    def print_help(self, *args: Any) -> None:
        """Prints the help, in short if there are many flags."""
        groups = self._action_groups
        if self.common:
            self._action_groups = short_groups(groups, self.common, self.open_groups)
        try:
            super().print_help(*args)
        finally:
            self._action_groups = groups

    def given(self, arguments: Sequence[str]) -> set[str]:
        """Returns the names of what arguments and files of settings say, without defaults."""
        return set(self.parse_args(arguments, defaults=False).as_dict())

    def parse_args(self, *args: Any, **kwargs: Any) -> Any:
        """Parses; what a file of settings has wrong is said as of a flag."""
        if args and args[0] is not None:
            self._check_repeated(args[0])
            args = (flags_last(args[0], self._actions), *args[1:])
        try:
            return super().parse_args(*args, **kwargs)
        except argparse.ArgumentTypeError as error:
            self.error(str(error), error)

    def _check_repeated(self, arguments: Sequence[str]) -> None:
        """Ends with an error if one of `REPEATABLE` is given twice where it takes one value.

        Where it takes several, `repeatable` has given it another form. Any other flag overrides
        what was given before.
        """
        flags = [argument.partition("=")[0] for argument in arguments]
        for flag in map(flag_of, REPEATABLE):
            if (count := flags.count(flag)) > 1:
                self.error(f"{flag} takes one value here, and is given {count} times.")

    def check_setting(self, name: str, value: Any) -> None:
        """Checks the value that a file has for a flag.

        Args:
            name: Name of a setting, which has a flag.
            value: What the file says.

        Raises:
            ConfigError: It is not of the type of the flag.
        """
        action = self._option_string_actions[flag_of(name)]
        if isinstance(action, argparse._StoreTrueAction) and not isinstance(value, bool):
            raise ConfigError(f"`{name}` must be {TYPES['bool']}. Received: {value}")
        exits, self.exit_on_error = self.exit_on_error, False
        try:
            self.parse_object({name: value}, defaults=False)
        except (ConfigError, argparse.ArgumentTypeError) as error:
            problem = str(error).removeprefix(f"{flag_of(name)} ")
            raise ConfigError(f"`{name}` {problem}") from error
        finally:
            self.exit_on_error = exits

    def error(self, message: str, ex: Exception | None = None) -> NoReturn:
        """Prints the problem and how to get help, and exits with status 2.

        Raises:
            ConfigError: In place of that, if `exit_on_error` is false.
        """
        message = self._in_words(message)
        if not self.exit_on_error:
            raise ConfigError(message) from ex
        sys.stderr.write(f"{self.prog}: error: {message}\nSee {self.prog} --help\n")
        raise SystemExit(2)

    def _in_words(self, message: str) -> str:
        """Returns in one line, and by the names of flags, what jsonargparse says is wrong."""
        unknown = re.search(r"[Uu]nrecognized arguments?: (--[\w-]+)", message)
        if unknown:
            flags = [flag for action in self._actions for flag in action.option_strings]
            close = difflib.get_close_matches(unknown.group(1), flags, n=1)
            hint = f" Did you mean {close[0]}?" if close else ""
            message = f"unknown flag {unknown.group(1)}.{hint}"
        stray = re.search(r"[Uu]nrecognized arguments?: ([^-]\S*)", message)
        if stray:
            known = [flag for flag in _OF_FILES if flag in self._option_string_actions]
            hint = f" {_OF_FILES[known[0]]}" if known else ""
            message = f"unexpected argument {stray[1]}.{hint}"
        wrong = _WRONG_TYPE.search(message)
        if wrong:
            name, kind, value = wrong.groups()
            message = f"{flag_of(name)} must be {TYPES[kind]}. Received: {value}"
        missing = _MISSING.search(message)
        if missing:
            positional = {action.dest for action in self._actions if not action.option_strings}
            names = missing.group(1).split(", ")
            named = [name if name in positional else flag_of(name) for name in names]
            message = f"the following arguments are required: {', '.join(named)}"
        return " ".join(message.split())


def add_flag(parser: Any, name: str, kind: Any, **arguments: Any) -> None:
    """Adds a flag; one that says yes or no has two forms."""
    if kind in (bool, bool | None):
        arguments["action"] = jsonargparse.ActionYesNo(no_prefix="no-")
    else:
        arguments["type"] = kind
    parser.add_argument(flag_of(name), **arguments)


def add_quiet(parser: Any) -> None:
    """Adds the flag that `reporting.progress.quiet` follows."""
    parser.add_argument(
        "--quiet", action="store_true", help="print only warnings, errors and results"
    )


def flag_of(name: str) -> str:
    """Returns the flag of a setting."""
    return "--" + name.replace("_", "-")
