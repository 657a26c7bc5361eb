"""A worker: runs the trials that a chief hands out. `python -m tf_charagram.tuning.worker OUT`."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Sequence

import grpc
from keras_tuner.src.distribute import oracle_client

from tf_charagram.cli.commands import run_command
from tf_charagram.errors import RunError
from tf_charagram.training.processor import set_threads
from tf_charagram.tuning.chief import IP, PORT, Role, role
from tf_charagram.tuning.oracles import make_oracle
from tf_charagram.tuning.search import Search, SearchFolder
from tf_charagram.tuning.tuner import TrialTuner

_TIMEOUT_S = 60


def wait_for_chief(own_role: Role, timeout_s: float = _TIMEOUT_S) -> None:
    """Waits until the chief serves.

    Raises:
        RunError: It does not.
    """
    with grpc.insecure_channel(own_role.address) as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=timeout_s)
        except grpc.FutureTimeoutError as error:
            raise _no_chief(own_role, timeout_s) from error


def run_worker(own_role: Role, search: Search, folder: SearchFolder) -> None:
    """Runs trials until the chief has no more.

    Args:
        own_role: The role of this process.
        search: The search, the same as the chief's.
        folder: Where it lives, the same as the chief's.

    Raises:
        RunError: The chief is gone, or could not go on.
        CharagramError: See `TrialTuner.search`.
    """
    # KerasTuner's own patience is an hour.
    oracle_client.TIMEOUT = _TIMEOUT_S
    try:
        TrialTuner(search, make_oracle(search), folder).search()
    except grpc.RpcError as error:
        if error.code() in (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE):
            raise _no_chief(own_role, _TIMEOUT_S) from error
        raise RunError(f"The chief at {own_role.address} failed: {error.details()}") from error


def _no_chief(own_role: Role, timeout_s: float) -> RunError:
    return RunError(
        f"No chief answers at {own_role.address} within {timeout_s:g} s. Start it first, with the "
        f"same {IP} and {PORT}, and `chief` as its id."
    )


def _end_with_parent() -> None:
    """Waits for the end of standard input, which is that of the process that holds it open."""
    # Not through `sys.stdin`, whose lock Python wants at its own end.
    while os.read(0, 1):
        pass
    # A run that goes on alone would write into a folder that another worker has taken over.
    os._exit(1)


def work(arguments: Sequence[str]) -> int:
    """Runs a worker that was started by the process at the other end of its standard input."""
    (path,) = arguments
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    own_role = role()
    if own_role is None:
        raise RunError("This is for `charagram tune --workers`, which starts it.")
    folder = SearchFolder(path)
    wait_for_chief(own_role)
    search = folder.read_search()
    set_threads(search.config)
    run_worker(own_role, search, folder)
    return 0


if __name__ == "__main__":
    sys.exit(run_command(work, None))
