"""The fuzzer itself, and a short run of it; the long one is `python -m tests.campaigns fuzz`."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from tests.campaigns.fuzz import MODULES, all_targets
from tests.campaigns.fuzz.guard import Guard
from tests.campaigns.fuzz.minimize import minimized
from tests.campaigns.fuzz.mutations import mutated
from tests.campaigns.fuzz.target import RESULT, Target, check
from tests.campaigns.fuzz.watch import watched
from tests.commands import run
from tf_charagram.errors import DataError

ROOT = Path(__file__).parents[2]


def fuzz(tmp_path, *arguments, timeout=300):
    """Returns the process of a campaign, and the lines of its log."""
    command = [sys.executable, "-m", "tests.campaigns", "fuzz", "--seed", "7", *arguments,
               "--failures", tmp_path / "failures", "--log", tmp_path / "log.jsonl"]  # fmt: skip
    done = run([str(part) for part in command], cwd=ROOT, timeout=timeout)
    log = tmp_path / "log.jsonl"
    lines = log.read_text().splitlines() if log.is_file() else []
    return done, [json.loads(line) for line in lines]


def test_without_tensorflow(tmp_path):
    names = ["reader", "vectors", "run", "settings.tf-config"]
    done, log = fuzz(tmp_path, "--bytes", "200000", "--targets", *names)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(log) == len(all_targets(names))
    for record in log:
        assert record["cases"] >= 30 and record["bytes"] > 0 and not record["problems"]
    # Some changes are errors, and some are not.
    outcomes = sum((Counter(record["outcomes"]) for record in log), Counter())
    assert outcomes[RESULT] > 100 and outcomes["DataError"] > 100
    assert not (tmp_path / "failures").exists()


@pytest.mark.campaign
def test_everything(tmp_path):
    done, log = fuzz(tmp_path, "--bytes", "1000000", timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(log) == len(all_targets([]))


def test_an_unknown_target(tmp_path):
    done, _ = fuzz(tmp_path, "--targets", "readers")
    assert done.returncode == 1
    assert "unknown targets ['readers']; there are: checkpoint checkpoint." in done.stderr


def test_every_target_is_found():
    names = [target.name for target in all_targets([])]
    assert len(names) == len(set(names))
    files = Path(__file__).parent.joinpath("fuzz", "targets").glob("[!_]*.py")
    assert {path.stem for path in files} == {*MODULES, "files"}


def test_a_case_depends_on_seed_and_number_only():
    (target,) = all_targets(["reader.pairs"])
    cases = target.cases(3, 0)
    three = [next(cases) for _ in range(3)]
    assert next(target.cases(3, 2)) == three[2]
    assert next(target.cases(4, 2)) != three[2]


def test_mutations_change_most_and_are_bounded():
    seeds = [b"1\tcat\n2\tdog\n", b"{}"]
    cases = [mutated(seeds, (b"\t",), Random(number)) for number in range(2000)]
    assert len(set(cases)) > 1000 and max(map(len, cases)) <= 1 << 20
    assert any(b"\xef\xbb\xbf" in case for case in cases) and seeds[0] in cases


def bad(kind):
    """Returns a target one of whose first cases, the one with an X, does harm."""

    @contextmanager
    def opened(folder):
        def run(case):
            if b"X" not in case:
                return RESULT
            if kind == "crash":
                os.abort()
            if kind == "hang":
                while True:
                    pass
            if kind == "memory":
                return str(len(b"x" * (200 << 20)))
            if kind == "outside":
                (folder.parent / "out").write_text("x")
            if kind == "program":
                os.system("true")
            check(kind != "wrong", "not right")
            if kind == "no name":
                raise DataError("other.txt", "is bad")
            if kind == "traceback":
                raise KeyError("x")
            return RESULT

        yield run

    make = lambda random, seeds: random.choice((b"a" * 50, b"b" * 50 + b"X" + b"c" * 50))  # noqa: E731
    return Target("bad", opened, [b"a"], in_message="file.txt", make=make, least_cases=12)


@pytest.mark.parametrize(
    ("kind", "problem", "smallest"),
    [
        ("crash", "crash: the process ended with SIGABRT", None),
        ("memory", "memory: ", b"X"),
        ("outside", "forbidden: open of ", b"X"),
        ("program", "forbidden: os.system ", b"X"),
        ("wrong", "wrong: not right", b"X"),
        ("no name", "the message names no file.txt: 'other.txt: is bad'", b"X"),
        ("traceback", "KeyError at test_fuzz.py:", b"X"),
        ("none", None, None),
    ],
)
def test_what_is_noticed(kind, problem, smallest, monkeypatch):
    monkeypatch.setattr("tests.campaigns.fuzz.child.MAX_MORE_BYTES", 100 << 20)
    findings = watched(bad(kind), seed=1, num_bytes=100)
    if problem is None:
        assert findings.problems == [] and findings.counts == {RESULT: 12}
        return
    found, case = findings.problems[0]
    assert found.startswith(problem), findings.problems
    assert b"X" in case
    if smallest and not problem.startswith(("forbidden", "memory")):
        assert case == smallest
    # All cases are run, those after one that ended the process too.
    assert sum(findings.counts.values()) == 12


def test_a_hang_is_ended(monkeypatch):
    monkeypatch.setattr("tests.campaigns.fuzz.watch.HANG_S", 0.1)
    start = time.monotonic()
    findings = watched(bad("hang"), seed=1, num_bytes=100)
    assert findings.problems[0][0].startswith("hang: ")
    assert time.monotonic() - start < 60


def test_guard_sees_only_what_is_outside(tmp_path):
    guard = Guard(tmp_path / "in")
    (tmp_path / "in").mkdir()
    guard.is_on = True
    try:
        (tmp_path / "in" / "file").write_text("x")
        (tmp_path / "in" / "file").read_text()
        assert not guard.events
        (tmp_path / "link").symlink_to("in")
        assert "os.symlink" in guard.events[0]
    finally:
        guard.is_on = False


def test_minimized():
    assert minimized(b"a" * 1000 + b"X" + b"b" * 1000, lambda case: b"X" in case) == b"X"
    assert minimized(b"", lambda case: True) == b""
