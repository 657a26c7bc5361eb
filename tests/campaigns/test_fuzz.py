"""The fuzzer itself, and a short run of it."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from random import Random

import pytest

from tests.campaigns import fuzz
from tests.campaigns.fuzz import RESULT, Target, check, run_target, targets_of
from tests.campaigns.mutations import mutated
from tests.commands import run
from tf_charagram.errors import DataError

ROOT = Path(__file__).parents[2]


@pytest.mark.campaign
def test_everything(tmp_path):
    command = [sys.executable, "-m", "tests.campaigns.fuzz", "--cases", "50", "--seed", "7"]
    done = run([*command, "--failures", str(tmp_path / "failures")], cwd=ROOT, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) == len(targets_of([]))


def test_a_case_depends_on_seed_and_number_only():
    with pytest.raises(SystemExit, match=r"unknown targets \['readers'\]; there are: model "):
        targets_of(["readers"])
    (target,) = targets_of(["reader.pairs"])
    cases = target.cases(3, 0)
    three = [next(cases) for _ in range(3)]
    assert next(target.cases(3, 2)) == three[2] != next(target.cases(4, 2))


def test_mutations_change_most_and_are_bounded():
    seeds = [b"1\tcat\n2\tdog\n", b"{}"]
    cases = [mutated(seeds, (b"\t",), Random(number)) for number in range(2000)]
    assert len(set(cases)) > 1000 and max(map(len, cases)) <= 1 << 20


def bad(kind):
    """Returns a target whose cases with an X do harm."""

    def prepare(folder):
        def run(case):
            if b"X" not in case:
                return RESULT
            match kind:
                case "crash":
                    signal.raise_signal(signal.SIGKILL)
                case "hang":
                    while True:
                        pass
                case "outside":
                    (folder.parent / "out").write_text("x")
                case "program":
                    os.system("true")
                case "no name":
                    raise DataError("other.txt", "is bad")
                case "traceback":
                    raise KeyError("x")
            check(kind != "wrong", "not right")
            return RESULT

        return run

    make = lambda random, seeds: random.choice((b"aaa", b"aXa"))  # noqa: E731
    return Target("bad", prepare, [b"a"], in_message="file.txt", make=make)


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("crash", "crash: the process ended with SIGKILL"),
        ("hang", "hang: the process ended with SIGPROF"),
        ("outside", "forbidden: open of "),
        ("program", "forbidden: os.system "),
        ("wrong", "wrong: not right"),
        ("no name", "the message does not name file.txt: 'other.txt: is bad'"),
        ("traceback", "KeyError at test_fuzz.py:"),
        ("none", None),
    ],
)
def test_what_is_noticed(kind, problem, monkeypatch):
    monkeypatch.setattr(fuzz, "MAX_PROCESSOR_S", 0.1)
    findings = run_target(bad(kind), seed=1, num_cases=8)
    if problem is None:
        assert findings.problems == [] and findings.counts == {RESULT: 8}
        return
    found, case = findings.problems[0]
    assert found.startswith(problem), findings.problems
    assert case == b"aXa"
    # All cases are run, also those after one that ended the process.
    assert findings.counts.total() == 8 and 0 < findings.counts["wrong"] < 8
