"""Imports TensorFlow without the lines that its libraries write to standard error.

They come from C++, in part before any log level is read, so file descriptor 2 is redirected.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

_STDERR = 2


@contextmanager
def stderr_aside() -> Iterator[None]:
    """Holds back output to file descriptor 2; shows it only if an exception is raised."""
    try:
        shown = os.dup(_STDERR)
    except OSError:  # It is closed.
        yield
        return
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
    """Imports TensorFlow and looks for GPUs, quietly unless TF_CPP_MIN_LOG_LEVEL asks for logs."""
    if os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2") in ("0", "1"):
        return
    with stderr_aside():
        import tensorflow

        tensorflow.config.list_physical_devices()
