"""Starts the workers of a training on this machine, and stops all when one is lost."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from itertools import combinations
from types import FrameType
from typing import IO, Any

from tf_charagram.errors import ConfigError
from tf_charagram.training.workers.cluster import VARIABLE, Cluster, local_clusters

_SECONDS_BETWEEN_LOOKS = 0.05
# Where one fails, the others notice and say so themselves, if they can, in this time.
_SECONDS_TO_END = 5.0
_MOST_LINES = 20


class Launcher:
    """Runs a command as several workers; what the chief prints is seen.

    Ctrl-C is passed on to the chief, which agrees with the others where to stop.

    Args:
        command: The command, the same for all.
        size: Number of workers, at least 2.
    """

    def __init__(self, command: Sequence[str], size: int) -> None:
        if size < 2:
            raise ConfigError(f"`workers` must be at least 2. Received: {size}")
        self._command, self._size = list(command), size
        self._processes: list[subprocess.Popen[bytes]] = []
        self._errors: list[IO[bytes] | None] = []
        self._num_interrupts = 0

    def run(self) -> int:
        """Runs the workers to the end; returns the exit status of the command."""
        with ExitStack() as stack:
            for number in (signal.SIGINT, signal.SIGTERM):
                stack.callback(signal.signal, number, signal.signal(number, self._pass_on))
            stack.callback(self._end)
            self._start(stack)
            failed = self._wait()
            if failed is None:
                return 0
            self._wait_for_the_others()
            return self._report(failed)

    def _start(self, stack: ExitStack) -> None:
        # The workers have their own copies of the sockets. Once these here are closed, each hears
        # when another one has ended.
        with ExitStack() as sockets:
            for cluster in linked_clusters(self._size, sockets):
                is_chief = cluster.rank == 0
                errors = None if is_chief else stack.enter_context(tempfile.TemporaryFile())
                self._errors.append(errors)
                process = start_worker(
                    self._command,
                    cluster,
                    stdin=subprocess.DEVNULL,
                    stdout=None if is_chief else subprocess.DEVNULL,
                    stderr=errors,
                    # A terminal's Ctrl-C would come to all, and to the chief a second time.
                    start_new_session=True,
                )
                self._processes.append(process)

    def _wait(self) -> int | None:
        """Waits until all have ended, or one badly, which is returned."""
        while True:
            codes = [process.poll() for process in self._processes]
            for rank, code in enumerate(codes):
                if code:
                    return rank
            if all(code == 0 for code in codes):
                return None
            time.sleep(_SECONDS_BETWEEN_LOOKS)

    def _wait_for_the_others(self) -> None:
        end = time.monotonic() + _SECONDS_TO_END
        for process in self._processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, end - time.monotonic()))

    def _report(self, failed: int) -> int:
        """Says why the training ended, unless the chief has; returns the exit status."""
        chief = self._processes[0].poll() or 0
        if self._num_interrupts or (failed == 0 and chief > 0):
            return chief if chief > 0 else 130
        code = self._processes[failed].returncode
        # What is wrong for all, such as a missing file, another worker may be the first to end of.
        if code < 0 or chief <= 0:
            how = f"killed by signal {-code}" if code < 0 else f"exit status {code}"
            sys.stderr.write(
                f"error: worker {failed} of {self._size} was lost ({how}), and the training is "
                "stopped. Go on from its last checkpoint with the same command and --resume.\n"
            )
        errors = self._errors[failed]
        if errors is not None:
            errors.seek(0)
            lines = errors.read().decode("utf-8", "replace").splitlines()[-_MOST_LINES:]
            sys.stderr.writelines(f"worker {failed}: {line}\n" for line in lines)
        return 1

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        self._num_interrupts += 1
        if self._num_interrupts > (1 if number == signal.SIGTERM else 2):
            self._end()
            raise SystemExit(128 + number)
        if self._processes:
            self._processes[0].send_signal(number)

    def _end(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.kill()
        for process in self._processes:
            process.wait()


def linked_clusters(size: int, stack: ExitStack) -> list[Cluster]:
    """Returns what each of some workers on this machine is to know; a socket links each two.

    Args:
        size: Number of workers.
        stack: Closes the sockets here, which is to happen once the workers have started.
    """
    numbers: list[list[int]] = [[] for _ in range(size)]
    for pair in combinations(range(size), 2):
        for rank, end in zip(pair, socket.socketpair(), strict=True):
            numbers[rank].append(stack.enter_context(end).fileno())
    return local_clusters(free_ports(size), numbers)


def start_worker(command: Sequence[str], cluster: Cluster, **options: Any) -> subprocess.Popen[Any]:
    """Starts one of the workers of a cluster on this machine; options are those of `Popen`."""
    cluster = replace(cluster, launcher=os.getpid())
    environment = {**os.environ, VARIABLE: cluster.to_json()}
    return subprocess.Popen(command, env=environment, pass_fds=cluster.sockets, **options)


def free_ports(number: int) -> list[int]:
    """Returns ports that nobody listens on now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("localhost", 0))
        return [each.getsockname()[1] for each in sockets]
