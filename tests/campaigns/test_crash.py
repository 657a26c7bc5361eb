"""The campaign of crashes: a few of its rounds, and that it would notice a loss."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.campaigns.crash.comparison import damage, differences
from tests.campaigns.crash.rounds import RIVAL, make_plan
from tests.campaigns.crash.scenarios import SCENARIOS
from tests.campaigns.crash.summary import read_records, summary

ROOT = Path(__file__).parents[2]


def crash(*arguments, timeout=3000):
    line = [sys.executable, "-m", "tests.campaigns", "crash", *map(str, arguments)]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=timeout)


@pytest.mark.long
def test_a_few_rounds_then_more_in_the_same_log(tmp_path):
    log = tmp_path / "log.jsonl"
    arguments = ("--log", log, "--seed", 1, "--scenario", "embed, shards")
    ended = crash("--rounds", 2, *arguments)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    records = read_records(log)
    assert [record["round"] for record in records] == [0, 1]
    assert {record["result"] for record in records} == {"same"}
    assert sum(death["died"] for record in records for death in record["deaths"]) >= 1
    assert ended.stdout.splitlines()[-1].startswith("| all | 2 |")
    # They are in the log, so that nothing is left to run.
    ended = crash("--rounds", 2, *arguments)
    assert ended.returncode == 0 and ended.stdout.startswith("| scenario | rounds | kill |")
    ended = crash("--rounds", 2, *arguments, "--seed", 2)
    assert ended.returncode == 2 and "has another --seed" in ended.stderr


@pytest.mark.campaign
def test_rounds_of_all_scenarios(tmp_path):
    ended = crash("--rounds", 4, "--jobs", 2, "--log", tmp_path / "log.jsonl")
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_a_round_follows_from_seed_and_number():
    names = list(SCENARIOS)
    plans = [make_plan(number, 0, names) for number in range(500)]
    assert plans == [make_plan(number, 0, names) for number in range(500)]
    assert plans != [make_plan(number, 1, names) for number in range(500)]
    assert {plan.scenario for plan in plans} == set(names)
    for plan in plans:
        ways = [stroke.way for stroke in plan.strokes]
        assert 1 <= len(ways) <= 3
        assert RIVAL not in ways or SCENARIOS[plan.scenario].is_for_one
        # What needs a forked process does not happen to a new interpreter.
        assert not (plan.is_fresh and any(stroke.at_change for stroke in plan.strokes))
        assert not (plan.is_fresh and "clock set back" in ways)


@pytest.fixture
def whole(tmp_path):
    """Returns a folder as a run leaves it."""
    folder = tmp_path / "whole"
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "model").mkdir()
    for step in (1, 2):
        (folder / "checkpoints" / f"ckpt-{step}.index").write_text("")
    np.savez(folder / "model" / "weights.npz", table=np.ones(3))
    (folder / "history.jsonl").write_text('{"step": 1, "loss": 0.5, "seconds": 1.0}\n')
    (folder / "metrics.json").write_text('{"scores": {"scored": 70.0}, "seconds": 3.0}')
    return folder


@pytest.fixture
def other(whole, tmp_path):
    """Returns a copy of it."""
    return Path(shutil.copytree(whole, tmp_path / "other"))


def test_what_depends_on_time_may_differ(whole, other):
    (other / "history.jsonl").write_text('{"step": 1, "loss": 0.500001, "seconds": 2.0}\n')
    (other / "metrics.json").write_text('{"scores": {"scored": 70.0}, "seconds": 4.0}')
    (other / "events.out.tfevents.1.host").write_text("")
    assert differences(other, whole) == []


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("metrics.json", '{"scores": {"scored": 70.1}, "seconds": 3.0}', "/scores/scored: 70.1"),
        ("history.jsonl", '{"step": 1, "loss": 0.6, "seconds": 1.0}\n', "/0/loss: 0.6, not 0.5"),
        ("history.jsonl", "", "0 entries, not 1"),
        ("model/weights.npz", "x", "model/weights.npz differs"),
        (".metrics.json.part", "", ".metrics.json.part is left over"),
        ("checkpoints/ckpt-3_temp/part", "", "checkpoints/ckpt-3_temp is left over"),
        ("checkpoints/ckpt-3.index", "", "3 checkpoints are left"),
    ],
)
def test_a_difference_is_found(whole, other, name, content, problem):
    (other / name).parent.mkdir(exist_ok=True)
    (other / name).write_text(content)
    (found,) = differences(other, whole)
    assert problem in found


def test_a_lost_file_and_a_lost_folder_are_found(whole, other):
    (other / "metrics.json").unlink()
    assert differences(other, whole) == ["metrics.json is missing"]
    assert len(differences(other / "none", whole)) == 3


def test_versions_count_from_the_last(tmp_path):
    """One more export than in the undisturbed run, and a version too many."""
    for run, numbers in {"whole": "23", "more": "34", "many": "234"}.items():
        for number in numbers:
            (tmp_path / run / "words" / number).mkdir(parents=True)
            (tmp_path / run / "words" / number / "model").write_text("x")
    more, many = tmp_path / "more", tmp_path / "many"
    assert differences(more, tmp_path / "whole", num_kept=2) == []
    assert differences(many, tmp_path / "whole", num_kept=2) == ["words/2/model is left over"]
    (more / "words" / "3" / "model").write_text("y")
    (found,) = differences(more, tmp_path / "whole", num_kept=2)
    assert found == "words/1/model differs: 1 bytes, not 1"


def test_half_a_file_is_damage(whole):
    assert damage(whole) == []
    (whole / ".part.json").write_text("{")
    (whole / "metrics.json").write_text("{")
    weights = whole / "model" / "weights.npz"
    weights.write_bytes(weights.read_bytes()[:-10])
    found = damage(whole)
    assert [line.split(" is damaged")[0] for line in found] == [
        "metrics.json", "model/weights.npz",
    ]  # fmt: skip


def test_summary_counts_deaths_that_happened():
    death = {"way": "kill", "died": True}
    records = [
        {"scenario": "words", "result": "same", "deaths": [death, {**death, "died": False}]},
        {"scenario": "words", "result": "lost", "deaths": [death]},
        {"scenario": "tune", "result": "different", "deaths": []},
    ]
    lines = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in summary(records).splitlines()
    ]
    assert [[line[i] for i in (0, 1, 2, -2, -1)] for line in lines[2:]] == [
        ["tune", "1", "0", "0", "1"], ["words", "2", "2", "1", "0"], ["all", "3", "2", "1", "1"],
    ]  # fmt: skip


def test_a_log_that_was_cut_short(tmp_path):
    (tmp_path / "log").write_text(json.dumps({"round": 0}) + '\n{"rou')
    assert read_records(tmp_path / "log") == [{"round": 0}]
    assert read_records(tmp_path / "none") == []
