"""Several processes that train one model: who they are, how they start, and how they connect."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, Any

from tf_charagram.errors import CharagramError, ConfigError
from tf_charagram.files.json_files import parse_json

if TYPE_CHECKING:
    from tf_charagram.optimizers.exchange import Exchange

VARIABLE = "TF_CONFIG"
_ROLES = ("chief", "worker")
_EXAMPLE = (
    '{"cluster": {"worker": ["host-a:2222", "host-b:2222"]}, '
    '"task": {"type": "worker", "index": 0}}'
)
_POLL_S = 0.05
# When a worker fails, the others get this long to report the error themselves.
_GRACE_S = 5.0
_MAX_LINES = 20
_MAX_PROBLEMS = 8


@dataclass(frozen=True)
class Cluster:
    """The workers of a run, and which of them this process is.

    Attributes:
        addresses: `host:port` of each worker; the first is the chief.
        rank: Number of this worker.
        launcher: Id of the process of `--workers` that started all of them on this machine; 0 if
            they were started one by one.
    """

    addresses: tuple[str, ...]
    rank: int
    launcher: int = 0

    @property
    def size(self) -> int:
        """Number of workers."""
        return len(self.addresses)

    @property
    def num_local(self) -> int:
        """Number of workers known to be on this machine."""
        return self.size if self.launcher else 1

    def to_json(self) -> str:
        """Returns the value of `TF_CONFIG` for this worker."""
        task = {"type": "worker", "index": self.rank}
        cluster = {"worker": list(self.addresses)}
        return json.dumps({"cluster": cluster, "task": task, "launcher": self.launcher})


def local_clusters(size: int) -> list[Cluster]:
    """Returns the clusters of workers that this process starts, on ports that are free now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(size)]
        for each in sockets:
            each.bind(("localhost", 0))
        addresses = tuple(f"localhost:{each.getsockname()[1]}" for each in sockets)
    return [Cluster(addresses, rank, os.getpid()) for rank in range(size)]


def cluster_of(environment: Mapping[str, str] = os.environ) -> Cluster | None:
    """Reads `TF_CONFIG`; returns `None` if this process trains alone.

    Raises:
        ConfigError: It is not as TensorFlow defines it, or `task` is not in `cluster`.
    """
    text = environment.get(VARIABLE, "")
    if not text.strip():
        return None
    try:
        config = parse_json(text)
        members = _members(config.get("cluster", {}))
        if len(members) < 2:
            return None
        task, launcher = config.get("task", {}), config.get("launcher", 0)
        rank = [*members].index((task.get("type", "worker"), task.get("index", 0)))
    except (ValueError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"`{VARIABLE}` must be JSON such as {_EXAMPLE}, with a different host:port for each "
            f"worker, no roles but {' and '.join(_ROLES)}, and one of them in `task`. "
            f"Received: {text[:200]!r} ({error})"
        ) from None
    launcher = launcher if isinstance(launcher, int) else 0
    return Cluster(tuple(members.values()), rank, launcher)


def _members(cluster: dict[str, list[str]]) -> dict[tuple[str, int], str]:
    """Returns role and index of each worker -> its address, the chief first."""
    if other := sorted(set(cluster) - {*_ROLES}):
        raise ValueError(f"unknown role {other[0]}")
    members = {
        (role, index): address
        for role in _ROLES
        for index, address in enumerate(cluster.get(role, []))
    }
    for address in members.values():
        if not re.fullmatch(r".*:\d+", address):
            raise ValueError(f"{address!r} is not host:port")
    if len({*members.values()}) < len(members):
        raise ValueError("an address is repeated")
    return members


def connect(cluster: Cluster | None) -> Exchange:
    """Connects this worker with the others, and waits for them; `TF_CONFIG` is set.

    Must be called before TensorFlow creates its devices.

    Args:
        cluster: The workers; `None` for a process that trains alone.

    Raises:
        ConfigError: The port is in use, or TensorFlow has created its devices.
    """
    import tensorflow as tf

    from tf_charagram.optimizers.exchange import ALONE, Exchange

    if cluster is None:
        return ALONE
    if cluster.launcher:
        threading.Thread(target=end_with, args=(cluster.launcher,), daemon=True).start()
        gpus = tf.config.list_physical_devices("GPU")
        if len(gpus) >= cluster.num_local:
            tf.config.set_visible_devices(gpus[cluster.rank], "GPU")
    communication = tf.distribute.experimental.CommunicationImplementation.RING
    options = tf.distribute.experimental.CommunicationOptions(implementation=communication)
    try:
        # Only the strategy's servers and its health checks are used. Its variables are not, because
        # every step would copy them whole.
        strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)
    except (tf.errors.OpError, RuntimeError, ValueError) as error:
        own, reason = cluster.addresses[cluster.rank], str(error).split("\n", 1)[0][:300]
        raise ConfigError(
            f"Worker {cluster.rank} cannot be reached by the others at {own}: {reason}. Is the "
            "port in use, or the name that of another machine? Give others in TF_CONFIG."
        ) from error
    if threading.current_thread() is threading.main_thread():
        # TensorFlow takes SIGTERM for a notice of maintenance, and continues.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    exchange = Exchange(cluster.rank, cluster.size)
    exchange.strategy = strategy
    return exchange


def end_with(launcher: int) -> None:
    """Ends this process when its launcher is gone, even if it was killed."""
    while os.getppid() == launcher:
        time.sleep(0.5)
    os._exit(1)


# Workers may differ in these settings: they change no weights, or name files that are compared by
# content.
_MAY_DIFFER = (
    "out", "data", "eval_data", "init", "pairs", "word_vectors", "dictionary", "misspellings",
    "checkpoint_every_s", "max_minutes",
)  # fmt: skip
_SAME_VERSIONS = ("tf_charagram", "tensorflow", "keras", "numpy")


