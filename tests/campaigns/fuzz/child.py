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
_HEADER = struct.Struct("qqdd")


class Status:
    """What a child says where its parent can read it even after it died: the case that runs.

    Args:
        most: Longest case.
    """

    def __init__(self, most: int = 1 << 22) -> None:
        self._memory = mmap.mmap(-1, _HEADER.size + most)
        self.write(-1, b"")

    def write(self, number: int, case: bytes) -> None:
        """Says which case begins."""
        self._memory[: _HEADER.size] = _HEADER.pack(number, len(case), time.process_time(), 0.0)
        self._memory[_HEADER.size : _HEADER.size + len(case)] = case

    @property
    def number(self) -> int:
        """Number of the case, -1 before the first."""
        return int(_HEADER.unpack(self._memory[: _HEADER.size])[0])

    @property
    def began(self) -> float:
        """Processor time of the child when the case began, in seconds."""
        return float(_HEADER.unpack(self._memory[: _HEADER.size])[2])

    @property
    def case(self) -> bytes:
        """The case itself."""
        size = _HEADER.unpack(self._memory[: _HEADER.size])[1]
        return self._memory[_HEADER.size : _HEADER.size + size]


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
            if not first:
                self._check_seeds(run)
            cases = self.target.cases(seed, first)
            number, memory = first, None
            while num_bytes > 0 or num_cases > 0:
                case = next(cases)
                num_bytes, num_cases = num_bytes - max(len(case), 1), num_cases - 1
                self.status.write(number, case)
                start = time.process_time()
                guard.is_on = True
                outcome, problem = self.outcome(run, case)
                guard.is_on = False
                self._worst = max(self._worst, time.process_time() - start)
                if guard.events:
                    problem = f"forbidden: {guard.events[0]}"
                    guard.events.clear()
                # The first case imports what is needed and traces graphs.
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
                if memory is not None and peak > memory + MAX_MORE_BYTES:
                    problem = f"memory: {peak / 1e6:,.0f} MB after {memory / 1e6:,.0f} MB"
                memory = peak if memory is None or problem.startswith("memory") else memory
                self._count(number, case, outcome, problem, run)
                number += 1
        self._report()

    def _check_seeds(self, run: Run) -> None:
        """Checks that changes are made to what is valid."""
        for case in self.target.valid():
            outcome, problem = self.outcome(run, case)
            if outcome != RESULT:
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
            is_wrong = lambda part: _kind(self.outcome(run, part)[1]) == kind  # noqa: E731
            self._say({"problem": problem, "number": number, "case": minimized(case, is_wrong)})
        if time.monotonic() - self._reported > _REPORT_S:
            self._report()

    def _report(self) -> None:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        self._say({"counts": self._counts, "bytes": self._bytes, "worst": self._worst,
                   "peak": peak})  # fmt: skip
        self._counts, self._bytes = Counter(), 0
        self._reported = time.monotonic()

    def _say(self, value: dict[str, Any]) -> None:
        if "case" in value:
            value["case"] = value["case"].hex()
        self._pipe.write(json.dumps(value) + "\n")
        self._pipe.flush()


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
