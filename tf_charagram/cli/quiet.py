"""TensorFlow imported without what its libraries write to standard error before anything else.

Those lines, on CPUs and GPUs, come from C++, and in part before any setting is read, so they are
kept aside as bytes. If the import fails they are shown.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_STDERR = 2


@contextmanager
def stderr_aside() -> Iterator[None]:
    """Keeps what is written to file descriptor 2; shows it only if an exception passes by."""
    try:
        shown = os.dup(_STDERR)
    except OSError:  # It is closed.
        yield
        return
    with tempfile.TemporaryFile() as kept:
        os.dup2(kept.fileno(), _STDERR)
        try:
            yield
        except BaseException:
            kept.seek(0)
            os.write(shown, kept.read())
            raise
        finally:
            os.dup2(shown, _STDERR)
            os.close(shown)


def quiet_tensorflow() -> None:
    """Makes the first import of TensorFlow in this process a quiet one, whenever it comes."""
    if "tensorflow" not in sys.modules:
        sys.meta_path.insert(0, _QuietTensorFlow())


class _QuietTensorFlow(MetaPathFinder):
    """Finds TensorFlow once, as others do, and has it run with standard error aside."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns the spec of `tensorflow`, and nothing for other modules."""
        if fullname != "tensorflow":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            run: Any = spec.loader.exec_module

            def run_quietly(module: Any) -> None:
                with stderr_aside():
                    run(module)
                    # Looks for GPUs, which is when their libraries speak.
                    module.config.list_physical_devices()

            spec.loader.exec_module = run_quietly  # type: ignore[method-assign]
        return spec
