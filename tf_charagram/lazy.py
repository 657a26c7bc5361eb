"""Modules that are imported when they are used: slow ones, and those of extras."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from tf_charagram.errors import NO_TENSORFLOW, ConfigError

#: Package -> the names that it imports when they are used, and their modules.
TABLES: dict[str, Mapping[str, str]] = {}


def lazy_names(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Returns the `__getattr__` of a module.

    Args:
        module: Name of the module.
        names: Name it offers -> module that has it, or the module itself if it has no such name.
    """
    TABLES[module] = names

    def getattribute(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        try:
            source = import_module(names[name])
        except ModuleNotFoundError as error:
            if error.name not in ("keras", "tensorflow"):
                raise
            raise ModuleNotFoundError(NO_TENSORFLOW, name=error.name) from error
        return getattr(source, name) if hasattr(source, name) else source

    return getattribute


def extra_module(name: str, extra: str) -> Any:
    """Imports a module of an extra.

    Args:
        name: Full name, such as `pyarrow.parquet`.
        extra: Extra of this package that installs it.

    Raises:
        ConfigError: It is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise ConfigError(
            f"{name} cannot be imported ({error}): pip install 'tf-charagram[{extra}]'."
        ) from error


class _LazyClass:
    """Stands in Keras' registry for a class that is imported when a config needs it."""

    def __init__(self, name: str, module: str) -> None:
        self.name = name
        self.module = module

    def from_config(self, config: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Restores an object of the class; importing its module registers the class itself."""
        return getattr(import_module(self.module), self.name).from_config(config, *args, **kwargs)


class _WhenKerasIsImported(MetaPathFinder):
    """Registers classes right after Keras is imported, by this package or another.

    Args:
        register: Called once, without arguments.
    """

    def __init__(self, register: Callable[[], None]) -> None:
        self._register = register

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """Returns Keras' own spec, whose loader registers classes at the end; else `None`."""
        if fullname != "keras":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_register(module: ModuleType) -> None:
            execute(module)
            self._register()

        spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec


def when_keras_is_imported(register: Callable[[], None]) -> None:
    """Calls a function as soon as Keras is imported: now, or right after its import."""
    if "keras" in sys.modules:
        register()
    else:
        sys.meta_path.insert(0, _WhenKerasIsImported(register))


def register_with_keras(package: str, classes: Mapping[str, str]) -> None:
    """Lets `keras.models.load_model` find classes that are not imported yet.

    Args:
        package: Name under which Keras knows the package.
        classes: Name -> module. They register themselves under the same name when imported.
    """
    registered = sys.modules["keras"].saving.get_custom_objects()
    for name, module in classes.items():
        registered.setdefault(f"{package}>{name}", _LazyClass(name, module))
