"""The crash campaign: a few of its rounds, and that it notices a loss."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.campaigns.crash import SCENARIOS, damage, differences, make_plan
from tests.commands import run


@pytest.mark.campaign
def test_rounds(tmp_path):
    command = [sys.executable, "-m", "tests.campaigns.crash", "--rounds", "4", "--seed", "4"]
    ended = run(command, cwd=Path(__file__).parents[2], timeout=900)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_a_round_depends_on_seed_and_number():
    plans = [make_plan(number, 0, [*SCENARIOS]) for number in range(200)]
    assert plans[7] == make_plan(7, 0, [*SCENARIOS]) != make_plan(7, 1, [*SCENARIOS])
    assert {name for name, _ in plans} == set(SCENARIOS)


@pytest.fixture
def whole(tmp_path):
    """Returns a folder as a run leaves it."""
    folder = tmp_path / "whole" / "out"
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "model").mkdir()
    for step in (1, 2):
        (folder / "checkpoints" / f"ckpt-{step}.index").write_text("")
    np.savez(folder / "model" / "weights.npz", table=np.ones(3))
    (folder / "history.jsonl").write_text('{"step": 1, "loss": 0.5, "seconds": 1.0}\n')
    (folder / "metrics.json").write_text('{"scores": {"scored": 70.0}, "seconds": 3.0}')
    return folder.parent


@pytest.fixture
def other(whole, tmp_path):
    return Path(shutil.copytree(whole, tmp_path / "other"))


def test_what_depends_on_time_may_differ(whole, other):
    (other / "out" / "history.jsonl").write_text('{"step": 1, "loss": 0.50001, "seconds": 2.0}\n')
    (other / "out" / "metrics.json").write_text('{"scores": {"scored": 70.0}, "seconds": 4.0}')
    (other / "out" / "events.out.tfevents.1.host").write_text("")
    assert differences(other, whole) == []
    (other / "out" / "metrics.json").unlink()
    assert differences(other, whole) == ["out/metrics.json is missing"]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("metrics.json", '{"scores": {"scored": 70.1}, "seconds": 3.0}', "metrics.json differs"),
        ("history.jsonl", '{"step": 1, "loss": 0.6, "seconds": 1.0}\n', "history.jsonl differs"),
        ("model/weights.npz", "x", "out/model/weights.npz differs"),
        (".metrics.json.part", "", ".metrics.json.part is left over"),
        ("checkpoints/ckpt-3_temp/part", "", "checkpoints are left over: "),
        ("checkpoints/ckpt-3.index", "", "checkpoints are left over: "),
    ],
)
def test_a_difference_is_found(whole, other, name, content, problem):
    (other / "out" / name).parent.mkdir(exist_ok=True)
    (other / "out" / name).write_text(content)
    (found,) = differences(other, whole)
    assert problem in found


def test_half_a_file_is_damage(whole):
    assert damage(whole / "out") == []
    (whole / "out" / ".part.json").write_text("{")
    (whole / "out" / "metrics.json").write_text("{")
    weights = whole / "out" / "model" / "weights.npz"
    weights.write_bytes(weights.read_bytes()[:-10])
    found = damage(whole / "out")
    assert [line.split(" is damaged")[0] for line in found] == [
        "metrics.json", "model/weights.npz",
    ]  # fmt: skip
