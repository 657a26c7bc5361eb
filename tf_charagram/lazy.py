"""Names that are imported when they are used: TensorFlow takes seconds to import."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_PACKAGE = "tf_charagram"


def lazy_names(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Returns the `__getattr__` of a module.

    Args:
        module: Its name.
        names: What it offers -> the module that has it. A module that has no such name is offered
            itself.
    """

    def getattribute(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        source = import_module(names[name])
        return getattr(source, name) if hasattr(source, name) else source

    return getattribute


class _LazyClass:
    """Stands among Keras' registered classes for one that is imported when a config needs it."""

    def __init__(self, name: str, module: str) -> None:
        self.name = name
        self.module = module

    def from_config(self, config: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Restores an object of the class; importing its module registers the class itself."""
        return getattr(import_module(self.module), self.name).from_config(config, *args, **kwargs)


class _KerasFinder(MetaPathFinder):
    """Registers classes as soon as Keras has been imported."""

    def __init__(self, classes: Mapping[str, str]) -> None:
        self.classes = classes

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns what Python finds for `keras`, with the registration after it."""
        if name != "keras":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                _register(module, self.classes)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def register_with_keras(classes: Mapping[str, str]) -> None:
    """Lets `keras.models.load_model` find classes that are not imported yet.

    Args:
        classes: Name -> module. They register themselves under the same name when imported.
    """
    if (keras := sys.modules.get("keras")) is not None:
        _register(keras, classes)
    else:
        sys.meta_path.insert(0, _KerasFinder(classes))


def _register(keras: Any, classes: Mapping[str, str]) -> None:
    registered = keras.saving.get_custom_objects()
    for name, module in classes.items():
        registered.setdefault(f"{_PACKAGE}>{name}", _LazyClass(name, module))
