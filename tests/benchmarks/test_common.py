"""Samples, turns, and contenders in processes of their own."""

import sys

import common
import processes
import pytest

ECHO = """
import processes
answers = processes.protocol_file()
print("what a package prints")
processes.serve({"texts": 3}, lambda job: print(f"did {job}") or 1 / int(job), answers)
"""


def test_ratios_are_of_values_of_one_round():
    """The medians are 20 and 10; the ratios are 4, 1 and 2, in the order of the rounds."""
    fast, slow = common.Sample([40, 10, 20], "texts/s"), common.Sample([10, 10, 10], "texts/s")
    assert fast.over(slow).to_json() == {
        "median": 2.0, "low": 1.0, "high": 4.0, "unit": "x", "values": [4.0, 1.0, 2.0]
    }  # fmt: skip
    assert fast.minus(slow).values == [30, 0, 10]


def test_all_take_turns_in_another_order_each_round():
    calls = []
    runs = {name: lambda name=name: calls.append(name) for name in "abcd"}
    found = common.in_turns(10, runs, measure=lambda run: run() or len(calls))
    rounds = [tuple(calls[start : start + 4]) for start in range(0, 40, 4)]
    assert all(sorted(names) == list("abcd") for names in rounds)
    assert len(set(rounds)) > 3
    assert {len(values) for values in found.values()} == {10}


def test_rates_are_work_over_time(monkeypatch):
    """One takes 2 s for 10 texts, the other 1 s for 20."""
    monkeypatch.setattr(common, "seconds", lambda run: run())
    monkeypatch.setattr(common.in_turns, "__defaults__", (lambda run: run(),))
    runs = {"slow": lambda: 2.0, "fast": lambda: 1.0}
    rates = common.compare(3, runs, {"slow": 10, "fast": 20}, "texts/s")
    assert rates["slow"].values == [5.0] * 3
    assert rates["fast"].values == [20.0] * 3
    assert rates["slow/fast"].values == [0.25] * 3


def test_a_contender_answers_whatever_it_prints(monkeypatch):
    folder = common.__file__.rpartition("/")[0]
    with processes.Contender([sys.executable, "-c", ECHO], PYTHONPATH=folder) as contender:
        assert contender.facts == {"texts": 3}
        contender("1")
        contender("2")
        with pytest.raises(processes.ContenderError, match="ZeroDivisionError"):
            contender("0")


def test_a_contender_that_does_not_start_says_why():
    command = [sys.executable, "-c", "import no_such_package"]
    with pytest.raises(processes.ContenderError, match="No module named 'no_such_package'"):
        processes.Contender(command)
