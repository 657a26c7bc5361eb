"""Ends commands at random moments, resumes them, and compares the result with an undisturbed run.

    python -m tests.campaigns.crash --rounds 1000 --seed 18

In each round a command is killed, terminated, interrupted, or its disk filled, up to three times: after a random share
of its time, or right before one of its changes to files. Then it is resumed and left to end. What it
wrote must be the same as without any of this, to the bit, and at each death all files must be readable.
"""  # noqa: E501

from __future__ import annotations

import argparse
import json
import mmap
import os
import random
import re
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tests.texts import words, write_pairs, write_scored

_PATIENCE_S = 1200.0
# Commands are forked from this process, which has imported these and run no operation: it saves the
# seconds that a new interpreter needs.
_PRELOADED = (
    "tf_charagram.train", "tf_charagram.cli.embed", "tf_charagram.training.run",
    "tf_charagram.tuning.command", "tf_charagram.bulk.run",
)  # fmt: skip
# Audit events that change a folder; `open` counts if it is for writing.
_CHANGES = {"os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.truncate", "shutil.rmtree"}
_WRITING = os.O_WRONLY | os.O_RDWR


_TRAIN = "train {} --seed 3 --checkpoint-every-s 0 --output out"
_SCORED = "--eval-data {inputs}/scored.tsv"
_PAIRS = "--data {inputs}/pairs.tsv " + _SCORED
#: Command lines, which `--resume` resumes; `{inputs}` stands for the folder of their inputs.
SCENARIOS = {
    "words": _TRAIN.format(
        f"{_PAIRS} --dim 8 --epochs 2 --evaluations-per-epoch 3 --batch-size 50 --select scored"
    ),
    "sentences": _TRAIN.format(
        f"--task sentences {_PAIRS} --dim 8 --epochs 2 --batch-size 50 --typos 0.3"
    ),
    "pos": _TRAIN.format(
        "--task pos --data {inputs}/tagged.tsv --eval-data {inputs}/tagged.tsv --dim 8 "
        "--hidden-dim 4 --epochs 2 --batch-size 20"
    ),
    "similarity": _TRAIN.format("--task similarity --dim 8 --hidden-dim 6 --epochs 1"),
    "distill": _TRAIN.format(
        f"--task distill --data {{inputs}}/lines.txt {_SCORED} --epochs 2 --batch-size 100 "
        "--teacher {inputs}/vectors.npy"
    ),
    "tune": f"tune {_PAIRS} --dim 6 --batch-size 300 --select scored --negatives max "
    "--max-trials 3 --epochs 1 --keep 1 --finish 1 --checkpoint-every-s 0 --output out",
    "embed to shards": "embed {inputs}/run --input {inputs}/lines.txt --shard-lines 20 "
    "--output out",
}


def write_inputs(folder: Path) -> None:
    """Writes the files that the commands read, and trains a model for those that need one."""
    folder.mkdir()
    draw = random.Random(0)
    write_pairs(folder / "pairs.tsv", 1500)
    write_scored(folder / "scored.tsv", 40)
    nouns = words(60, 1)
    verbs = ["runs", "sees", "slept"]
    tagged = [f"the\tDT\n{noun}\tNN\n{draw.choice(verbs)}\tVB\n\n" for noun in nouns * 3]
    (folder / "tagged.tsv").write_text("".join(tagged))
    lines = [" ".join(draw.choices(nouns, k=draw.randint(1, 6))) for _ in range(1000)]
    (folder / "lines.txt").write_text("".join(f"{line}\n" for line in lines))
    counts = [[line.count(letter) for letter in "abcdefgh"] for line in lines]
    np.save(folder / "vectors.npy", 1 + np.array(counts, np.float32))
    line = "train --data pairs.tsv --eval-data scored.tsv --dim 8 --epochs 1 --seed 3 --output run"
    run_to_the_end(line.split(), folder, folder / "log.txt")


class Process:
    """A command, forked from this process into a process group of its own.

    Args:
        arguments: Command line of `charagram`.
        folder: Where it runs.
        log: Gets its output.
        at_change: Stop before this change of a file, counted from 1.
    """

    def __init__(
        self, arguments: Sequence[str], folder: Path, log: Path, at_change: int = 0
    ) -> None:
        self.status: int | None = None
        self._log = log
        # The number of changes, and whether it has stopped at one.
        self._shared = mmap.mmap(-1, 16)
        self.started = time.monotonic()
        self.pid = os.fork()
        if not self.pid:
            _become(arguments, folder, log, self._shared, at_change)

    @property
    def num_changes(self) -> int:
        return struct.unpack("qq", self._shared[:])[0]

    @property
    def has_stopped(self) -> bool:
        return bool(struct.unpack("qq", self._shared[:])[1])

    def wait(self, timeout_s: float) -> bool:
        """Waits for its end; returns whether it has ended."""
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

    def send(self, number: int) -> None:
        """Sends it a signal; Ctrl-C also to the processes it started, as a terminal does."""
        if not self.wait(0):
            (os.killpg if number == signal.SIGINT else os.kill)(self.pid, number)

    def go_on(self) -> None:
        """Continues a process that stopped at a change."""
        self._shared[8] = 0

    def said(self) -> str:
        return self._log.read_text(errors="replace")


