"""Fields of settings with their help text, from which the command line makes flags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, fields, is_dataclass
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from tf_charagram.errors import ConfigError

#: What settings are about, in the order of `--help-all`.
Group = Literal[
    "search", "data", "model", "text", "word vectors", "objective", "optimization", "run"
]


def option(
    default: Any,
    text: str,
    group: Group | None = None,
    *,
    is_repeatable: bool = False,
    is_file_only: bool = False,
) -> Any:
    """Returns a field of settings.

    Args:
        default: Default of the setting.
        text: Help text of the flag.
        group: Group of the flag in `--help-all`. Default: that of the base class's field.
        is_repeatable: Whether the flag can be given several times, each with one element of the
            tuple. The flags of other tuples take comma-separated lists.
        is_file_only: Whether the setting has no flag; the file of `--config` can set it.
    """
    told = {
        "help": text,
        "group": group,
        "is_repeatable": is_repeatable,
        "is_file_only": is_file_only,
    }
    return field(default=default, metadata={name: value for name, value in told.items() if value})


def described(config_class: type) -> dict[str, dict[str, Any]]:
    """Returns the metadata of the fields made by `option`, by name.

    A field that overrides one of a base class keeps the metadata it does not set itself.
    """
    told: dict[str, dict[str, Any]] = {}
    for base in reversed(config_class.__mro__):
        for declared in fields(base) if is_dataclass(base) else ():
            if "help" in declared.metadata:
                told[declared.name] = {**told.get(declared.name, {}), **declared.metadata}
    return told


def file_only(config_class: type) -> list[str]:
    """Returns the names of the settings without a flag."""
    return [name for name, told in described(config_class).items() if told.get("is_file_only")]


def types_of(config_class: Any) -> Mapping[str, Any]:
    """Returns the resolved types of the fields of a dataclass, by name."""
    hints = _hints(config_class)
    return {declared.name: hints[declared.name] for declared in fields(config_class)}


_hints = cache(get_type_hints)


def choices_of(kind: Any) -> tuple[Any, ...]:
    """Returns the values that a type allows; empty for numbers and texts.

    Examples:
        >>> choices_of(Literal["tanh", "relu"] | None), choices_of(bool), choices_of(int)
        (('tanh', 'relu'), (True, False), ())
    """
    if kind is bool:
        return (True, False)
    kind = without_none(kind)
    return get_args(kind) if get_origin(kind) is Literal else ()


def without_none(kind: Any) -> Any:
    """Returns the type of which a type is the optional one."""
    kinds = get_args(kind)
    if type(None) not in kinds:
        return kind
    return next(part for part in kinds if part is not type(None))


def typed(name: str, value: Any, kind: Any) -> Any:
    """Returns a value from JSON, YAML or a flag as a setting holds it: lists become tuples.

    Raises:
        ConfigError: A list has elements of another type, or is not a list.
    """
    if get_origin(kind) not in (tuple, Sequence):
        return value
    parts = [part for part in value.split(",") if part] if isinstance(value, str) else value or ()
    try:
        return tuple(map(get_args(kind)[0], parts))
    except (TypeError, ValueError):
        raise ConfigError(
            f"`{name}` must be a list of {get_args(kind)[0].__name__}. Received: {name}={value!r}"
        ) from None