def comparable(identity: dict[str, Any], files: Sequence[Path]) -> dict[str, Any]:
    """Returns the facts about a run in which its workers must agree.

    Args:
        identity: As returned by `run_config`.
        files: The data files in order; repeated if given repeatedly.
    """
    versions = {f"{key} (version)": identity["versions"][key] for key in _SAME_VERSIONS}
    checksums = {
        f"file {number}, {path.name} (sha256)": identity["data_files"][str(path)]
        for number, path in enumerate(files, start=1)
    }
    flags = {
        f"--{name.replace('_', '-')}": value
        for name, value in identity["settings"].items()
        if name not in _MAY_DIFFER
    }
    return flags | versions | checksums


@contextmanager
def failing_together(exchange: Exchange) -> Iterator[dict[str, Any]]:
    """Runs the preparations of each worker, then compares the workers.

    Yields:
        A dictionary to fill with facts that must be equal on all workers, as JSON.

    Raises:
        ConfigError: Another worker failed, or workers differ; the chief says which and how.
        CharagramError: This worker failed.
    """
    facts: dict[str, Any] = {}
    try:
        yield facts
    except CharagramError as error:
        exchange.json({"error": str(error)})
        raise
    answers = exchange.json({"facts": facts})
    problems = [
        f"worker {rank}: {problem}"
        for rank, answer in enumerate(answers)
        for problem in _problems(answer, answers[0])
    ]
    if problems:
        if len(problems) > _MAX_PROBLEMS:
            problems[_MAX_PROBLEMS:] = [f"and {len(problems) - _MAX_PROBLEMS} more"]
        shown = "\n".join(f"  {problem}" for problem in problems)
        raise ConfigError(
            f"The {exchange.size} workers cannot train together; worker 0 is the chief:\n"
            f"{shown}\nGive all of them the same flags, files and versions."
        )


def _problems(answer: Mapping[str, Any], chief: Mapping[str, Any]) -> list[str]:
    if "error" in answer:
        return [answer["error"]]
    own, expected = answer["facts"], chief.get("facts", answer["facts"])
    return [
        f"{name} is {own.get(name)}, the chief has {expected.get(name)}"
        for name in sorted({*own, *expected})
        if own.get(name) != expected.get(name)
    ]


class Launcher:
    """Runs a command as several workers on this machine, and shows the output of the chief.

    If a worker dies, all are ended. Ctrl-C goes to the chief, which agrees with the others on where
    to stop.

    Args:
        command: The command, the same for all.
        size: Number of workers.
    """

    def __init__(self, command: Sequence[str], size: int) -> None:
        self._command, self._size = list(command), size
        self._processes: list[subprocess.Popen[bytes]] = []
        self._errors: list[IO[bytes] | None] = []
        self._num_interrupts = 0

    def run(self) -> int:
        """Runs the workers to the end; returns the exit status of the command."""
        with ExitStack() as stack:
            for number in (signal.SIGINT, signal.SIGTERM):
                stack.callback(signal.signal, number, signal.signal(number, self._forward))
            stack.callback(self._end)
            for cluster in local_clusters(self._size):
                is_chief = cluster.rank == 0
                errors = None if is_chief else stack.enter_context(tempfile.TemporaryFile())
                self._errors.append(errors)
                process = start_worker(
                    self._command,
                    cluster,
                    stdin=subprocess.DEVNULL,
                    stdout=None if is_chief else subprocess.DEVNULL,
                    stderr=errors,
                    # A terminal's Ctrl-C would reach all, and the chief a second time.
                    start_new_session=True,
                )
                self._processes.append(process)
            failed = self._wait()
            return 0 if failed is None else self._report(failed)

    def _wait(self) -> int | None:
        """Waits until all have ended, or one has failed, whose rank is returned."""
        while True:
            codes = [process.poll() for process in self._processes]
            failed = [rank for rank, code in enumerate(codes) if code]
            if failed or None not in codes:
                return failed[0] if failed else None
            time.sleep(_POLL_S)

    def _report(self, failed: int) -> int:
        """Says why training ended, unless the chief has; returns the exit status."""
        end = time.monotonic() + _GRACE_S
        for process in self._processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, end - time.monotonic()))
        chief = self._processes[0].poll() or 0
        if self._num_interrupts or (failed == 0 and chief > 0):
            return chief if chief > 0 else 130
        code = self._processes[failed].returncode
        # A worker may be the first to end because of an error of all, such as a missing file.
        if code < 0 or chief <= 0:
            how = f"killed by signal {-code}" if code < 0 else f"exit status {code}"
            sys.stderr.write(
                f"error: worker {failed} of {self._size} was lost ({how}), and the training is "
                "stopped. Go on from its last checkpoint with the same command and --resume.\n"
            )
        errors = self._errors[failed]
        if errors is not None:
            errors.seek(0)
            lines = errors.read().decode("utf-8", "replace").splitlines()[-_MAX_LINES:]
            sys.stderr.writelines(f"worker {failed}: {line}\n" for line in lines)
        return 1

    def _forward(self, number: int, frame: FrameType | None) -> None:
        self._num_interrupts += 1
        if self._num_interrupts > (1 if number == signal.SIGTERM else 2):
            raise SystemExit(128 + number)
        if self._processes:
            self._processes[0].send_signal(number)

    def _end(self) -> None:
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()


def start_worker(command: Sequence[str], cluster: Cluster, **options: Any) -> subprocess.Popen[Any]:
    """Starts a worker of a cluster on this machine; options are those of `Popen`."""
    environment = {**os.environ, VARIABLE: cluster.to_json()}
    return subprocess.Popen(command, env=environment, **options)
