"""Feeds changed and random bytes to everything that reads bytes.

    python -m tests.campaigns.fuzz --cases 10000 --seed 7

Each target runs in a process of its own. Wrong is: any error but those of the package, an error that does not name
the file, a wrong result, a crash, a hang, starting a program, and writing outside the folder of the target.
"""  # noqa: E501

from __future__ import annotations

import argparse
import importlib
import json
import logging
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.campaigns.mutations import mutated
from tf_charagram.errors import CharagramError

RESULT = "result"
#: A case may take this much processor time, and this much time in all.
MAX_PROCESSOR_S, MAX_S = 5.0, 60
_MAX_BYTES = 16 << 30
_MAX_DEATHS = 10
_FORBIDDEN = {
    "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty",
    "subprocess.Popen", "ctypes.dlopen", "pty.spawn", "webbrowser.open", "os.chown",
}  # fmt: skip
_CHANGES = {
    "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate",
    "os.chmod", "shutil.rmtree",
}  # fmt: skip
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Imported before processes fork, so that each has TensorFlow; none has run an operation by then.
_MODULES = (
    "tensorflow", "tensorflow_text", "tf_charagram.models.embedder",
    "tf_charagram.models._storage.locations", "tests.campaigns.targets",
)  # fmt: skip

#: Runs one case; returns the outcome in a word.
Run = Callable[[bytes], str]


class WrongError(Exception):
    """The result of a case is wrong."""


def check(condition: object, problem: str) -> None:
    """Raises `WrongError` unless a condition holds."""
    if not condition:
        raise WrongError(problem)


@dataclass(frozen=True)
class Target:
    """Something that reads bytes.

    Attributes:
        name: Its name; the part before the first dot is its group.
        prepare: Given a folder, returns the function that runs a case; called in the process.
        seeds: Valid inputs, or a function that makes them in the process.
        tokens: Pieces that mean something in the format.
        in_message: Text that the message of an error must contain, such as the file.
        share: Share of the cases of a campaign.
        make: Makes a case in another way than by mutating a seed.
    """

    name: str
    prepare: Callable[[Path], Run]
    seeds: Sequence[bytes] | Callable[[], Sequence[bytes]] = ()
    tokens: Sequence[bytes] = ()
    in_message: str = ""
    share: float = 1.0
    make: Callable[[Random, Sequence[bytes]], bytes] | None = None

    def cases(self, seed: int, first: int) -> Iterator[bytes]:
        """Yields the cases from one on; each depends only on the seed and its number."""
        seeds = self.seeds() if callable(self.seeds) else self.seeds
        number = first
        while True:
            random = Random(f"{self.name} {seed} {number}")
            yield self.make(random, seeds) if self.make else mutated(seeds, self.tokens, random)
            number += 1


@dataclass
class Findings:
    """Outcomes of the cases of a target, and problems with the cases that show them."""

    target: str
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[tuple[str, bytes]] = field(default_factory=list)


