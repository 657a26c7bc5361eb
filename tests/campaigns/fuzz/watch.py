"""The parent of the processes that run cases: starts them, watches them, and says what they did."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.campaigns.fuzz.child import Child, Status, main_of_child
from tests.campaigns.fuzz.target import Target

#: Processor time of a case, in seconds, that counts as a hang.
HANG_S = 5.0
# A case that waits for something needs no processor, and none of its threads asks for one.
_WAIT_S = 60.0
_TICK_S = 0.05
_MOST_DEATHS = 20
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass
class Findings:
    """What came of the cases of one target.

    Attributes:
        target: Its name.
        counts: Outcome -> number of cases.
        num_bytes: Their bytes.
        worst_s: Most processor time of a case.
        peak_bytes: Most memory of a process.
        seconds: How long it took.
        problems: What is wrong, and the case that shows it.
    """

    target: str
    counts: Counter[str] = field(default_factory=Counter)
    num_bytes: int = 0
    worst_s: float = 0.0
    peak_bytes: int = 0
    seconds: float = 0.0
    problems: list[tuple[str, bytes]] = field(default_factory=list)

    def add(self, line: dict[str, Any]) -> None:
        """Adds what a child said."""
        if "problem" in line:
            self.problems.append((line["problem"], bytes.fromhex(line["case"])))
            return
        self.counts.update(line["counts"])
        self.num_bytes += line["bytes"]
        self.worst_s = max(self.worst_s, line["worst"])
        self.peak_bytes = max(self.peak_bytes, line["peak"])


def watched(target: Target, seed: int, num_bytes: int) -> Findings:
    """Runs the cases of a target in processes of their own, a new one after each that dies."""
    findings, start, first = Findings(target.name), time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        outside = Path(folder)
        (outside / "decoy").write_text("untouched")
        while len(findings.problems) < _MOST_DEATHS:
            inside = outside / "inside"
            inside.mkdir(exist_ok=True)
            left = max(num_bytes - findings.num_bytes, 0), max(target.least_cases - first, 0)
            if first and not any(left):
                break
            first, problem, case = _watch(target, inside, seed, first, left, findings)
            if problem:
                findings.problems.append((problem, case))
                findings.counts["wrong"] += 1
                findings.num_bytes += len(case)
            if not problem or not first:
                break
        if sorted(path.name for path in outside.iterdir()) != ["decoy", "inside"]:
            findings.problems.append(("wrote outside its folder", b""))
        if (outside / "decoy").read_text() != "untouched":
            findings.problems.append(("changed a file outside its folder", b""))
    findings.seconds = time.monotonic() - start
    return findings


def _watch(
    target: Target, folder: Path, seed: int, first: int, left: tuple[int, int], findings: Findings
) -> tuple[int, str, bytes]:
    """Runs one child; returns the case to go on with, and what ended the child too early."""
    status = Status()
    read, write = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if not pid:
        os.close(read)
        main_of_child(Child(target, folder, status, write), seed, first, *left)
    os.close(write)
    problem, text = "", b""
    number, since = -2, time.monotonic()
    try:
        while True:
            ready, _, _ = select.select([read], [], [], _TICK_S)
            if ready:
                if not (chunk := os.read(read, 1 << 16)):
                    break
                *lines, text = (text + chunk).split(b"\n")
                for line in lines:
                    findings.add(json.loads(line))
            if status.number != number or not _is_waiting(pid):
                number, since = status.number, time.monotonic()
            if number >= 0 and (used := _processor_s(pid) - status.began) > HANG_S:
                problem = f"hang: {used:.1f} s of processor time"
            elif time.monotonic() - since > _WAIT_S:
                problem = f"hang: waits for more than {_WAIT_S:.0f} s"
            if problem:
                os.kill(pid, signal.SIGKILL)
                break
    finally:
        os.close(read)
    _, ended = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(ended)
    if code or problem:
        findings.add(status.untold or {"counts": {}, "bytes": 0, "worst": 0, "peak": 0})
    if code and not problem:
        how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        problem = f"crash: the process ended with {how}"
    return status.number + 1, problem, status.case


def _processor_s(pid: int) -> float:
    """Returns the processor time that a process has used, in seconds."""
    fields = _stat(Path(f"/proc/{pid}/stat"))
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S if fields else 0.0


def _is_waiting(pid: int) -> bool:
    """Returns whether all threads sleep; one that may run but is not let to, or is stopped, not."""
    states = {fields[0] for path in Path(f"/proc/{pid}/task").glob("*/stat")
              if (fields := _stat(path))}  # fmt: skip
    return states <= {"S"}


def _stat(path: Path) -> list[str]:
    """Returns what the system says of a process or a thread after its name; empty if it is gone."""
    try:
        return path.read_text().rpartition(")")[2].split()
    except OSError:
        return []
