"""Fields of settings: what each says of itself, from which flags and their help are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, fields, is_dataclass
from typing import Any, Literal, get_args, get_origin

#: What settings are about, in the order of `--help-all`.
Group = Literal[
    "search", "data", "model", "text", "word vectors", "objective", "optimization", "run"
]


def option(
    default: Any,
    text: str,
    group: Group | None = None,
    *,
    is_common: bool = False,
    choices: Sequence[str] = (),
) -> Any:
    """Returns a field of settings, with what its flag is made of, see `described`.

    Args:
        default: Its default.
        text: What `--help` says of it.
        group: What it is about. Default: as the base class has it.
        is_common: Whether most users need it, so that `--help` explains it and not only names it.
        choices: The values it may have, for shell completion; others are refused elsewhere.
    """
    told = {"help": text, "group": group, "is_common": is_common, "choices": tuple(choices)}
    return field(default=default, metadata={name: value for name, value in told.items() if value})


def described(config_class: type) -> dict[str, dict[str, Any]]:
    """Returns the fields that `option` made: what it was told, by the name of the field.

    A field that a class declares again keeps what only its base says.
    """
    told: dict[str, dict[str, Any]] = {}
    for base in reversed(config_class.__mro__):
        for declared in fields(base) if is_dataclass(base) else ():
            if "help" in declared.metadata:
                told[declared.name] = {**told.get(declared.name, {}), **declared.metadata}
    return told


def typed(value: Any, kind: Any) -> Any:
    """Returns a value of a file or a flag as a setting has it: a tuple for a list.

    Args:
        value: What came; for a list maybe a text, comma-separated.
        kind: The type of the setting.
    """
    if get_origin(kind) not in (tuple, Sequence):
        return value
    parts = filter(None, value.split(",")) if isinstance(value, str) else value or ()
    return tuple(map(get_args(kind)[0], parts))