class Guard:
    """Records forbidden events while it is on: programs started, files written outside a folder."""

    def __init__(self, folder: Path) -> None:
        self.is_on = False
        self.events: list[str] = []
        self._folder = os.path.realpath(folder) + os.sep
        sys.addaudithook(self._look)

    def _look(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.is_on:
            return
        if event in _FORBIDDEN:
            self.events.append(f"{event} {arguments!r:.200}")
        elif event in _CHANGES or (event == "open" and arguments[2] & _WRITES):
            for path in arguments[: 2 if event in _CHANGES else 1]:
                if isinstance(path, str | bytes) and os.fsdecode(path) != os.devnull:
                    if not (os.path.realpath(os.fsdecode(path)) + os.sep).startswith(self._folder):
                        self.events.append(f"{event} of {path!r}, outside {self._folder}")


def run_target(target: Target, seed: int, num_cases: int) -> Findings:
    """Runs the cases of a target; starts a new process after one that died."""
    findings, first = Findings(target.name), 0
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        outside = Path(name)
        (outside / "inside").mkdir()
        # The case that runs, for the parent to read if it is the last one.
        current = os.open(outside, os.O_TMPFILE | os.O_RDWR)
        while first < num_cases and len(findings.problems) < _MAX_DEATHS:
            read, write = os.pipe()
            sys.stdout.flush()
            if not (pid := os.fork()):
                os.close(read)
                _become(target, outside / "inside", seed, range(first, num_cases), write, current)
            os.close(write)
            with open(read, encoding="utf-8") as lines:
                for line in map(json.loads, lines):
                    findings.counts.update(line["counts"])
                    findings.problems += [(p, bytes.fromhex(case)) for p, case in line["problems"]]
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            if not code:
                break
            number, _, case = os.pread(current, 1 << 24, 0).partition(b" ")
            if not number:
                findings.problems.append((f"not a single case ran: exit status {code}", b""))
                break
            first = int(number) + 1
            how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
            kind = "hang" if how in ("SIGPROF", "SIGALRM") else "crash"
            findings.problems.append((f"{kind}: the process ended with {how}", case))
            findings.counts["wrong"] += 1
        os.close(current)
        if [path.name for path in outside.iterdir()] != ["inside"]:
            findings.problems.append(("wrote outside its folder", b""))
    return findings


def _become(
    target: Target, folder: Path, seed: int, numbers: range, pipe: int, current: int
) -> None:
    """Runs cases in this process, which was just forked, and ends it."""
    status = 70
    try:
        _run_cases(target, folder, seed, numbers, pipe, current)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _run_cases(
    target: Target, folder: Path, seed: int, numbers: range, pipe: int, current: int
) -> None:
    os.chdir(folder)
    tempfile.tempdir = str(folder)
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_BYTES, resource.RLIM_INFINITY))
    guard = Guard(folder)
    run = target.prepare(folder)
    if numbers.start == 0:
        # Also imports modules and traces graphs before cases are timed.
        for valid in target.seeds() if callable(target.seeds) else target.seeds:
            outcome, problem = outcome_of(target, run, valid)
            if outcome != RESULT:
                _tell(pipe, {}, [(f"a valid input gives {outcome}: {problem}", valid.hex())])
    cases, seen = target.cases(seed, numbers.start), set()
    for number in numbers:
        case = next(cases)
        os.ftruncate(current, 0)
        os.pwrite(current, f"{number} ".encode() + case, 0)
        # Their default action ends the process, also inside of C++.
        signal.setitimer(signal.ITIMER_PROF, MAX_PROCESSOR_S)
        signal.alarm(MAX_S)
        guard.is_on = True
        outcome, problem = outcome_of(target, run, case)
        guard.is_on = False
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        if guard.events:
            problem = f"forbidden: {guard.events[0]}"
            guard.events.clear()
        kind = problem.partition(": ")[0]
        is_new = problem and kind not in seen
        seen.add(kind)
        _tell(pipe, {"wrong" if problem else outcome: 1}, [(problem, case.hex())] * bool(is_new))


def _tell(pipe: int, counts: dict[str, int], problems: list[tuple[str, str]]) -> None:
    line = json.dumps({"counts": counts, "problems": problems}).encode() + b"\n"
    while line:
        line = line[os.write(pipe, line) :]


def outcome_of(target: Target, run: Run, case: bytes) -> tuple[str, str]:
    """Runs a case; returns its outcome in a word, and its problem."""
    try:
        return run(case), ""
    except CharagramError as error:
        name, message = type(error).__name__, str(error)
        if not message.strip() or target.in_message not in message:
            return name, f"the message does not name {target.in_message}: {message!r:.300}"
        return name, ""
    except WrongError as error:
        return "wrong", f"wrong: {error}"
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [f for f in frames if "/lib/python" not in f.filename] or frames
        place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
        return "wrong", f"{type(error).__name__} at {place}: {error!s:.300}"


def targets_of(names: Sequence[str]) -> list[Target]:
    """Returns the targets of some names or groups; all if there are no names."""
    targets = importlib.import_module("tests.campaigns.targets").TARGETS
    known = {target.name for target in targets} | {t.name.partition(".")[0] for t in targets}
    if unknown := set(names) - known:
        raise SystemExit(f"unknown targets {sorted(unknown)}; there are: {' '.join(sorted(known))}")
    wanted = {*names} or known
    return [t for t in targets if not wanted.isdisjoint((t.name, t.name.partition(".")[0]))]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the campaign; returns 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=100, help="cases of each target, about")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same cases")
    parser.add_argument("--targets", nargs="+", default=[], help="names or groups [all]")
    parser.add_argument("--failures", type=Path, default=Path("fuzz-failures"))
    values = parser.parse_args(arguments)
    logging.getLogger("tf_charagram").setLevel(logging.ERROR)
    os.environ.update(TF_NUM_INTRAOP_THREADS="1", TF_CPP_MIN_LOG_LEVEL="3")
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    for name in _MODULES:
        importlib.import_module(name)
    num_problems = 0
    for target in targets_of(values.targets):
        num_cases = max(int(values.cases * target.share), 5)
        findings = run_target(target, values.seed, num_cases)
        counts = ", ".join(f"{count} {name}" for name, count in findings.counts.most_common())
        print(f"{target.name:28} {findings.counts.total():7}  {counts}", flush=True)
        for number, (problem, case) in enumerate(findings.problems):
            path = values.failures / target.name / str(number)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(case)
            print(f"  {path}: {problem}", flush=True)
        num_problems += len(findings.problems)
    return int(num_problems > 0)


if __name__ == "__main__":
    # Targets import this module by its name.
    sys.exit(importlib.import_module("tests.campaigns.fuzz").main())
