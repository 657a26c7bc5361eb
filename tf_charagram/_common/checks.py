"""Checks of settings; all raise a `ConfigError`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, get_args

from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.settings import choices_of, types_of

# A run stops at weights of 1e15: the squared gradient of their penalty is still a finite float32.
MAX_PENALTY = 1e3
# Smallest normal float32, and the largest one.
_MIN_NORM, _MAX_NORM = 2.0**-126, (2.0 - 2.0**-23) * 2.0**127


def check_values(config: Any) -> None:
    """Checks that only optional settings are `None`, and that literal types have their values.

    Raises:
        ConfigError: A value is missing or unknown.
    """
    for name, kind in types_of(type(config)).items():
        value = getattr(config, name)
        if value is None:
            if type(None) not in (kind, *get_args(kind)):
                raise ConfigError(f"`{name}` must have a value. Received: {name}=None")
            continue
        choices = choices_of(kind)
        if choices and not any(value == c and isinstance(value, type(c)) for c in choices):
            if isinstance(choices[0], str):
                raise ConfigError(unknown_name(name, value, choices))
            named = " or ".join(map(str, choices))
            raise ConfigError(f"`{name}` must be {named}. Received: {name}={value!r}")


def changed(config: Any, names: Iterable[str]) -> list[str]:
    """Returns the names of the settings that differ from their defaults."""
    return [name for name in names if getattr(config, name) != getattr(type(config), name)]


def check_at_least(config: Any, least: Mapping[str, float], hint: str = "") -> None:
    """Checks minimum values of settings; raises a `ConfigError`."""
    for name, number in least.items():
        value = getattr(config, name)
        if value is not None and not value >= number:
            raise ConfigError(
                f"`{name}` must be at least {number:g}{hint}. Received: {name}={value}"
            )


def check_penalty(name: str, strength: float) -> None:
    """Checks that an L2 penalty is in [0, 1000], so that weights stay finite."""
    if not 0.0 <= strength <= MAX_PENALTY:
        raise ConfigError(f"`{name}` must be in [0, {MAX_PENALTY:g}]. Received: {name}={strength}")


def check_clip_norm(clip_norm: float | None) -> None:
    """Checks that a maximum gradient norm is `None` or a positive float32."""
    if clip_norm is not None and not _MIN_NORM <= clip_norm <= _MAX_NORM:
        raise ConfigError(
            "`clip_norm` must be above 0 and finite in float32, or None. "
            f"Received: clip_norm={clip_norm}"
        )


def check_weights(name: str, weights: Sequence[float], flag: str, files: Sequence[str]) -> None:
    """Checks that there are no weights of files, or a positive one for each of `files`."""
    for weight in weights:
        if not 0.0 < weight < math.inf:
            raise ConfigError(f"`{name}` must be above 0 and finite. Received: {weight}")
    if weights and len(weights) != len(files):
        raise ConfigError(
            f"`{name}` must have one number for each {flag}. Received: "
            f"{len(weights)} weights for {len(files)} {flag}."
        )


def check_margin(margin: float) -> None:
    """Checks that a margin is a difference of two cosines."""
    if not isinstance(margin, Real) or not 0.0 <= margin <= 2.0:
        raise ConfigError(f"`margin` must be in [0, 2]. Received: margin={margin}")


def check_labels(labels: Iterable[str], min_labels: int = 2) -> tuple[str, ...]:
    """Checks the labels of a head; returns them as a tuple.

    Raises:
        ConfigError: They are a single string, too few, one is not a string, or one occurs twice.
    """
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise ConfigError(f"`labels` must be a list of strings. Received: {labels!r}")
    labels = tuple(labels)
    if len(labels) < min_labels or len(set(labels)) < len(labels):
        raise ConfigError(
            f"`labels` must be at least {min_labels}, all different. Received: {list(labels)}"
        )
    if not all(isinstance(label, str) for label in labels):
        raise ConfigError(f"`labels` must be strings. Received: {list(labels)}")
    return labels
