"""Modules that are imported when they are used: slow ones, and those of extras."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from tf_charagram.errors import ConfigError, install_advice, no_tensorflow

# File descriptor of standard error.
_STDERR = 2
#: Package -> the names that it imports when they are used, and their modules.
TABLES: dict[str, Mapping[str, str]] = {}


def lazy_names(
    module: str,
    names: Mapping[str, str],
    *,
    needs_tensorflow: bool = False,
    light: Container[str] = (),
) -> Callable[[str], Any]:
    """Returns the `__getattr__` of a module.

    Args:
        module: Name of the module.
        names: Name it offers -> module that has it, or the module itself if it has no such name.
        needs_tensorflow: Whether these modules import TensorFlow, which would log a dozen lines.
        light: Names whose modules do not.
    """
    TABLES[module] = names

    def getattribute(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        is_module = names[name] == f"{module}.{name}"
        if needs_tensorflow and not is_module and name not in light:
            if find_spec("tensorflow") is None:
                raise ModuleNotFoundError(no_tensorflow(), name="tensorflow")
            load_tensorflow()
        source = import_module(names[name])
        return getattr(source, name) if hasattr(source, name) else source

    return getattribute


def names_in(package: str, homes: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Maps each name to its module, given the names in each module of a package."""
    return {name: f"{package}.{home}" for home, names in homes.items() for name in names}


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
            f"{name} cannot be imported ({error}): {install_advice(extra)}"
        ) from error


def tensorflow_text() -> Any:
    """Imports tensorflow-text, which takes time, and which only words, tags and forms need.

    Raises:
        ConfigError: It is not installed, or does not fit TensorFlow.
    """
    import tensorflow as tf

    try:
        return import_module("tensorflow_text")
    except (ImportError, tf.errors.NotFoundError) as error:
        raise ConfigError(
            "Encoders of words, taggers and `unicode_form` need tensorflow-text, of the same minor "
            "version as TensorFlow. It has wheels for Python 3.11 to 3.13 on Linux and on Macs "
            f"with Apple silicon. It cannot be imported: {error}"
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


@contextmanager
def _stderr_aside() -> Iterator[None]:
    """Holds back output to file descriptor 2; shows it only if an exception is raised."""
    try:
        shown = os.dup(_STDERR)
    except OSError:  # It is closed.
        yield
        return
    import tempfile

    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), _STDERR)
        try:
            yield
        except BaseException:
            held.seek(0)
            os.write(shown, held.read())
            raise
        finally:
            os.dup2(shown, _STDERR)
            os.close(shown)


def load_tensorflow() -> None:
    """Imports TensorFlow and looks for GPUs, quietly unless TF_CPP_MIN_LOG_LEVEL asks for logs.

    Raises:
        ConfigError: It is not installed.
    """
    if find_spec("tensorflow") is None:
        raise ConfigError(no_tensorflow())
    is_imported = "tensorflow" in sys.modules
    if is_imported or os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2") in ("0", "1"):
        return
    with _stderr_aside():
        import tensorflow

        tensorflow.config.list_physical_devices()
