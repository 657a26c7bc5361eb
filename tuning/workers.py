"""Searches with several processes: workers on this machine, or started by hand on others.

KerasTuner's chief hands out trials, and workers run them; its environment variables name each
process. `python -m tf_charagram.tuning.workers OUT` is a worker.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent import futures
from contextlib import contextmanager

import grpc
from keras_tuner.src import protos
from keras_tuner.src.distribute import oracle_client
from keras_tuner.src.distribute.oracle_chief import OracleServicer, exit_chief

from tf_charagram.cli.commands import run_command
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.text.batches import num_threads
from tf_charagram.training.processor import set_threads
from tf_charagram.tuning.oracles import SafeOracle, make_oracle
from tf_charagram.tuning.search import Search, SearchFolder
from tf_charagram.tuning.trials import TrialTuner

#: KerasTuner's variables: name of this process, and the address of the chief.
ID, IP, PORT = "KERASTUNER_TUNER_ID", "KERASTUNER_ORACLE_IP", "KERASTUNER_ORACLE_PORT"

_HOST = "127.0.0.1"
_TICK_S = 0.5
_TIMEOUT_S = 60.0


def role() -> str | None:
    """Returns the name of this process in a search on several machines, or `None`.

    Raises:
        ConfigError: Some of KerasTuner's variables are missing.
    """
    missing = [name for name in (ID, IP, PORT) if not os.environ.get(name)]
    if len(missing) == 3:
        return None
    if missing:
        raise ConfigError(f"A search on several machines needs {ID}, {IP} and {PORT}.")
    return os.environ[ID]


@contextmanager
def _serving(oracle: SafeOracle, address: str) -> Iterator[tuple[int, OracleServicer]]:
    """Serves an oracle; yields the port and KerasTuner's servicer.

    Raises:
        RunError: The address cannot be used.
    """
    # One thread answers one request after the other; only one chief can have the port.
    server = grpc.server(futures.ThreadPoolExecutor(1), options=[("grpc.so_reuseport", 0)])
    servicer = OracleServicer(oracle)
    protos.get_service_grpc().add_OracleServicer_to_server(servicer, server)
    try:
        port = server.add_insecure_port(address)
    except RuntimeError:
        port = 0
    if not port:
        raise RunError(f"Cannot serve at {address}. Set another {IP} or {PORT}.")
    server.start()
    try:
        yield port, servicer
    finally:
        server.stop(None).wait()


def serve_workers(oracle: SafeOracle, on_progress: Callable[[], None]) -> None:
    """Serves an oracle to workers on other machines until all trials have ended.

    Args:
        oracle: The oracle.
        on_progress: Called regularly.

    Raises:
        RunError: The address cannot be used.
    """
    with _serving(oracle, f"{os.environ[IP]}:{os.environ[PORT]}") as (_, servicer):
        while not servicer.stop_triggered or oracle.ongoing_trials:
            on_progress()
            time.sleep(_TICK_S)
        # Workers that ended earlier ask for a last time.
        end = time.monotonic() + _TIMEOUT_S
        while not exit_chief(oracle) and time.monotonic() < end:
            time.sleep(_TICK_S)
    on_progress()


def run_workers(
    folder: SearchFolder, oracle: SafeOracle, num_workers: int, on_progress: Callable[[], None]
) -> None:
    """Runs a search with workers on this machine, which share its cores.

    Args:
        folder: Folder of the search.
        oracle: Its oracle.
        num_workers: Number of processes.
        on_progress: Called regularly.

    Raises:
        RunError: A worker ended early.
        KeyboardInterrupt: The workers wrote checkpoints.
    """
    threads = str(max(1, num_threads() // num_workers))
    logs = folder.path / "workers"
    logs.mkdir(exist_ok=True)
    workers: dict[str, subprocess.Popen[bytes]] = {}
    with _serving(oracle, f"{_HOST}:0") as (port, _):
        try:
            for name in (f"worker-{number}" for number in range(num_workers)):
                environment = {
                    **os.environ, ID: name, IP: _HOST, PORT: str(port),
                    "TF_NUM_INTRAOP_THREADS": threads, "TF_NUM_INTEROP_THREADS": threads,
                    "TF_FORCE_GPU_ALLOW_GROWTH": "true",
                }  # fmt: skip
                command = [sys.executable, "-m", "tf_charagram.tuning.workers", str(folder.path)]
                with open(logs / f"{name}.log", "ab") as log:
                    # A session of its own, so that Ctrl-C reaches it through this process.
                    workers[name] = subprocess.Popen(
                        command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment,
                        start_new_session=True,
                    )  # fmt: skip
            while any(worker.poll() is None for worker in workers.values()):
                on_progress()
                time.sleep(_TICK_S)
                for name, worker in workers.items():
                    if worker.poll():
                        raise RunError(
                            f"{name} ended early ({_last_line(logs / f'{name}.log')}). Continue "
                            "with --resume."
                        )
        finally:
            _stop(workers.values())
    on_progress()


def _last_line(path: os.PathLike[str]) -> str:
    with open(path, encoding="utf-8", errors="replace") as log:
        lines = log.read().strip().splitlines()
    return f"{lines[-1] if lines else 'without a message'}; see {path}"


def _stop(workers: Collection[subprocess.Popen[bytes]]) -> None:
    """Interrupts workers, which then write checkpoints, and waits for them."""
    for worker in workers:
        if worker.poll() is None:
            worker.send_signal(signal.SIGINT)
    for worker in workers:
        try:
            worker.wait(_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()
        if worker.stdin is not None:
            worker.stdin.close()


def run_worker(search: Search, folder: SearchFolder) -> None:
    """Runs trials of the chief until it has no more.

    Args:
        search: The search, the same as that of the chief.
        folder: Its folder.

    Raises:
        RunError: The chief does not answer, or failed.
        CharagramError: As for `TrialTuner.search`.
    """
    address = f"{os.environ[IP]}:{os.environ[PORT]}"
    gone = RunError(f"No chief answers at {address} within {_TIMEOUT_S:g} s. Start it first.")
    with grpc.insecure_channel(address) as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=_TIMEOUT_S)
        except grpc.FutureTimeoutError:
            raise gone from None
    oracle_client.TIMEOUT = _TIMEOUT_S
    try:
        TrialTuner(search, make_oracle(search), folder).search()
    except grpc.RpcError as error:
        if error.code() in (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE):
            raise gone from error
        raise RunError(f"The chief at {address} failed: {error.details()}") from error


def _end_with_parent() -> None:
    """Ends this process when its standard input ends with the parent process."""
    while os.read(0, 1):
        pass
    os._exit(1)


def _work(arguments: Sequence[str]) -> int:
    """Runs a worker of `charagram tune --workers`."""
    (path,) = arguments
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    folder = SearchFolder(path)
    search = folder.read_search()
    set_threads(search.config)
    run_worker(search, folder)
    return 0


if __name__ == "__main__":
    sys.exit(run_command(_work, None))
