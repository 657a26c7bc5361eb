"""`charagram doctor`: reports packages, GPUs, models and downloads of this installation."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from importlib import metadata

from packaging.requirements import Requirement
from rich.markup import escape
from rich.table import Table

from tf_charagram._common.lazy import load_tensorflow
from tf_charagram._common.reporting import make_table, table_console
from tf_charagram._version import __version__
from tf_charagram.cli._flags.flags import Parser
from tf_charagram.data.download import SOURCES, cache_folder, cached
from tf_charagram.errors import ConfigError, install_advice
from tf_charagram.models._storage.locations import shipped_models

_PACKAGE = "tf-charagram"
_FOR_DEVELOPERS = ("test", "bench")


def _packages_table() -> tuple[Table, bool]:
    """Returns a table of the required packages, and whether all without an extra are there."""
    table = make_table("Packages", ("package", "extra", "needs", "found", "to install it"), ())
    # Without an extra first: a package that is always required belongs to none.
    extras = ["", *(metadata.metadata(_PACKAGE).get_all("Provides-Extra") or [])]
    is_complete = True
    for text in sorted(metadata.requires(_PACKAGE) or ()):
        requirement = Requirement(text)
        extra = _extra_of(requirement, extras)
        if extra is None or extra in _FOR_DEVELOPERS:
            continue
        try:
            version = metadata.version(requirement.name)
            # Nightly builds are prereleases.
            fits = requirement.specifier.contains(version, prereleases=True)
        except metadata.PackageNotFoundError:
            version = "-"
            fits = False
        if not fits and not extra:
            is_complete = False
        cure = "" if fits else escape(install_advice(extra))
        table.add_row(requirement.name, extra, str(requirement.specifier), version, cure)
    return table, is_complete


def _extra_of(requirement: Requirement, extras: Sequence[str]) -> str | None:
    """Returns the first extra with a requirement; `None` if this platform does not need it."""
    marker = requirement.marker
    for extra in extras:
        if marker is None or marker.evaluate({"extra": extra}):
            return extra
    return None


def _make_parser() -> Parser:
    """Returns the parser."""
    return Parser(prog="charagram doctor", description=__doc__)


def doctor(arguments: Sequence[str]) -> int:
    """Runs the command; returns 1 if a package that is always required is missing."""
    _make_parser().parse_args(arguments)
    console = table_console()
    table, is_complete = _packages_table()
    console.print(table)
    try:
        load_tensorflow()
        import tensorflow as tf

        gpus = _listed([gpu.name for gpu in tf.config.list_physical_devices("GPU")])
    except ConfigError:
        gpus = "not known without TensorFlow"
        is_complete = False
    except Exception as problem:  # A broken installation may raise anything.
        gpus = f"{type(problem).__name__}: {problem}"
        is_complete = False
    downloads = _listed([name for name in SOURCES if cached(name) is not None])
    facts = {
        "tf-charagram": f"{__version__}, Python {platform.python_version()}, {platform.platform()}",
        "cores": str(os.cpu_count()),
        "GPUs": gpus,
        "models": _listed(shipped_models()),
        "downloads": f"{downloads} in {cache_folder()}",
    }
    for name, value in facts.items():
        console.print(f"{name:13} {value}", soft_wrap=True, markup=False)
    return 0 if is_complete else 1


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
