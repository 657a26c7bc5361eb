"""Command lines made from dataclasses, with suggestions for wrong flags."""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import io
import json
import os
import re
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar, get_args, get_origin, get_type_hints

import jsonargparse
import yaml

from tf_charagram.config import RunConfig
from tf_charagram.config.run import settings_without_use, typed
from tf_charagram.encoders import ENCODERS
from tf_charagram.encoders.options import Option, options_of
from tf_charagram.errors import CharagramError
from tf_charagram.training.tasks import settings_class

T = TypeVar("T")

#: Fields whose flag may be given several times, if they are tuples.
REPEATABLE = ("data", "eval_data")


class FlagParser(jsonargparse.ArgumentParser):
    """An argument parser that suggests the flag that was meant."""

    def error(self, message: str, ex: Exception | None = None) -> NoReturn:
        """Prints the problem and how to get help, and exits with status 2."""
        unknown = re.search(r"[Uu]nrecognized arguments?: (--[\w-]+)", message)
        if unknown:
            flags = [flag for action in self._actions for flag in action.option_strings]
            close = difflib.get_close_matches(unknown.group(1), flags, n=1)
            hint = f" Did you mean {close[0]}?" if close else ""
            message = f"unknown flag {unknown.group(1)}.{hint}"
        message = " ".join(message.split())
        sys.stderr.write(f"{self.prog}: error: {message}\nSee {self.prog} --help\n")
        raise SystemExit(2)


def add_run_flags(
    parser: jsonargparse.ArgumentParser, task: str, encoder: str, *, skip: Collection[str] = ()
) -> None:
    """Adds the flags of a training run: the settings of the task, and the options of the encoder.

    What the encoder has no use for is parsed but not shown, so that the error can say so.

    Args:
        parser: Gets the flags.
        task: Name of the task.
        encoder: Name of the encoder.
        skip: Settings without a flag.

    Raises:
        ConfigError: There is no task or no encoder of that name.
    """
    settings = settings_class(task)
    add_fields(parser, settings, skip=skip, hidden=settings_without_use(encoder))
    parser.set_defaults(task=task, encoder=encoder)
    own = options_of(encoder)
    # A task may have other defaults than the encoder.
    defaults = settings(task=task, encoder=encoder).encoder_options
    group = parser.add_argument_group(f"options of the encoder {encoder}")
    for name, option in own.items():
        _add_option(group, dataclasses.replace(option, default=defaults[name]))
    others = {name: option for other in ENCODERS for name, option in options_of(other).items()}
    for name in others.keys() - own:
        _add_option(parser, others[name], is_hidden=True)


def add_fields(
    parser: jsonargparse.ArgumentParser,
    config_class: type,
    *,
    skip: Collection[str] = (),
    hidden: Collection[str] = (),
) -> None:
    """Adds one flag for each field of a dataclass that has a help text, with default and type.

    Args:
        parser: Gets the flags.
        config_class: The dataclass.
        skip: Fields without a flag.
        hidden: Fields whose flags `--help` does not show.
    """
    types = get_type_hints(config_class)
    lists = repeatable_flags(config_class)
    for field in dataclasses.fields(config_class):
        if field.name in skip or "help" not in field.metadata:
            continue
        kind: Any = types[field.name]
        default: Any = field.default
        if _flag(field.name) in lists:
            kind, default = list[str], []
        elif get_origin(kind) is tuple:
            kind, default = _list_type(kind), ",".join(map(str, default)) or None
        shown = argparse.SUPPRESS if field.name in hidden else field.metadata["help"]
        _add_flag(parser, field.name, kind, default=default, help=shown)


def _add_option(parser: Any, option: Option, *, is_hidden: bool = False) -> None:
    """Adds the flag of an option; without it there is no value, so that a model may give one.

    Whether a value is one of the choices is for the encoder to say, which suggests another.
    """
    kind, default = option.type, option.default
    arguments: dict[str, Any] = {}
    if isinstance(default, tuple):
        kind, default = _list_type(kind), ",".join(map(str, default))
    elif kind is not bool and option.choices:
        kind = type(option.choices[0]) | None
        arguments["metavar"] = f"{{{','.join(map(str, option.choices))}}}"
    elif kind is not bool:
        kind = kind | None
    if is_hidden:
        arguments |= {"default": argparse.SUPPRESS, "help": argparse.SUPPRESS}
    else:
        shown = option.help if default is None else f"{option.help} [{default}]"
        arguments |= {"default": None, "help": shown}
    _add_flag(parser, option.name, kind, **arguments)


