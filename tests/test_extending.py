"""Follows `docs/extending.md`: adds an encoder, a data set and a task to a copy of the package."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.commands import QUICK, environment
from tests.texts import write_pairs, write_scored

ROOT = Path(__file__).parent.parent
GUIDE = ROOT / "docs" / "extending.md"
NAME = "ngram_mean"
ENCODER, TEST = f"tf_charagram/encoders/{NAME}.py", f"tests/encoders/test_{NAME}.py"
TASK = "duplicates"
TASK_TEST = f"tests/tasks/test_{TASK}.py"
TASK_FILES = {f"tf_charagram/tasks/{TASK}/{name}.py" for name in ("__init__", "task")}
DATA_TEST = "tests/data/readers/test_biosses.py"
REGISTRY, OPTIONS = (f"tf_charagram/encoders/{name}.py" for name in ("__init__", "options"))
# The package, and what the tests of the guide import.
COPIED = (
    "tf_charagram", "tests/contracts.py", "tests/encoders/test_contracts.py", "tests/commands.py",
    "tests/conftest.py", "tests/texts.py",
)  # fmt: skip

pytestmark = pytest.mark.skipif(not GUIDE.is_file(), reason="not a checkout")


def changes(guide: str) -> list[tuple[str, str, str]]:
    """Returns the changes of the guide: path, kind of the block, its text.

    The path is the last one in code before the block.
    """
    found, end = [], 0
    for block in re.finditer(r"^```(python|diff)\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL):
        path = re.findall(r"`([\w/]+\.py)`", guide[end : block.start()])[-1]
        found.append((path, *block.groups()))
        end = block.end()
    return found


def apply(diff: str, text: str) -> str:
    """Applies hunks; the lines that they replace or stand beside must be there once."""
    for hunk in diff.split("@@\n"):
        lines = hunk.splitlines(keepends=True)
        assert {line[0] for line in lines} <= {"+", "-", " "}
        old = "".join(line[1:] for line in lines if line[0] != "+")
        assert text.count(old) == 1, f"not there once: {old}"
        text = text.replace(old, "".join(line[1:] for line in lines if line[0] != "-"))
    return text


def files(folder: Path) -> dict[str, bytes]:
    """Returns the files of the package and of the tests below a folder."""
    paths = [path for name in COPIED for path in [folder / name, *(folder / name).rglob("*")]]
    paths += (folder / "tests").rglob("*.py")
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in paths
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """Returns a folder with a copy of the package."""
    folder = tmp_path_factory.mktemp("copy")
    for name in (*COPIED, "pyproject.toml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


def change(folder: Path, section: str) -> set[str]:
    """Does what a section of the guide says; returns the files that differ."""
    guide = GUIDE.read_text(encoding="utf-8")
    (text,) = re.findall(rf"^## {section}.*?(?=^## |\Z)", guide, re.MULTILINE | re.DOTALL)
    before = files(folder)
    for path, kind, block in changes(text):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        new = apply(block, file.read_text(encoding="utf-8")) if kind == "diff" else block
        file.write_text(new, encoding="utf-8")
    after = files(folder)
    return {path for path in before | after if before.get(path) != after.get(path)}


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command that sees the copy instead of the package."""
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder, env=environment(PYTHONPATH=os.fspath(folder)), timeout=500,
        capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip


@pytest.fixture(scope="module")
def guide(copy):
    """Does all that the guide says; returns the copy, and by section the files that differ.

    Also the lines that the encoder adds to the registry.
    """
    before = (copy / REGISTRY).read_text(encoding="utf-8").splitlines()
    differing = {"An encoder": change(copy, "An encoder")}
    added = set((copy / REGISTRY).read_text(encoding="utf-8").splitlines()) - set(before)
    for section in ("A data set", "A task"):
        differing[section] = change(copy, section)
    return copy, differing, added


def test_an_encoder(guide):
    _, differing, added = guide
    assert differing["An encoder"] == {ENCODER, OPTIONS, REGISTRY, TEST}
    assert len(added) == 1


