"""What a person sees while a search runs."""

from __future__ import annotations

import dataclasses
import re

import pytest

from tf_charagram.reporting.progress import quiet
from tf_charagram.training.run_folder import RunFolder
from tf_charagram.tuning.display import Display
from tf_charagram.tuning.results import FAILED, Result


@pytest.fixture
def results(search):
    return [
        Result("0", FAILED, search.combination(0), reason="not finite\nat [all]"),
        Result("1", "completed", search.combination(1), 31.5, {}, 1.0, 12.4),
    ]


def test_one_line_a_trial(search, folder, results, capsys):
    with Display(search, folder) as display:
        for number in (0, 1, 1, 2):
            display.show(results[:number])
    assert capsys.readouterr().err.splitlines() == [
        "trial 0  failed  scored -  batch_size=10 l2=0.0001  0 s  not finite at [all]",
        "trial 1  completed  scored 31.50  batch_size=10 l2=1e-05  12 s",
    ]


def test_a_table_on_a_terminal(search, folder, results, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "150")
    running = RunFolder(folder.trials / "2")
    running.path.mkdir(parents=True)
    record = {"step": 1, "epoch": 0.5, "seconds": 7.0, "scores": {"scored": 20.0}}
    running.append_history(record)
    with Display(search, folder) as display:
        display.show(results)
        once = capsys.readouterr().err
        display.show([*results, dataclasses.replace(results[1], id="2", score=33.0)])
    assert "2 of 4 trials" in once and "31.50" in once and "running" in once
    assert "failed: not finite" in once and "20.00" in once
    last = capsys.readouterr().err
    assert "3 of 4 trials" in last and "running" not in last
    assert last.index("33.00") < last.index("31.50")


def test_a_narrow_terminal(search, folder, results, capsys, monkeypatch):
    """All values are in one column, where they can be read."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "50")
    with Display(search, folder) as display:
        display.show(results)
    printed = capsys.readouterr().err
    assert "values" in printed and "batch_" in printed and "31.50" in printed
    assert max(map(len, re.sub(r"\x1b\[[^m]*m", "", printed).splitlines())) <= 60


def test_quiet(search, folder, results, capsys):
    with quiet(), Display(search, folder) as display:
        display.show(results)
    assert capsys.readouterr().err == ""