def _become(
    arguments: Sequence[str], folder: Path, log: Path, shared: mmap.mmap, at_change: int
) -> None:
    """Runs a command in this process, which was just forked, and ends it."""
    status = 70
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        target = os.open(log, os.O_WRONLY | os.O_TRUNC | os.O_CREAT)
        for source, number in ((os.open(os.devnull, os.O_RDONLY), 0), (target, 1), (target, 2)):
            os.dup2(source, number)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)
        os.chdir(folder)
        sys.addaudithook(lambda event, values: _look(event, values, folder, shared, at_change))
        status = import_module("tf_charagram.cli").main(list(arguments))
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


def _look(
    event: str, values: tuple[Any, ...], folder: Path, shared: mmap.mmap, at_change: int
) -> None:
    """Counts changes of files in a folder, and stops the process at one of them."""
    if event not in _CHANGES and not (event == "open" and values[2] & _WRITING):
        return
    path = values[0]
    if isinstance(path, str | Path) and Path(folder, path).is_relative_to(folder):
        number = struct.unpack("qq", shared[:])[0] + 1
        shared[:] = struct.pack("qq", number, number == at_change)
        while shared[8]:
            time.sleep(0.001)


def run_to_the_end(arguments: Sequence[str], folder: Path, log: Path) -> tuple[float, int]:
    """Runs a command undisturbed; returns its seconds and the number of changes of files."""
    process = Process(arguments, folder, log)
    process.wait(_PATIENCE_S)
    if process.status != 0:
        raise RuntimeError(f"charagram {' '.join(arguments)}: {process.said()[-2000:]}")
    return time.monotonic() - process.started, process.num_changes


def _fill_disk(process: Process) -> None:
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))


#: Ways to end a command, and the exit statuses that it may have then; `None` for any.
WAYS: dict[str, tuple[Callable[[Process], None], tuple[int, ...] | None]] = {
    "kill": (lambda process: process.send(signal.SIGKILL), None),
    "terminate": (lambda process: process.send(signal.SIGTERM), None),
    "interrupt": (lambda process: process.send(signal.SIGINT), (0, 130)),
    "full disk": (_fill_disk, (0, 1)),
}


@dataclass(frozen=True)
class Death:
    """How and when a command ends: at a share of its time, or of its changes of files."""

    way: str
    moment: float
    at_change: bool


def make_plan(number: int, seed: int, scenarios: Sequence[str]) -> tuple[str, list[Death]]:
    """Draws the scenario and the deaths of a round; they depend only on the arguments."""
    draw = random.Random(f"{seed}/{number}")
    scenario = draw.choice(scenarios)
    ways = draw.choices([*WAYS], [3, 1, 1, 1], k=draw.choice((1, 1, 1, 2, 3)))
    return scenario, [Death(way, draw.random(), draw.random() < 0.5) for way in ways]


@dataclass
class Campaign:
    """Runs rounds in a folder, which keeps what failed."""

    folder: Path
    problems: list[str] = field(default_factory=list)
    _undisturbed: dict[str, tuple[float, int]] = field(default_factory=dict)

    def run(self, number: int, name: str, deaths: Sequence[Death]) -> list[str]:
        """Runs a round; returns its problems."""
        first = SCENARIOS[name].format(inputs=self.folder / "inputs").split()
        expected = self.folder / name
        if name not in self._undisturbed:
            expected.mkdir()
            self._undisturbed[name] = run_to_the_end(first, expected, self.folder / "log.txt")
        place = self.folder / f"round-{number}"
        place.mkdir()
        log, problems, arguments = self.folder / f"round-{number}.txt", [], first
        for death in deaths:
            problems += self._strike(name, death, arguments, place, log)
            problems += damage(place)
            arguments = [*first, "--resume"]
        process = Process(arguments, place, log)
        if not process.wait(_PATIENCE_S) or process.status:
            process.send(signal.SIGKILL)
            return [*problems, f"resumed: {process.status}, {process.said()[-300:]}"]
        problems += differences(place, expected)
        if not problems:
            shutil.rmtree(place)
        return problems

    def _strike(
        self, name: str, death: Death, arguments: Sequence[str], place: Path, log: Path
    ) -> list[str]:
        seconds, num_changes = self._undisturbed[name]
        at_change = 1 + int(death.moment * num_changes) if death.at_change else 0
        process = Process(arguments, place, log, at_change)

        def has_come() -> bool:
            if death.at_change:
                return process.has_stopped
            return time.monotonic() - process.started >= death.moment * seconds

        while not has_come() and not process.wait(0.002):
            pass
        strike, allowed = WAYS[death.way]
        is_alive = not process.wait(0)
        if is_alive:
            strike(process)
            process.go_on()
        if not process.wait(_PATIENCE_S):
            process.send(signal.SIGKILL)
            return [f"{death.way}: it hangs"]
        if not is_alive or allowed is None:
            return []
        said = process.said()
        problems = [] if process.status in allowed else [f"{death.way}: status {process.status}"]
        if "Traceback" in said:
            problems.append(f"{death.way}: {said[said.index('Traceback') :][:2000]}")
        return problems


