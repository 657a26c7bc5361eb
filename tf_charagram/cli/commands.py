"""How a command runs: its errors, Ctrl-C and broken pipes become a line and an exit status."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence

from tf_charagram.cli.installation import missing, watch_versions
from tf_charagram.cli.lost_interrupt import interrupts_not_lost
from tf_charagram.errors import CharagramError
from tf_charagram.files.writing import UNWRITABLE, write_problem
from tf_charagram.reporting.quiet_tensorflow import quiet_tensorflow

_QUIET = ("2", "3")


def run_command(command: Callable[[Sequence[str]], int], arguments: Sequence[str] | None) -> int:
    """Runs a command; an error the package raises becomes one line and exit status 1 or 2."""
    # TensorFlow greets every process with lines on CPUs and GPUs that help nobody here. A command
    # that was started by another finds the level that this one set.
    if os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", _QUIET[0]) in _QUIET:
        quiet_tensorflow()
    watch_versions()
    _open_closed_streams()
    for stream in (sys.stdin, sys.stdout):
        # Broken UTF-8, in what is piped in or in an argument, must not end a command.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        with interrupts_not_lost():
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
        # The reader of our output, `head` say, has enough; Python would complain on exit.
        sys.stdout = None
        return 0
    except ImportError as error:
        if (advice := missing(error)) is None:
            raise
        sys.stderr.write(f"error: {advice}\n")
        return 1
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        sys.stderr.write(f"error: {error.filename or 'the output'}: {write_problem(error)}\n")
        if error.filename is None:
            sys.stdout = None  # Python would write to it again on exit, and complain.
        return 1


def _open_closed_streams() -> None:
    """Has streams that the caller closed read nothing and write nowhere, as those of a daemon."""
    # The file takes the number of the stream, which another file would get otherwise.
    for name, mode in {"stdin": "r", "stdout": "w", "stderr": "w"}.items():
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))
