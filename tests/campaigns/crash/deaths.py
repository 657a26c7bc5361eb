"""Ways for a command to end before its time."""

from __future__ import annotations

import os
import random
import resource
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.campaigns.crash.disk import Disk
from tests.campaigns.crash.processes import Process


@dataclass(frozen=True)
class Victim:
    """A command that is to end.

    Attributes:
        process: It runs, or has stopped at a change of a file.
        disk: Where it writes.
        random: Draws what is left open.
    """

    process: Process
    disk: Disk
    random: random.Random


Judge = Callable[[int, str], "str | None"]


@dataclass(frozen=True)
class Way:
    """One way to end.

    Attributes:
        strike: What happens to the command.
        weight: How often, relative to the others.
        judge: Says from exit status and output what is wrong with its end, if anything.
        at_change: Whether it may strike at a change of a file, where the command has stopped.
        in_interpreter: Whether it may strike a new interpreter.
        changes_clock: Whether the clock goes wrong before.
        patience_s: How long to wait for the end before the process is killed; `None` for as long
            as for a process that nothing happens to.
    """

    strike: Callable[[Victim], object]
    weight: float
    judge: Judge = lambda status, said: None
    at_change: bool = True
    in_interpreter: bool = True
    changes_clock: bool = False
    patience_s: float | None = None


def _kill(victim: Victim) -> None:
    victim.process.send(signal.SIGKILL)


def _terminate(victim: Victim) -> None:
    victim.process.send(signal.SIGTERM)


def _interrupt(victim: Victim) -> None:
    victim.process.press_ctrl_c()


def _interrupt_twice(victim: Victim) -> None:
    victim.process.press_ctrl_c()
    time.sleep(0.3 * victim.random.random() ** 2)
    victim.process.press_ctrl_c()


def _fill_disk(victim: Victim) -> None:
    victim.disk.fill(victim.process.pid, victim.random.choice([0, 4096, 16384, 65536]))


def _limit_memory(victim: Victim) -> None:
    pages = int(Path(f"/proc/{victim.process.pid}/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + victim.random.randrange(2**24)
    resource.prlimit(victim.process.pid, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))


def _clean(status: int, said: str, allowed: tuple[int, ...]) -> str | None:
    if status not in allowed:
        return f"ended with {status}"
    return "printed a traceback" if "Traceback" in said else None


def _judge_interrupt(status: int, said: str) -> str | None:
    return _clean(status, said, (0, 130))


def _judge_interrupt_twice(status: int, said: str) -> str | None:
    # In a destructor or a callback, Python says that it drops the second one.
    dropped = said.count("Exception ignored in")
    return _judge_interrupt(status, said.replace("Traceback", "", dropped))


def _judge_full_disk(status: int, said: str) -> str | None:
    problem = _clean(status, said, (0, 1))
    return "did not say why" if problem is None and status and "error: " not in said else problem


WAYS: dict[str, Way] = {
    "kill": Way(_kill, 4),
    "terminate": Way(_terminate, 1.5),
    "interrupt": Way(_interrupt, 1.5, _judge_interrupt),
    "interrupt twice": Way(_interrupt_twice, 1, _judge_interrupt_twice),
    "full disk": Way(_fill_disk, 1.5, _judge_full_disk),
    # A thread may be waited for that could not be started.
    "no memory": Way(_limit_memory, 1, patience_s=60),
    "clock set back": Way(_kill, 1, in_interpreter=False, changes_clock=True),
}


def set_back_files(folder: Path, hours: float) -> None:
    """Gives files the times that they have for a clock that was set back."""
    for path in folder.rglob("*"):
        at = path.stat(follow_symlinks=False).st_mtime + 3600 * hours
        os.utime(path, (at, at), follow_symlinks=False)