# Contents that depend on time, and files that do.
_OF_TIME = re.compile(r"seconds|per_second|memory|size_bytes")
_OF_PROCESS = ("*events.out.tfevents.*", "*checkpoints/*")
_IGNORED = ("*fingerprint.pb", "*saved_model.pb", "*.png", "*log.txt", "*oracle/*", "*.md", "*.csv")


def files_of(folder: Path) -> dict[str, Path]:
    """Returns the files in a folder by their relative names."""
    paths = [path for path in sorted(folder.rglob("*")) if not path.is_dir()]
    return {path.relative_to(folder).as_posix(): path for path in paths}


def damage(folder: Path) -> list[str]:
    """Returns the files under their final names that cannot be read."""
    problems = []
    for name, path in files_of(folder).items():
        if any(part.startswith(".") for part in name.split("/")):
            continue
        try:
            if path.suffix == ".json":
                json.loads(path.read_text(encoding="utf-8"))
            elif path.suffix in (".npy", ".npz"):
                with open(path, "rb") as file:
                    arrays = np.load(file)
                    for array in arrays if path.suffix == ".npz" else ():
                        arrays[array]
        except Exception as error:
            problems.append(f"{name} is damaged: {error!r}")
    return problems


def differences(found: Path, expected: Path) -> list[str]:
    """Returns the differences between two folders, except for those that depend on time."""
    new, old = map(_compared_files, (found, expected))
    problems = [f"{name} is missing" for name in old.keys() - new.keys()]
    problems += [f"{name} is left over" for name in new.keys() - old.keys()]
    for name in sorted(old.keys() & new.keys()):
        if any(fnmatch(name, pattern) for pattern in _IGNORED):
            continue
        if _content(new[name]) != _content(old[name]):
            problems.append(f"{name} differs")
    for checkpoints in found.rglob("checkpoints"):
        whole = {path.stem for path in checkpoints.glob("*.index")}
        names = {path.name for path in checkpoints.iterdir()}
        if len(whole) > 2 or any(name.split(".")[0] not in whole for name in names):
            problems.append(f"checkpoints are left over: {sorted(names)}")
    return sorted(problems)


def _compared_files(folder: Path) -> dict[str, Path]:
    return {name: path for name, path in files_of(folder).items()
            if not any(fnmatch(name, pattern) for pattern in _OF_PROCESS)}  # fmt: skip


def _content(path: Path) -> Any:
    """Returns the bytes of a file; of JSON, the values that do not depend on time."""
    if path.suffix not in (".json", ".jsonl"):
        return path.read_bytes()
    text = path.read_text(encoding="utf-8")
    values = [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else [
        json.loads(text)
    ]  # fmt: skip
    return [_without_time(value) for value in values]


def _without_time(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_time(part) for key, part in value.items() if not _OF_TIME.search(key)}
    if isinstance(value, list):
        return [_without_time(part) for part in value]
    # The mean loss is summed in two parts if a run was resumed.
    return float(f"{value:.3g}") if isinstance(value, float) else value


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the campaign; returns 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.crash", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0, help="seed of the choices in each round")
    parser.add_argument("--only", type=int, metavar="ROUND", help="repeat this round only")
    parser.add_argument("--scenario", nargs="+", choices=list(SCENARIOS), metavar="NAME")
    values = parser.parse_args(arguments)
    os.environ.update(CUDA_VISIBLE_DEVICES="-1", TF_CPP_MIN_LOG_LEVEL="3")
    for name in _PRELOADED:
        import_module(name)
    folder = Path(tempfile.mkdtemp(prefix="crash-"))
    write_inputs(folder / "inputs")
    campaign, num_wrong = Campaign(folder), 0
    for number in range(values.rounds) if values.only is None else [values.only]:
        name, deaths = make_plan(number, values.seed, values.scenario or [*SCENARIOS])
        problems = campaign.run(number, name, deaths)
        ways = ", ".join(f"{death.way} at {death.moment:.2f}" for death in deaths)
        print(f"{number:5} {name:18} {ways:50} {'WRONG' if problems else 'same'}", flush=True)
        for problem in problems[:10]:
            print(f"      {problem}", flush=True)
        num_wrong += bool(problems)
    if num_wrong:
        print(f"What is wrong is in {folder}. Repeat a round with --seed {values.seed} --only N.")
    else:
        shutil.rmtree(folder)
    return int(num_wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
