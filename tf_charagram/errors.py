"""The exceptions of the package, and checks and texts that they share."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterable
from numbers import Integral, Real
from pathlib import Path
from typing import Any

# The folder of an installation with `pip install -e`, else the folder of all packages.
_CHECKOUT = Path(__file__).parents[1]
_MAX_NAMES = 25


class CharagramError(Exception):
    """Base of every error this package raises on purpose."""


class ConfigError(CharagramError, ValueError):
    """An argument or a flag has a value that its rule forbids."""


class DataError(CharagramError, ValueError):
    """A file, or a line of it, is not as its reader expects.

    Args:
        path: File the error is in.
        message: Expectation, finding and remedy.
        line: 1-based line number, or `None` when the whole file is meant.
    """

    def __init__(self, path: str | Path, message: str, line: int | None = None) -> None:
        self.path = str(path)
        self.message = message
        self.line = line
        location = self.path if line is None else f"{self.path}:{line}"
        super().__init__(f"{location}: {message}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Returns the arguments, so that it is the same in another process."""
        return type(self), (self.path, self.message, self.line)


class RunError(CharagramError, RuntimeError):
    """A run folder cannot be used as asked: it exists, is missing, or is damaged."""


class TrainingError(CharagramError, RuntimeError):
    """Training cannot continue, for instance because the loss is not finite."""


def install_advice(extra: str = "") -> str:
    """Words the command that installs this package with the requirements of an extra.

    Args:
        extra: Name of the extra. Default: only the requirements without an extra.
    """
    extras = f"[{extra}]" if extra else ""
    if not (_CHECKOUT / "pyproject.toml").is_file():
        return f"pip install {shlex.quote(f'tf-charagram{extras}')}"
    folder = "." if Path.cwd() == _CHECKOUT else _CHECKOUT
    return f"pip install -e {shlex.quote(f'{folder}{extras}')}"


def no_tensorflow() -> str:
    """Words the error of what needs TensorFlow where it is not installed."""
    return (
        "Training, export, serving, and models that do not sum n-grams need TensorFlow: "
        f"`{install_advice()}`. `tf_charagram.TextReader` embeds texts without it."
    )


def unknown_name(kind: str, name: str, available: Iterable[str]) -> str:
    """Returns the error text for an unknown name, with a suggestion.

    Args:
        kind: Kind of the name, such as `"encoder"`.
        name: The unknown name.
        available: All names that exist.

    Examples:
        >>> unknown_name("encoder", "charagrm", ["charagram", "dan"])
        "Unknown encoder 'charagrm'. Did you mean 'charagram'? Available: charagram, dan."
    """
    names = sorted(available)
    name = str(name)  # A file of settings may have a number instead.
    close = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean '{close[0]}'?" if close else ""
    shown = names
    if len(names) > _MAX_NAMES:
        shown = difflib.get_close_matches(name, names, n=_MAX_NAMES, cutoff=0.0)
        shown = [*sorted(shown), f"and {len(names) - len(shown)} more"]
    return f"Unknown {kind} '{name}'.{hint} Available: {', '.join(shown)}."


def check_name(kind: str, name: Any, available: Iterable[str]) -> None:
    """Checks that a name is one of those available; raises a `ConfigError` that lists them."""
    if name not in available:
        raise ConfigError(unknown_name(kind, name, available))


def check_integers(**values: Any) -> None:
    """Checks that arguments are integers or `None`; raises a `ConfigError` that names them."""
    for name, value in values.items():
        if value is not None and (not isinstance(value, Integral) or isinstance(value, bool)):
            raise ConfigError(f"`{name}` must be an integer. Received: {name}={value!r}")


def check_positive(**values: Any) -> None:
    """Checks that arguments are integers of at least 1; raises a `ConfigError` that names them."""
    check_integers(**values)
    for name, value in values.items():
        if value is None:
            raise ConfigError(f"`{name}` must be an integer. Received: {name}=None")
        if value < 1:
            raise ConfigError(f"`{name}` must be at least 1. Received: {name}={value}")


def check_fraction(name: str, value: Any) -> None:
    """Checks that an argument is a number in [0, 1]; raises a `ConfigError` that names it."""
    if not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise ConfigError(f"`{name}` must be in [0, 1]. Received: {value!r}")


def check_switches(**values: Any) -> None:
    """Checks that arguments are booleans; raises a `ConfigError` that names them."""
    for name, value in values.items():
        if not isinstance(value, bool):
            raise ConfigError(f"`{name}` must be True or False. Received: {name}={value!r}")
