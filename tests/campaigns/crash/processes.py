"""Runs a command in a process of its own that can be stopped at a chosen moment.

Most are forked from this process, which has imported TensorFlow and the package and executed no
operation yet: a fork of a process with threads that compute would hang. That saves the four
seconds of processor time that a new interpreter needs to begin.
"""

from __future__ import annotations

import mmap
import os
import select
import signal
import struct
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

#: Loaded before the first fork; commands import these when they run.
_PRELOADED = (
    "faiss", "pyarrow.parquet", "scipy.stats", "tensorboard", "tf_charagram.bulk.run",
    "tf_charagram.embed", "tf_charagram.export.command", "tf_charagram.export.serving.version",
    "tf_charagram.cli.index", "tf_charagram.search.text_index", "tf_charagram.train",
    "tf_charagram.training.run", "tf_charagram.tuning.command", "tf_charagram.tuning.running",
)  # fmt: skip
#: Audit events of Python that change a folder; `open` counts if it is for writing.
_CHANGES = {"os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.truncate", "shutil.rmtree"}
_WRITING = os.O_WRONLY | os.O_RDWR


def preload() -> None:
    """Imports what the commands need, so that forked processes have it."""
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    for name in _PRELOADED:
        import_module(name)


@dataclass(frozen=True)
class Clock:
    """A clock that is wrong.

    Attributes:
        start_hours: By how much from the start.
        jump_hours: By how much more after `jump_s` seconds.
        jump_s: See `jump_hours`.
    """

    start_hours: float = 0.0
    jump_hours: float = 0.0
    jump_s: float = 0.0

    def set(self) -> None:
        """Makes this process believe it."""
        right, jump = time.time, time.monotonic() + self.jump_s

        def wrong() -> float:
            hours = self.start_hours + self.jump_hours * (time.monotonic() >= jump)
            return right() + 3600 * hours

        time.time = wrong


@dataclass(frozen=True)
class Launch:
    """What is started.

    Attributes:
        arguments: The command line of `charagram`.
        folder: Where it runs.
        log: File that gets what it prints.
        is_fresh: Whether in a new interpreter.
        prepare: Called in the process before the command; not in a new interpreter.
        clock: Likewise.
        at_change: Stop before the n-th change of a file, counted from 1, until `go_on`; likewise.
    """

    arguments: Sequence[str]
    folder: Path
    log: Path
    is_fresh: bool = False
    prepare: Callable[[], None] | None = None
    clock: Clock | None = None
    at_change: int | None = None


class Process:
    """A running command, in a process group of its own.

    Attributes:
        status: Its exit status, the number of a signal negative; `None` while it runs.
        started: When, by the monotonic clock.
    """

    def __init__(self, launch: Launch) -> None:
        self.status: int | None = None
        self._launch = launch
        self._log_start = launch.log.stat().st_size if launch.log.exists() else 0
        self._counter = mmap.mmap(-1, 8)
        self._reached, tell = os.pipe()
        wait, self._go = os.pipe()
        self.started = time.monotonic()
        if launch.is_fresh:
            self.pid = self._start_interpreter()
        else:
            self.pid = os.fork()
            if self.pid == 0:
                _become(launch, self._counter, tell, wait)
        os.close(tell)
        os.close(wait)

    def _start_interpreter(self) -> int:
        line = [sys.executable, "-m", "tf_charagram.cli", *self._launch.arguments]
        # Where `nohup` or cron has it ignored, Ctrl-C would never arrive.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            with open(self._launch.log, "ab") as log:
                child = subprocess.Popen(
                    line, cwd=self._launch.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    process_group=0,
                )  # fmt: skip
        finally:
            signal.signal(signal.SIGINT, before)
        # Waited for by number, as what was forked.
        child.returncode = 0
        return child.pid

    @property
    def num_changes(self) -> int:
        """Changes of files so far."""
        return struct.unpack("q", self._counter[:])[0]

    def wait(self, timeout_s: float) -> bool:
        """Waits for its end; returns whether it came."""
        end = time.monotonic() + timeout_s
        while self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
            elif time.monotonic() >= end:
                return False
            else:
                time.sleep(0.002)
        return True

    @property
    def processor_s(self) -> float:
        """Processor time that it has used, in seconds; 0 once it has ended.

        Unlike the time of day, it says how far the command is whatever else the machine does.
        """
        try:
            # The clock of another process, as `clock_getcpuclockid` of the C library names it.
            return time.clock_gettime((~self.pid << 3) | 2)
        except OSError:
            return 0.0

    def wait_for(self, has_come: Callable[[], bool]) -> bool:
        """Waits for a moment; returns whether it still runs then."""
        while not has_come():
            if self.wait(0.002):
                return False
        return not self.wait(0)

    def has_stopped(self) -> bool:
        """Returns whether it is at the change to stop at."""
        return bool(select.select([self._reached], [], [], 0)[0])

    def go_on(self) -> None:
        """Lets it go on from the change where it stopped."""
        with suppress(BrokenPipeError):  # It is dead.
            os.write(self._go, b"x")

    def send(self, number: int) -> None:
        """Sends it a signal."""
        if not self.wait(0):
            os.kill(self.pid, number)

    def press_ctrl_c(self) -> None:
        """Sends it, and what it has started, what a terminal sends."""
        if not self.wait(0):
            os.killpg(self.pid, signal.SIGINT)

    def said(self) -> str:
        """Returns what it has printed."""
        with open(self._launch.log, "rb") as file:
            file.seek(self._log_start)
            return file.read().decode(errors="replace")

    def close(self) -> None:
        """Kills it if it still runs, and frees what it took here."""
        self.send(signal.SIGKILL)
        self.wait(60)
        os.close(self._reached)
        os.close(self._go)
        self._counter.close()


def _become(launch: Launch, counter: mmap.mmap, tell: int, wait: int) -> None:
    """Runs the command in this process, which was just forked, and ends it."""
    status = 70
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _redirect(launch.log)
        os.chdir(launch.folder)
        if launch.prepare is not None:
            launch.prepare()
        if launch.clock is not None:
            launch.clock.set()
        _count_changes(launch.folder, counter, launch.at_change, tell, wait)
        status = import_module("tf_charagram.cli").main(list(launch.arguments))
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except KeyboardInterrupt:
        status = 130
    except BaseException:
        traceback.print_exc()
        status = 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(status)


def _redirect(log: Path) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    target = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for source, number in ((nothing, 0), (target, 1), (target, 2)):
        os.dup2(source, number)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)


def _count_changes(
    folder: Path, counter: mmap.mmap, at_change: int | None, tell: int, wait: int
) -> None:
    """Counts the changes of files in a folder; stops at one of them until told to go on."""
    prefix = f"{folder}/"

    def look(event: str, arguments: tuple[object, ...]) -> None:
        if event not in _CHANGES and not (event == "open" and arguments[2] & _WRITING):  # type: ignore[operator]
            return
        path = arguments[0]
        if not isinstance(path, str | Path) or (
            os.path.isabs(path) and not str(path).startswith(prefix)
        ):
            return
        number = struct.unpack("q", counter[:])[0] + 1
        counter[:] = struct.pack("q", number)
        if number == at_change:
            os.write(tell, b"x")
            os.read(wait, 1)

    sys.addaudithook(look)
