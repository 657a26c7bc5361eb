"""Searches with several processes: KerasTuner's chief hands out trials, and workers run them.

KerasTuner's environment variables name each process. `--workers` sets them for workers on this
machine; on several machines, the user does.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Sequence
from concurrent import futures

import grpc
import keras_tuner
from keras_tuner.src import protos
from keras_tuner.src.distribute import oracle_client
from keras_tuner.src.distribute.oracle_chief import OracleServicer
from keras_tuner.src.distribute.utils import has_chief_oracle, is_chief_oracle

from tf_charagram.errors import ConfigError, RunError
from tf_charagram.training.workers import end_with
from tf_charagram.tuning.search import SearchFolder
from tf_charagram.tuning.trials import TrialTuner

#: KerasTuner's variables: name of this process, and the address of the chief.
ID, IP, PORT = "KERASTUNER_TUNER_ID", "KERASTUNER_ORACLE_IP", "KERASTUNER_ORACLE_PORT"
# Process that started this worker, if it is one of `--workers`.
_LAUNCHER = "CHARAGRAM_LAUNCHER"
_HOST = "127.0.0.1"
_TICK_S = 0.5
_TIMEOUT_S = 60


def role() -> str:
    """Returns `"chief"`, `"worker"`, or `""` for a search that this process runs or starts.

    Raises:
        ConfigError: Some of KerasTuner's variables are missing.
    """
    try:
        return "chief" if is_chief_oracle() else "worker" if has_chief_oracle() else ""
    except RuntimeError as error:
        raise ConfigError(str(error)) from None


def wait_for_chief(folder: SearchFolder) -> None:
    """Waits until the chief has begun the search in a folder.

    Raises:
        RunError: It has not within a minute.
    """
    end = time.monotonic() + _TIMEOUT_S
    while not folder.config.is_file():
        if time.monotonic() > end:
            raise RunError(f"{folder.path} has no search. Start the chief first.")
        time.sleep(_TICK_S)


def run_with_others(tuner: TrialTuner) -> None:
    """Serves workers on other machines, or runs trials of their chief, until all have ended.

    Raises:
        RunError: The chief does not answer or failed, or its address cannot be used.
        CharagramError: As for `TrialTuner.search`.
    """
    if launcher := os.environ.get(_LAUNCHER):
        threading.Thread(target=end_with, args=(int(launcher),), daemon=True).start()
    address = f"{os.environ[IP]}:{os.environ[PORT]}"
    oracle_client.TIMEOUT = _TIMEOUT_S
    try:
        tuner.search()
    except grpc.RpcError as error:
        raise RunError(
            f"The chief at {address} has failed, or does not answer within {_TIMEOUT_S} s. Start "
            f"it first. ({error.details()})"
        ) from error
    except RuntimeError as error:
        if not is_chief_oracle():
            raise
        raise RunError(f"Cannot serve at {address}: {error}. Set another {PORT}.") from error


def run_workers(oracle: keras_tuner.Oracle, command: Sequence[str], num_workers: int) -> None:
    """Serves an oracle to workers on this machine, which share its cores.

    Args:
        oracle: The oracle.
        command: Command line of a worker.
        num_workers: Number of processes.

    Raises:
        RunError: A worker ended early.
        KeyboardInterrupt: The workers wrote checkpoints.
    """
    # One thread answers one request after the other.
    server = grpc.server(futures.ThreadPoolExecutor(1))
    protos.get_service_grpc().add_OracleServicer_to_server(OracleServicer(oracle), server)
    port = server.add_insecure_port(f"{_HOST}:0")
    server.start()
    variables = {
        **os.environ, IP: _HOST, PORT: str(port), _LAUNCHER: str(os.getpid()),
        "TF_FORCE_GPU_ALLOW_GROWTH": "true",
    }  # fmt: skip
    workers: list[subprocess.Popen[bytes]] = []
    try:
        for number in range(num_workers):
            # A session of its own, so that Ctrl-C reaches it through this process.
            worker = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                env={**variables, ID: f"worker-{number}"}, start_new_session=True,
            )  # fmt: skip
            workers.append(worker)
        codes: list[int | None] = [None]
        while None in codes and not any(codes):
            time.sleep(_TICK_S)
            codes = [worker.poll() for worker in workers]
    finally:
        _stop(workers)
        server.stop(None).wait()
    if any(codes):
        raise RunError("A worker ended early. Continue with --resume.")


def _stop(workers: Sequence[subprocess.Popen[bytes]]) -> None:
    """Stops workers, which then write checkpoints, and waits for them."""
    for worker in workers:
        worker.terminate()
    for worker in workers:
        try:
            worker.wait(_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()