def _add_flag(parser: Any, name: str, kind: Any, **arguments: Any) -> None:
    """Adds a flag; one that says yes or no has two forms."""
    if kind is bool:
        arguments["action"] = jsonargparse.ActionYesNo(no_prefix="no-")
    else:
        arguments["type"] = kind
    parser.add_argument(_flag(name), **arguments)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _list_type(kind: Any) -> Callable[..., str]:
    """Returns what checks a comma-separated list whose elements are of the type of a setting."""
    checks: dict[type, Callable[..., str]] = {str: str, int: _integers, float: _floats}
    return checks[get_args(kind)[0]]


def _integers(text: str) -> str:
    """Checks a comma-separated list of integers, such as `2,3,4`."""
    return _numbers(text, int)


def _floats(text: str) -> str:
    """Checks a comma-separated list of numbers, such as `1,0.5`."""
    return _numbers(text, float)


def _numbers(text: str, kind: type[int] | type[float]) -> str:
    text = ",".join(map(str, text)) if isinstance(text, list | tuple) else str(text)
    for part in text.split(","):
        kind(part)
    return text


def from_flags(config_class: type[T], values: dict[str, Any]) -> T:
    """Returns the dataclass for parsed values; those of other flags are left out."""
    types = get_type_hints(config_class)
    fields: Any = dataclasses.fields(config_class)  # type: ignore[arg-type]
    names = [field.name for field in fields if field.name in values]
    return config_class(**{name: typed(values[name], types[name]) for name in names})


def repeatable_flags(config_class: type) -> list[str]:
    """Returns the flags of a dataclass that may be given several times."""
    types = get_type_hints(config_class)
    names = [name for name in REPEATABLE if getattr(types.get(name), "__origin__", None) is tuple]
    return [_flag(name) for name in names]


def repeatable(arguments: Sequence[str], flags: Sequence[str]) -> list[str]:
    """Makes a list of all uses of a flag; the first takes the place of what a file says."""
    result: list[str] = []
    values = iter(arguments)
    seen: set[str] = set()
    for argument in values:
        name, equals, value = argument.partition("=")
        if name not in flags:
            result.append(argument)
            continue
        if not equals:
            value = next(values, "")
        result.append(f"{name}+={value}" if name in seen else f"{name}={json.dumps([value])}")
        seen.add(name)
    return result


def value_of(arguments: Sequence[str], name: str, file_flag: str = "--config") -> str | None:
    """Returns the value of a flag before all are parsed: the last given, else that of the file."""
    found: dict[str, str | None] = {f"--{name}": None, file_flag: None}
    values = iter(arguments)
    for argument in values:
        flag, equals, text = argument.partition("=")
        if flag in found:
            found[flag] = text if equals else next(values, None)
    value, path = found.values()
    if value is not None or path is None:
        return value
    try:
        settings = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return None  # The parser will say what is wrong.
    return settings.get(name) if isinstance(settings, dict) else None


def encoder_of(arguments: Sequence[str]) -> str:
    """Returns the encoder of a run before all is parsed: that of the flag, or of --init's model."""
    encoder, init = value_of(arguments, "encoder"), value_of(arguments, "init")
    if encoder is None and init is not None:
        encoder = _saved_encoder(Path(init))
    return encoder or RunConfig.encoder


def _saved_encoder(path: Path) -> str | None:
    """Returns the encoder of a model, given its folder or its run's; needs no TensorFlow.

    Whatever is wrong with the folder is for the run to say.
    """
    for folder in (path / "model", path):
        try:
            config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
            return str(config["encoder"]["name"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return None


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


def run_command(command: Callable[[Sequence[str]], int], arguments: Sequence[str] | None) -> int:
    """Runs a command; an error the package raises becomes one line and exit status 1 or 2."""
    # TensorFlow greets every process with lines on CPUs and GPUs that help nobody here.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    for stream in (sys.stdin, sys.stdout):
        # Broken UTF-8, in what is piped in or in an argument, must not end a command.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        status = command(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        return status
    except CharagramError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        return 130
    except BrokenPipeError:
        # The reader of our output, `head` say, has enough; Python would complain on exit.
        sys.stdout = None
        return 0
