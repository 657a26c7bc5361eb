"""Trained runs that many tests look at; none may change them."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.commands import QUICK, process, run
from tests.texts import write_pairs, write_scored

# Several workers of pytest share the cores; threads of one operation would wait for each other.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")


@dataclass(frozen=True)
class Trained:
    """A run that was trained with the command line.

    Attributes:
        folder: The run folder.
        data: The pairs.
        scored: The evaluation set.
        arguments: What the command was given, but for `--out` and `--json`.
        ended: How the process ended, and what it printed.
    """

    folder: Path
    data: Path
    scored: Path
    arguments: list[str]
    ended: subprocess.CompletedProcess[str]


@pytest.fixture(scope="session")
def data(tmp_path_factory) -> tuple[Path, Path]:
    """Returns a file of pairs and an evaluation set."""
    folder = tmp_path_factory.mktemp("data")
    return write_pairs(folder / "pairs.tsv"), write_scored(folder / "scored.tsv")


@pytest.fixture(scope="session")
def trained(tmp_path_factory, data) -> Trained:
    """Returns a finished run of the default encoder."""
    folder = tmp_path_factory.mktemp("runs") / "words"
    arguments = ["--data", str(data[0]), "--eval-data", str(data[1]), *QUICK]
    ended = run(process("train", *arguments, "--out", folder, "--json"), cwd=folder.parent)
    assert ended.returncode == 0, ended.stderr
    return Trained(folder, *data, arguments, ended)
