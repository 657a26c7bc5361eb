"""Short runs of both campaigns."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.campaigns.fuzz import targets_of
from tests.commands import run

ROOT = Path(__file__).parents[2]


@pytest.mark.campaign
def test_crash():
    command = [sys.executable, "-m", "tests.campaigns.crash", "--rounds", "1", "--seed", "4"]
    ended = run(command, cwd=ROOT, timeout=900)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.campaign
def test_fuzz(tmp_path):
    command = [sys.executable, "-m", "tests.campaigns.fuzz", "--cases", "25", "--seed", "7"]
    ended = run([*command, "--failures", str(tmp_path / "failures")], cwd=ROOT, timeout=900)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert len(ended.stdout.splitlines()) == len(targets_of([]))
