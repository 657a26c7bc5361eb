"""Parsers of command lines with few flags."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NoReturn

from tf_charagram.errors import ConfigError

#: Help text of the argument that names a model.
MODEL_HELP = "run folder, model folder, or a name that charagram models lists"


class WithHints(argparse.ArgumentParser):
    """An argument parser with short errors, which suggest the flag that was meant.

    Attributes:
        hints: Hints about unknown flags, by flag.
    """

    hints: Mapping[str, str] = MappingProxyType({})

    def error(self, message: str, ex: Exception | None = None) -> NoReturn:
        """Prints the problem and how to get help, and exits with status 2."""
        words = message.split()
        if words[:2] == ["unrecognized", "arguments:"]:
            words.append("(a list has commas, and a text with spaces is in quotes)")
        sys.stderr.write(f"{self.prog}: error: {' '.join(words)}\n")
        sys.stderr.write(f"See {self.prog} --help\n")
        raise SystemExit(2)

    def check_flags(self, arguments: Sequence[str]) -> None:
        """Exits with an error for a flag that does not exist, or a list that is given twice."""
        known = list(self._option_string_actions)
        seen = set()
        # argparse would call it an unrecognized argument, without a hint.
        for argument in arguments:
            flag = argument.partition("=")[0]
            # After this, all arguments are texts.
            if flag == "--":
                return
            if flag.startswith("--") and flag not in known:
                close = difflib.get_close_matches(flag, known, n=1)
                hint = f"Did you mean {close[0]}?" if close else ""
                self.error(f"unknown flag {flag}. {self.hints.get(flag, hint)}")
            # Of a single value, the last one counts, as usual.
            if flag in seen:
                self.error(f"{flag} is given twice. Give it once, with commas between its values.")
            if flag in known and self._is_list(flag):
                seen.add(flag)

    def _is_list(self, flag: str) -> bool:
        """Tells whether a flag takes several values, which its help shows as `A,B,...`."""
        metavar = self._option_string_actions[flag].metavar
        return isinstance(metavar, str) and "," in metavar


class Parser(WithHints):
    """The parser of a command with few flags, which can stand before and after other arguments."""

    def __init__(self, **kwargs: Any) -> None:
        # A new flag must not make an abbreviation ambiguous.
        super().__init__(allow_abbrev=False, **kwargs)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parses the arguments."""
        args = sys.argv[1:] if args is None else args
        self.check_flags(args)
        return self.parse_intermixed_args(args, namespace)

    def given(self, values: Any) -> set[str]:
        """Returns the names of the arguments whose values are not their defaults."""
        return {name for name, value in vars(values).items() if value != self.get_default(name)}

    def refuse(self, values: Any, names: Iterable[str], rule: str) -> None:
        """Checks that no flag is given that would have no effect.

        Args:
            values: The parsed arguments.
            names: Names of the flags without an effect.
            rule: Follows the flag in the error, such as `is for tables`.

        Raises:
            ConfigError: One of the flags has another value than its default.
        """
        given = self.given(values)
        for name in names:
            if name in given:
                raise ConfigError(f"{flag_of(name)} {rule}. Leave it out.")


def tuple_of(kind: type) -> Callable[[Any], Any]:
    """Returns the type of a flag with a comma-separated list, such as `2,3,4`."""

    def comma_separated(value: Any) -> Any:
        # A file of settings has a list already.
        parts = value.split(",") if isinstance(value, str) else value
        return tuple(kind(part) for part in parts if part)

    comma_separated.__name__ = f"comma-separated {kind.__name__}"
    return comma_separated


def flag_of(name: str) -> str:
    """Returns the flag of a setting."""
    return "--" + name.replace("_", "-")
