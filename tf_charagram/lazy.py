"""Names that are imported when they are used: TensorFlow takes seconds to import."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any, TypeAlias

_PACKAGE = "tf_charagram"
#: Executes a module; called with what does so otherwise, and the module.
Execute: TypeAlias = Callable[[Callable[[ModuleType], None], ModuleType], None]


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


class _Finder(MetaPathFinder):
    """Finds a module once, as others do, and has a function execute it."""

    def __init__(self, name: str, execute: Execute) -> None:
        self.name = name
        self.execute = execute

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns the spec of the module, and nothing for other modules."""
        if fullname != self.name:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module = partial(  # type: ignore[method-assign]
                self.execute, spec.loader.exec_module
            )
        return spec


def at_import(name: str, execute: Execute) -> None:
    """Has a function execute a module when it is first imported in this process.

    Args:
        name: A module that is not imported yet.
        execute: Called with what executes the module, and the module.
    """
    sys.meta_path.insert(0, _Finder(name, execute))


def register_with_keras(classes: Mapping[str, str]) -> None:
    """Lets `keras.models.load_model` find classes that are not imported yet.

    Args:
        classes: Name -> module. They register themselves under the same name when imported.
    """

    def execute(run: Callable[[ModuleType], None], module: ModuleType) -> None:
        run(module)
        _register(module, classes)

    if (keras := sys.modules.get("keras")) is not None:
        _register(keras, classes)
    else:
        at_import("keras", execute)


def _register(keras: Any, classes: Mapping[str, str]) -> None:
    registered = keras.saving.get_custom_objects()
    for name, module in classes.items():
        registered.setdefault(f"{_PACKAGE}>{name}", _LazyClass(name, module))
