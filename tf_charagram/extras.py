"""Modules that only an extra of the package installs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tf_charagram.errors import ConfigError


def extra_module(name: str, extra: str) -> Any:
    """Imports a module.

    Args:
        name: In full, such as `pyarrow.parquet`.
        extra: The extra of this package that installs it.

    Raises:
        ConfigError: It is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise ConfigError(
            f"{name} cannot be imported ({error}): pip install 'tf-charagram[{extra}]'."
        ) from error
