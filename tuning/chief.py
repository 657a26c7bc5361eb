"""The chief: serves an oracle to workers, which may be processes here or on other machines."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass

import grpc
from keras_tuner.src import protos
from keras_tuner.src.distribute.oracle_chief import OracleServicer, exit_chief

from tf_charagram.errors import ConfigError, RunError
from tf_charagram.tuning.oracles import SafeOracle

#: KerasTuner's own variables: who a process is, and where the chief serves.
ID, IP, PORT = "KERASTUNER_TUNER_ID", "KERASTUNER_ORACLE_IP", "KERASTUNER_ORACLE_PORT"

_TICK_S = 0.5
#: Time for workers that finished before the last one did, and ask again for a trial.
_FAREWELL_S = 30.0


@dataclass(frozen=True)
class Role:
    """What KerasTuner's variables make of this process.

    Attributes:
        tuner_id: The name of the process; the chief's has `chief` in it.
        address: Where the chief serves.
    """

    tuner_id: str
    address: str

    @property
    def is_chief(self) -> bool:
        """Whether this process is to serve the oracle."""
        return "chief" in self.tuner_id


def role() -> Role | None:
    """Returns the role of this process, or `None` if it runs its search alone.

    Raises:
        ConfigError: Some of the variables are missing, or the port is not a number.
    """
    given = {name: os.environ[name] for name in (ID, IP, PORT) if os.environ.get(name)}
    if not given:
        return None
    if len(given) < 3:
        missing = ", ".join(name for name in (ID, IP, PORT) if name not in given)
        raise ConfigError(f"{', '.join(given)} is set, so {missing} must be set too.")
    if not given[PORT].isdigit():
        raise ConfigError(f"{PORT} must be a number. Received: {given[PORT]!r}")
    return Role(given[ID], f"{given[IP]}:{given[PORT]}")


@contextmanager
def serving(oracle: SafeOracle, address: str) -> Iterator[tuple[int, OracleServicer]]:
    """Serves an oracle while it is entered; gives the port and KerasTuner's servicer.

    Args:
        oracle: The oracle.
        address: Where to serve; port 0 is any free one.

    Raises:
        RunError: The port is in use, or the address is not one of this machine.
    """
    # One thread, so that the oracle answers one request after the other. Linux would let two
    # chiefs share a port.
    server = grpc.server(futures.ThreadPoolExecutor(1), options=[("grpc.so_reuseport", 0)])
    servicer = OracleServicer(oracle)
    protos.get_service_grpc().add_OracleServicer_to_server(servicer, server)
    try:
        port = server.add_insecure_port(address)
    except RuntimeError:
        port = 0
    if not port:
        raise RunError(
            f"Cannot serve at {address}: the port is in use, or the address is not one of this "
            f"machine. Choose others with {IP} and {PORT}."
        )
    server.start()
    try:
        yield port, servicer
    finally:
        server.stop(None).wait()


def serve_until_done(oracle: SafeOracle, address: str, on_progress: Callable[[], None]) -> None:
    """Serves an oracle to workers that were started by hand, until all trials have ended.

    Args:
        oracle: The oracle.
        address: Where to serve.
        on_progress: Called now and then.

    Raises:
        RunError: See `serving`.
    """
    with serving(oracle, address) as (_, servicer):
        while not servicer.stop_triggered or oracle.ongoing_trials:
            on_progress()
            time.sleep(_TICK_S)
        end = time.monotonic() + _FAREWELL_S
        while not exit_chief(oracle) and time.monotonic() < end:
            time.sleep(_TICK_S)
    on_progress()
