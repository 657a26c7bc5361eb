"""Runs commands: an error becomes one line and an exit status."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Sequence

from tf_charagram._files.writing import UNWRITABLE, check_local, write_problem
from tf_charagram.errors import CharagramError, ConfigError


def run_command(command: Callable[[Sequence[str]], int], arguments: Sequence[str] | None) -> int:
    """Runs a command; returns its exit status, or the status of the error it ended with."""
    # Python has no object for a stream that is closed.
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")
    for stream in (sys.stdin, sys.stdout):
        # Broken UTF-8 in standard input or in an argument must not end a command.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    sys.unraisablehook = _keep_interrupt
    try:
        status = command(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        return status
    except CharagramError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        return 130
    except BrokenPipeError:
        # The reader of our output, such as `head`, has enough; Python would complain on exit.
        sys.stdout = None
        return 0
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        sys.stderr.write(f"error: {error.filename or 'the output'}: {write_problem(error)}\n")
        if error.filename is None:
            sys.stdout = None  # Python would write to it again on exit, and complain.
        return 1


def _keep_interrupt(unraisable: sys.UnraisableHookArgs) -> None:
    """Repeats a Ctrl-C that came while a destructor ran, where Python drops it."""
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        # A moment later, when the destructor has ended.
        again = threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT))
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(unraisable)


def check_not_read(output: str, inputs: Iterable[str]) -> None:
    """Checks that a file to write is not one of the files to read.

    Args:
        output: The file to write; `-` is standard output.
        inputs: The files to read; `-` is standard input.

    Raises:
        ConfigError: It is one of them, maybe under another name, or it is not a local path.
    """
    check_local(output)
    if output == "-":
        return
    real_path = os.path.realpath(output)
    for path in inputs:
        if path != "-" and os.path.realpath(path) == real_path:
            raise ConfigError(
                f"{output} is read as well, and would be overwritten. Write to another file."
            )
