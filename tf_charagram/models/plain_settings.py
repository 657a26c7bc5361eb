"""Checks the settings of layers from a file: plain values of the right types, no code."""

from __future__ import annotations

import inspect
import math
import types
from collections.abc import Iterable, Sequence
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

_MAX_INT = 2**31 - 1
_DTYPES = ("float32", "string", "float16", "bfloat16", "float64", "mixed_bfloat16", "mixed_float16")
_LISTS = (list, tuple, Sequence, Iterable)


def plain_settings(layer_class: type, settings: Any, longest: int | None = None) -> dict[str, Any]:
    """Checks the settings of a layer; returns them with the dtype as a name.

    Args:
        layer_class: The class of the layer; annotations of its constructor give the types.
        settings: Value from a JSON file.
        longest: Maximum number of elements of a list; `None` for no limit.

    Raises:
        ValueError: A value is not a number, a string or a list of them, or is of another type than
            the argument.
    """
    if not isinstance(settings, dict):
        raise ValueError(f"the settings of the {layer_class.__name__} are not an object")
    kinds = _kinds(layer_class)
    for name, value in settings.items():
        is_plain = name == "dtype" or _is_plain(value)
        if not is_plain or not _fits(value, kinds.get(name, Any)):
            raise ValueError(
                f"`{name}` of the {layer_class.__name__} has a value of the wrong type: "
                f"{value!r:.100}"
            )
        if longest is not None and isinstance(value, list) and len(value) > longest:
            raise ValueError(f"`{name}` of the {layer_class.__name__} has {len(value):,} elements")
    if "dtype" not in settings:
        return dict(settings)
    return {**settings, "dtype": _dtype(settings["dtype"])}


def _dtype(value: Any) -> str | None:
    """Returns the name of a dtype, which Keras may write as an object."""
    if isinstance(value, dict) and value.get("class_name") == "DTypePolicy":
        config = value.get("config")
        value = config.get("name") if isinstance(config, dict) else None
    if value is not None and value not in _DTYPES:
        raise ValueError(f"`dtype` must be one of {', '.join(_DTYPES)}. Received: {value!r:.100}")
    return value


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(_is_plain(part) and not isinstance(part, list) for part in value)
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return abs(value) <= _MAX_INT
    return value is None or isinstance(value, str)


def _kinds(layer_class: type) -> dict[str, Any]:
    """Returns argument -> type of the constructors of a class and its bases."""
    kinds: dict[str, Any] = {"name": str, "trainable": bool}
    for base in reversed(layer_class.__mro__):
        if base.__module__.startswith("tf_charagram.") and "__init__" in vars(base):
            hints = get_type_hints(base.__init__)  # type: ignore[misc]
            parameters = inspect.signature(base.__init__).parameters  # type: ignore[misc]
            kinds |= {name: hints.get(name, Any) for name in parameters}
    return kinds


def _fits(value: Any, kind: Any) -> bool:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return any(_fits(value, part) for part in get_args(kind))
    if origin is Literal:
        return any(type(value) is type(part) and value == part for part in get_args(kind))
    if origin in _LISTS:
        return isinstance(value, list) and all(_fits(part, get_args(kind)[0]) for part in value)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind in (int, str, bool, types.NoneType):
        return type(value) is kind
    return True