def test_a_data_set(guide):
    assert guide[1]["A data set"] == {"tf_charagram/data/readers/biosses.py", DATA_TEST}


def test_a_task(guide):
    assert guide[1]["A task"] == {*TASK_FILES, "tf_charagram/tasks/__init__.py", TASK_TEST}


def test_their_style(guide):
    folder, differing, _ = guide
    paths = set().union(*differing.values())
    for check in (["check"], ["format", "--check"]):
        ended = run(["ruff", *check, "--no-cache", *paths], folder)
        assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.long
def test_their_tests_pass(guide):
    """Also those of every encoder in the registry, of which nobody told the new one."""
    tests = [TEST, "tests/encoders/test_contracts.py", DATA_TEST, TASK_TEST]
    names = f"{NAME} or biosses or {TASK}"
    ended = run(["pytest", "-v", "-k", names, "-p", "no:cacheprovider", *tests], guide[0])
    assert ended.returncode == 0, ended.stdout
    passed = Counter(re.findall(r"^(\S+?)::.* PASSED", ended.stdout, re.MULTILINE))
    assert passed[TEST] > 12 and passed[TEST] + passed[tests[1]] >= 20
    assert (passed[DATA_TEST], passed[TASK_TEST]) == (5, 2)


def test_its_options_are_flags(guide):
    """They are shown and accepted for this encoder only."""
    folder = guide[0]
    train = ["tf_charagram.train", "--encoder"]
    shown = run([*train, NAME, "--help-all"], folder).stdout
    assert "--combiner {mean,sqrtn}" in shown and "divisor of the sum [mean]" in shown
    assert "--activation" not in shown and "--ngrams" in shown
    ended = run([*train, "cse", "--combiner", "sqrtn"], folder)
    assert ended.returncode == 2 and "unknown flag --combiner" in ended.stderr
    ended = run([*train, NAME, "--combiner", "sqrt"], folder)
    assert ended.returncode == 2 and "sqrtn" in ended.stderr


def test_deleting_its_folder_and_its_line_deletes_a_task(guide, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(guide[0], folder)
    shutil.rmtree(folder / "tf_charagram" / "tasks" / TASK)
    registry = folder / "tf_charagram" / "tasks" / "__init__.py"
    lines = registry.read_text(encoding="utf-8").splitlines(keepends=True)
    registry.write_text("".join(line for line in lines if TASK not in line), encoding="utf-8")
    ended = run(["tf_charagram.train", "--task", TASK], folder)
    assert ended.returncode == 1 and f"Unknown task '{TASK}'" in ended.stderr
    assert "--lstm-dim" in run(["tf_charagram.train", "--task", "pos", "--help-all"], folder).stdout


@pytest.mark.long
def test_it_trains(guide, tmp_path):
    pairs, scored = write_pairs(tmp_path / "pairs.tsv"), write_scored(tmp_path / "scored.tsv")
    command = [
        "tf_charagram.train", "--encoder", NAME, "--data", str(pairs), "--eval-data", str(scored),
        *QUICK, "--combiner", "sqrtn", "--out", str(tmp_path / "run"), "--json",
    ]  # fmt: skip
    ended = run(command, guide[0])
    assert ended.returncode == 0, ended.stderr
    metrics = json.loads(ended.stdout.splitlines()[-1])
    assert metrics["encoder"] == NAME and metrics["steps"] == 12
    card = json.loads((tmp_path / "run/saved_model/1/model_card.json").read_text())
    assert card["encoder"]["name"] == NAME and card["required_ops"] == {}
    assert card["encoder"]["combiner"] == "sqrtn"
    settings = json.loads((tmp_path / "run/config.json").read_text())["settings"]
    assert settings["combiner"] == "sqrtn" and "activation" not in settings


def test_the_real_package_has_neither():
    """Otherwise what is tested above would not be the copy."""
    from tf_charagram.encoders import ENCODERS
    from tf_charagram.tasks import TASKS

    assert NAME not in ENCODERS and TASK not in TASKS
