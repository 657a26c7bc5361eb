"""TensorFlow imported without what its libraries write to standard error before anything else.

Those lines, on CPUs and GPUs, come from C++, and in part before any setting is read, so they are
kept aside as bytes. If the import fails they are shown.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType

from tf_charagram.lazy import at_import

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
        at_import("tensorflow", _run_quietly)


def _run_quietly(run: Callable[[ModuleType], None], tensorflow: ModuleType) -> None:
    with stderr_aside():
        run(tensorflow)
        # Looks for GPUs, which is when their libraries speak.
        tensorflow.config.list_physical_devices()
