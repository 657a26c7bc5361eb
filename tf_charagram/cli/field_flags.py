"""Flags made from the fields of dataclasses, and dataclasses from the values of flags."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Collection
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from tf_charagram.cli.flags import REPEATABLE, TYPES, FlagParser, add_flag, flag_of
from tf_charagram.settings import Group, described, typed

T = TypeVar("T")


def add_fields(
    parser: FlagParser,
    config_class: type,
    *,
    skip: Collection[str] = (),
    hidden: Collection[str] = (),
) -> None:
    """Adds one flag for each field of a dataclass that has a help text, with default and type.

    Args:
        parser: Gets the flags, in groups.
        config_class: The dataclass.
        skip: Fields without a flag.
        hidden: Fields whose flags `--help` does not show.
    """
    types = get_type_hints(config_class)
    lists = repeatable_flags(config_class)
    told = described(config_class)
    declared = {field.name: field for field in dataclasses.fields(config_class)}
    order = (None, *get_args(Group))
    for name in sorted(told, key=lambda name: order.index(told[name].get("group"))):
        if name in skip:
            continue
        kind: Any = types[name]
        default: Any = declared[name].default
        arguments: dict[str, Any] = {}
        if flag_of(name) in lists:
            kind, default, arguments = list[str], [], {"metavar": "FILE"}
        elif get_origin(kind) is tuple:
            kind, default = list_type(kind), ",".join(map(str, default)) or None
        shown = argparse.SUPPRESS if name in hidden else told[name]["help"]
        title = told[name].get("group")
        add_flag(
            parser.group(title) if title else parser,
            name,
            kind,
            default=default,
            help=shown,
            **arguments,
        )
        parser.choices[name] = told[name].get("choices", ())
        if told[name].get("is_common"):
            parser.common.append(name)


def list_type(kind: Any) -> Callable[..., str]:
    """Returns what checks a comma-separated list whose elements are of the type of a setting."""
    checks: dict[type, Callable[..., str]] = {str: _joined, int: _integers, float: _floats}
    return checks[get_args(kind)[0]]


def _joined(values: Any) -> str:
    """Returns a comma-separated list, which files of settings may have as a list."""
    return ",".join(map(str, values)) if isinstance(values, list | tuple) else str(values)


def _integers(text: str) -> str:
    """Checks a comma-separated list of integers, such as `2,3,4`."""
    return _numbers(text, int)


def _floats(text: str) -> str:
    """Checks a comma-separated list of numbers, such as `1,0.5`."""
    return _numbers(text, float)


def _numbers(text: str, kind: type[int] | type[float]) -> str:
    text = _joined(text)
    try:
        for part in text.split(","):
            kind(part)
    except ValueError:
        named = f"must be {TYPES[kind.__name__]}, or several with commas between them"
        raise argparse.ArgumentTypeError(f"{named}. Received: {text}") from None
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
    return [flag_of(name) for name in names]
