"""Files of settings, `--config FILE`: what is in them is checked before a parser sees it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import yaml

from tf_charagram.errors import ConfigError, unknown_name

_MAX_BYTES = 1 << 20
#: Flags of which a file cannot say anything.
_NO_SETTINGS = ("config", "help", "help_all", "print_config")


class _Loader(yaml.SafeLoader):
    """Plain YAML without names given twice, or aliases, a few of which can stand for gigabytes."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            raise ValueError(f"line {mark.line + 1} has an alias, which settings do not need")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        lines: dict[Any, int] = {}
        for key, _ in node.value:
            line = key.start_mark.line + 1
            if (first := lines.setdefault(key.value, line)) != line:
                raise ValueError(f"lines {first} and {line} both say what {key.value!r:.100} is")
        return super().construct_mapping(node, deep)


def read_settings(path: str | Path) -> dict[str, Any]:
    """Returns the settings of a file, YAML or JSON, by name.

    Args:
        path: The file. That it is missing is for the parser to say.

    Raises:
        ConfigError: It is no file of settings.
    """
    try:
        with open(path, "rb") as file:
            raw = file.read(_MAX_BYTES + 1)
        if len(raw) > _MAX_BYTES:
            raise ValueError(f"it has more than {_MAX_BYTES:,} bytes")
        settings = yaml.load(raw.decode("utf-8"), _Loader)
    except OSError:
        return {}
    except yaml.YAMLError as error:
        raise _error(path, " ".join(str(error).split())) from error
    except RecursionError as error:
        raise _error(path, "it is nested too deep") from error
    except ValueError as error:
        raise _error(path, str(error)) from error
    if not isinstance(settings, dict):
        raise _error(path, "it has no settings, each as `name: value`")
    for name, value in settings.items():
        if not isinstance(name, str) or name in _NO_SETTINGS:
            raise _error(path, f"{name!r:.100} is no setting")
        if not _is_plain(value):
            raise _error(path, f"{name!r:.100} is no number, text, yes or no, or list of them")
    return settings


def check_settings(
    path: str | Path, known: Collection[str], check: Callable[[str, Any], None]
) -> None:
    """Checks that a file says nothing but settings of a command, each of its type.

    Args:
        path: The file.
        known: Names of the settings, and of other flags.
        check: Raises `ConfigError` for the name and the value of a setting of another type.

    Raises:
        ConfigError: It says something else.
    """
    settings = {*known}.difference(_NO_SETTINGS)
    for name, value in read_settings(path).items():
        if name not in settings:
            raise _error(path, unknown_name("setting", name, settings))
        try:
            check(name, value)
        except ConfigError as error:
            raise _error(path, str(error)) from error


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(_is_plain(part) and not isinstance(part, list) for part in value)
    return value is None or isinstance(value, bool | int | float | str)


def _error(path: str | Path, problem: str) -> ConfigError:
    return ConfigError(f"`--config` must be a file of settings. Received: {path}: {problem}")
