"""The process that runs the cases of a target: what happens to it happens to no other."""

from __future__ import annotations

import json
import mmap
import os
import resource
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from tests.campaigns.fuzz.guard import Guard
from tests.campaigns.fuzz.minimize import minimized
from tests.campaigns.fuzz.target import RESULT, Run, Target, WrongError
from tf_charagram.errors import CharagramError

#: More memory than a child has when it begins is wrong.
MAX_MORE_BYTES = 1 << 30
_MAX_ADDRESSES = 16 << 30
_REPORT_S = 0.2
# What is seen of the process, and not by running a case again.
_NOT_OF_OUTCOME = ("forbidden", "memory")
_HEADER = struct.Struct("qqqd")
_NOTE_BYTES = 4096
_MOST_BYTES = 1 << 22


class Status:
    """What a child says where its parent can read it even after it died.

    That is the case that runs, and what it has not told of those before.
    """

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _HEADER.size + _NOTE_BYTES + _MOST_BYTES)
        self.write(-1, b"", {})

    def write(self, number: int, case: bytes, untold: dict[str, Any]) -> None:
        """Says which case begins."""
        note = json.dumps(untold).encode()
        header = _HEADER.pack(number, len(note), len(case), time.process_time())
        start = _HEADER.size + _NOTE_BYTES
        self._memory[start : start + len(case)] = case
        self._memory[: _HEADER.size + len(note)] = header + note

    def _fields(self) -> tuple[int, int, int, float]:
        return _HEADER.unpack(self._memory[: _HEADER.size])

    @property
    def number(self) -> int:
        """Number of the case, -1 before the first."""
        return self._fields()[0]

    @property
    def began(self) -> float:
        """Processor time of the child when the case began, in seconds."""
        return self._fields()[3]

    @property
    def case(self) -> bytes:
        """The case itself."""
        start = _HEADER.size + _NOTE_BYTES
        return self._memory[start : start + self._fields()[2]]

    @property
    def untold(self) -> dict[str, Any]:
        """What came of the cases before, and was not told."""
        value: dict[str, Any] = json.loads(
            self._memory[_HEADER.size : _HEADER.size + self._fields()[1]]
        )
        return value


class Child:
    """Runs cases and tells a pipe, in lines of JSON, what came of them.

    Args:
        target: What is fuzzed.
        folder: Where it may write.
        status: Says which case runs.
        pipe: File descriptor.
    """

    def __init__(self, target: Target, folder: Path, status: Status, pipe: int) -> None:
        self.target = target
        self.folder = folder
        self.status = status
        self._pipe = os.fdopen(pipe, "w", encoding="utf-8")
        self._counts: Counter[str] = Counter()
        self._bytes = 0
        self._worst = 0.0
        self._reported = time.monotonic()
        self._seen: set[str] = set()

    def run(self, seed: int, first: int, num_bytes: int, num_cases: int) -> None:
        """Runs cases until there were enough bytes and enough cases."""
        os.chdir(self.folder)
        tempfile.tempdir = str(self.folder)
        warnings.simplefilter("error", RuntimeWarning)
        # What the machine needs for others: a case that asks for more gets an error, and is wrong.
        resource.setrlimit(resource.RLIMIT_AS, (_MAX_ADDRESSES, resource.RLIM_INFINITY))
        guard = Guard(self.folder)
        with self.target.open(self.folder) as run:
            # They also import what is needed, and trace graphs.
            self._check_seeds(run, is_first=not first)
            cases = self.target.cases(seed, first)
            number, memory = first, _peak_bytes()
            while num_bytes > 0 or num_cases > 0:
                case = next(cases)
                num_bytes, num_cases = num_bytes - max(len(case), 1), num_cases - 1
                self.status.write(number, case, self._untold())
                start = time.process_time()
                guard.is_on = True
                outcome, problem = self.outcome(run, case)
                guard.is_on = False
                self._worst = max(self._worst, time.process_time() - start)
                if guard.events:
                    problem = f"forbidden: {guard.events[0]}"
                    guard.events.clear()
                if (peak := _peak_bytes()) > memory + MAX_MORE_BYTES:
                    problem = f"memory: {peak / 1e6:,.0f} MB after {memory / 1e6:,.0f} MB"
                    memory = peak
                self._count(number, case, outcome, problem, run)
                number += 1
        self._report()

    def _check_seeds(self, run: Run, is_first: bool) -> None:
        """Checks that changes are made to what is valid."""
        for case in self.target.valid():
            outcome, problem = self.outcome(run, case)
            if outcome != RESULT and is_first:
                problem = problem or self.outcome(lambda case: _raised(run, case), case)[1]
                self._say({"problem": f"no valid seed: {problem}", "case": case})

    def outcome(self, run: Run, case: bytes) -> tuple[str, str]:
        """Returns what came of a case in a word, and what is wrong with that."""
        try:
            return run(case), ""
        except CharagramError as error:
            message = str(error)
            name = type(error).__name__
            if not message.strip() or self.target.in_message not in message:
                return name, f"the message names no {self.target.in_message}: {message!r:.300}"
            return name, ""
        except WrongError as error:
            return "wrong", f"wrong: {error}"
        except BaseException as error:
            return "wrong", f"{type(error).__name__} at {_place(error)}: {error!s:.300}"

    def _count(self, number: int, case: bytes, outcome: str, problem: str, run: Run) -> None:
        self._counts["wrong" if problem else outcome] += 1
        self._bytes += len(case)
        if problem and (kind := _kind(problem)) not in self._seen:
            self._seen.add(kind)

            def is_wrong(part: bytes) -> bool:
                # Watched like any case: a smaller one may hang.
                self.status.write(number, part, self._untold())
                return _kind(self.outcome(run, part)[1]) == kind

            if not problem.startswith(_NOT_OF_OUTCOME):
                case = minimized(case, is_wrong)
            self._say({"problem": problem, "number": number, "case": case})
        if time.monotonic() - self._reported > _REPORT_S:
            self._report()

    def _report(self) -> None:
        self._say(self._untold())
        self._counts, self._bytes = Counter(), 0
        self._reported = time.monotonic()

    def _untold(self) -> dict[str, Any]:
        return {"counts": self._counts, "bytes": self._bytes, "worst": self._worst,
                "peak": _peak_bytes()}  # fmt: skip

    def _say(self, value: dict[str, Any]) -> None:
        if "case" in value:
            value["case"] = value["case"].hex()
        self._pipe.write(json.dumps(value) + "\n")
        self._pipe.flush()


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _kind(problem: str) -> str:
    """Returns what problems of one cause have in common: what is before the details."""
    return problem.partition(": ")[0]


def _raised(run: Run, case: bytes) -> str:
    """Runs a case whose error is no excuse."""
    try:
        return run(case)
    except CharagramError as error:
        raise WrongError(str(error)) from error


def _place(error: BaseException) -> str:
    """Returns the innermost line of this project that an error passed through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [
        f for f in frames if "site-packages" not in f.filename and "/lib/python" not in f.filename
    ]
    last = (ours or frames)[-1]
    return f"{Path(last.filename).name}:{last.lineno}"


def main_of_child(child: Child, *arguments: int) -> None:
    """Runs a child to its end, and ends the process."""
    status = 70
    try:
        child.run(*arguments)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # Threads of TensorFlow need not be waited for.
        os._exit(status)
