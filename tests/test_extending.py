"""Does what `docs/extending.md` says: a new encoder is three files, and no other file changes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import QUICK, environment
from tests.texts import write_pairs, write_scored

ROOT = Path(__file__).parent.parent
GUIDE = ROOT / "docs" / "extending.md"
NAME = "ngram_mean"
# The package, and what its tests of encoders import.
COPIED = ("tf_charagram", "tests/contracts.py", "tests/encoders/test_contracts.py")

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
    """Applies hunks that add lines; what surrounds them must be there once."""
    for hunk in diff.split("@@\n"):
        lines = hunk.splitlines(keepends=True)
        assert {line[0] for line in lines} == {"+", " "}
        old = "".join(line[1:] for line in lines if line[0] == " ")
        assert text.count(old) == 1, f"not there once: {old}"
        text = text.replace(old, "".join(line[1:] for line in lines))
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
    """Returns a folder with a copy of the package, changed as the guide says."""
    folder = tmp_path_factory.mktemp("copy")
    for name in (*COPIED, "pyproject.toml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder / name)
    before = files(folder)
    for path, kind, text in changes(GUIDE.read_text(encoding="utf-8")):
        new = apply(text, (folder / path).read_text(encoding="utf-8")) if kind == "diff" else text
        (folder / path).write_text(new, encoding="utf-8")
    return folder, before


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command that sees the copy instead of the package."""
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder, env=environment(PYTHONPATH=os.fspath(folder)), timeout=500,
        capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip


def test_three_files_differ(copy):
    folder, before = copy
    after = files(folder)
    differing = {path for path in before | after if before.get(path) != after.get(path)}
    assert differing == {
        f"tf_charagram/encoders/{NAME}.py",
        "tf_charagram/encoders/__init__.py",
        f"tests/encoders/test_{NAME}.py",
    }
    registry = "tf_charagram/encoders/__init__.py"
    added = set(after[registry].splitlines()) - set(before[registry].splitlines())
    assert len(added) == 2


def test_its_tests_pass(copy):
    """Its own and those of every encoder in the registry, of which nobody told it."""
    tests = [f"tests/encoders/test_{NAME}.py", "tests/encoders/test_contracts.py"]
    ended = run(["pytest", "-q", "-k", NAME, "-p", "no:cacheprovider", *tests], copy[0])
    assert ended.returncode == 0, ended.stdout
    passed = re.search(r"(\d+) passed", ended.stdout)
    assert passed and int(passed[1]) >= 20


def test_its_style(copy):
    paths = [path for path, kind, _ in changes(GUIDE.read_text(encoding="utf-8"))]
    for check in (["check"], ["format", "--check"]):
        ended = run(["ruff", *check, "--no-cache", *paths], copy[0])
        assert ended.returncode == 0, ended.stdout + ended.stderr


def test_it_trains(copy, tmp_path):
    pairs, scored = write_pairs(tmp_path / "pairs.tsv"), write_scored(tmp_path / "scored.tsv")
    command = [
        "tf_charagram.train", "--encoder", NAME, "--data", str(pairs), "--eval-data", str(scored),
        *QUICK, "--out", str(tmp_path / "run"), "--json",
    ]  # fmt: skip
    ended = run(command, copy[0])
    assert ended.returncode == 0, ended.stderr
    metrics = json.loads(ended.stdout.splitlines()[-1])
    assert metrics["encoder"] == NAME and metrics["steps"] == 12
    card = json.loads((tmp_path / "run/saved_model/1/model_card.json").read_text())
    assert card["encoder"]["name"] == NAME and card["required_ops"] == {}


def test_the_real_package_has_no_such_encoder():
    """Otherwise what is tested above would not be the copy."""
    from tf_charagram.encoders import ENCODERS

    assert NAME not in ENCODERS
