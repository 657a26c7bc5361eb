"""Does what `docs/extending.md` says, in a copy of the package, and deletes tasks again."""

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
ENCODER, ENCODER_TEST = "tf_charagram/encoders/ngram_mean.py", "tests/encoders/test_ngram_mean.py"
OPTIONS, ENCODERS = "tf_charagram/encoders/options.py", "tf_charagram/encoders/__init__.py"
LOSS = "tf_charagram/tasks/paraphrase/losses/softmax.py"
LOSS_TEST = "tests/tasks/paraphrase/test_softmax.py"
READER, READER_TEST = "tf_charagram/data/readers/biosses.py", "tests/data/readers/test_biosses.py"
TASK, TASK_TEST = "tf_charagram/tasks/duplicates", "tests/tasks/test_duplicates.py"
TASKS = "tf_charagram/tasks/__init__.py"
#: Section -> files that it changes.
CHANGED = {
    "An encoder": {ENCODER, OPTIONS, ENCODERS, ENCODER_TEST},
    "A loss": {LOSS, LOSS_TEST},
    "A data set": {READER, READER_TEST},
    "A task": {f"{TASK}/__init__.py", f"{TASK}/task.py", TASKS, TASK_TEST},
}
#: The package, and the imports of the guide's tests.
COPIED = (
    "tf_charagram", "tests/contracts.py", "tests/encoders/test_contracts.py", "tests/commands.py",
    "tests/conftest.py", "tests/texts.py", "pyproject.toml",
)  # fmt: skip

pytestmark = pytest.mark.skipif(not GUIDE.is_file(), reason="not a checkout")


def blocks(guide: str) -> list[tuple[str, str, str]]:
    """Returns path, kind and text of each block; the path is the last one in code before it."""
    found, end = [], 0
    for block in re.finditer(r"^```(python|diff)\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL):
        path = re.findall(r"`([\w/]+\.py)`", guide[end : block.start()])[-1]
        found.append((path, *block.groups()))
        end = block.end()
    return found


def apply(diff: str, text: str) -> str:
    """Applies hunks; the lines that they replace or stand next to must occur once."""
    for hunk in diff.split("@@\n"):
        lines = hunk.splitlines(keepends=True)
        assert {line[0] for line in lines} <= {"+", "-", " "}
        old = "".join(line[1:] for line in lines if line[0] != "+")
        assert text.count(old) == 1, f"does not occur once: {old}"
        text = text.replace(old, "".join(line[1:] for line in lines if line[0] != "-"))
    return text


def files(folder: Path) -> dict[str, bytes]:
    """Returns the Python files below a folder."""
    paths = (path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def change(folder: Path, section: str) -> set[str]:
    """Follows a section of the guide; returns the files that differ."""
    guide = GUIDE.read_text(encoding="utf-8")
    (text,) = re.findall(rf"^## {section}.*?(?=^## |\Z)", guide, re.MULTILINE | re.DOTALL)
    before = files(folder)
    for path, kind, block in blocks(text):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        new = apply(block, file.read_text(encoding="utf-8")) if kind == "diff" else block
        file.write_text(new, encoding="utf-8")
    after = files(folder)
    return {path for path in before | after if before.get(path) != after.get(path)}


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Runs Python so that it imports the copy instead of the package."""
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder, env=environment(PYTHONPATH=os.fspath(folder)), timeout=500,
        capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    """Returns a copy that does all that the guide says, and the files that differ by section."""
    folder = tmp_path_factory.mktemp("copy")
    for name in COPIED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder, {section: change(folder, section) for section in CHANGED}


def test_few_files_change(extended):
    folder, changed = extended
    assert changed == CHANGED
    ruff = ["-m", "ruff"]
    paths = sorted(set().union(*changed.values()))
    for check in (["check"], ["format", "--check"]):
        ended = run(folder, *ruff, *check, "--no-cache", *paths)
        assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.long
def test_their_tests_pass(extended):
    contracts = "tests/encoders/test_contracts.py"
    tests = [ENCODER_TEST, contracts, LOSS_TEST, READER_TEST, TASK_TEST]
    names = "ngram_mean or softmax or biosses or duplicates"
    pytest_ = ["-m", "pytest", "-v", "-p", "no:cacheprovider"]
    ended = run(extended[0], *pytest_, "-k", names, *tests)
    assert ended.returncode == 0, ended.stdout
    passed = Counter(re.findall(r"^(\S+?)::.* PASSED", ended.stdout, re.MULTILINE))
    assert passed[ENCODER_TEST] > 12 and passed[ENCODER_TEST] + passed[contracts] >= 20
    assert (passed[LOSS_TEST], passed[READER_TEST], passed[TASK_TEST]) == (4, 5, 2)


def test_options_are_flags_of_their_encoder(extended):
    train = ["-m", "tf_charagram.train", "--encoder"]
    shown = run(extended[0], *train, "ngram_mean", "--help-all").stdout
    assert "--combiner {mean,sqrtn}" in shown and "divisor of the sum [mean]" in shown
    assert "--activation" not in shown and "--ngrams" in shown
    ended = run(extended[0], *train, "cse", "--combiner", "sqrtn")
    assert ended.returncode == 2 and "unknown flag --combiner" in ended.stderr


def test_options_are_flags_of_their_loss(extended):
    train = ["-m", "tf_charagram.train"]
    shown = run(extended[0], *train, "--loss", "softmax", "--help-all").stdout
    assert "--temperature" in shown and "softmax: divisor of the cosines [0.05]" in shown
    assert "loss of pairs: margin, softmax [margin]" in shown
    ended = run(extended[0], *train, "--temperature", "0.1")
    assert ended.returncode == 2 and "unknown flag --temperature" in ended.stderr


WIDE = """
from tf_charagram.tasks import make_settings
from tf_charagram.tuning._search.spaces import search_space
softmax = make_settings("words", loss="softmax", temperature=0.2)
print(softmax.to_dict()["temperature"], search_space("wide", softmax)["temperature"])
margin = softmax.replace(loss="margin")
print("temperature" in margin.to_dict(), "temperature" in search_space("wide", margin))
"""


@pytest.mark.long
def test_tuning_knows_the_loss(extended, tmp_path):
    shutil.copytree(extended[0] / "tf_charagram", tmp_path / "tf_charagram")
    shutil.copytree(ROOT / "tuning", tmp_path / "tf_charagram" / "tuning")
    ended = run(tmp_path, "-c", WIDE)
    assert ended.stdout.splitlines() == ["0.2 (0.02, 0.05, 0.1)", "False False"], ended.stderr


@pytest.mark.long
def test_the_encoder_trains(extended, tmp_path):
    pairs, scored = write_pairs(tmp_path / "pairs.tsv"), write_scored(tmp_path / "scored.tsv")
    ended = run(
        extended[0], "-m", "tf_charagram.train", "--encoder", "ngram_mean", "--data", str(pairs),
        "--eval-data", str(scored), *QUICK, "--combiner", "sqrtn", "--output",
        str(tmp_path / "run"), "--json",
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    metrics = json.loads(ended.stdout.splitlines()[-1])
    assert metrics["encoder"] == "ngram_mean" and metrics["steps"] == 12
    card = json.loads((tmp_path / "run/saved_model/1/model_card.json").read_text())
    assert card["encoder"]["combiner"] == "sqrtn" and card["required_ops"] == {}


LEFT = """
import tf_charagram
from tf_charagram.export._serving.requests import sample_texts
from tf_charagram.models._storage.locations import MODELS, model_class
from tf_charagram.tasks import TASKS, settings_class, task_class
for name in TASKS:
    settings_class(name), task_class(name)
for kind in MODELS:
    assert sample_texts(model_class(kind))
print(*TASKS, *MODELS)
"""
#: Folder -> its tasks.
DELETED = {
    "duplicates": ["duplicates"],
    "labels": ["similarity", "entailment", "sentiment"],
    "tagging": ["pos"],
}


@pytest.mark.long
def test_deleted_tasks_are_gone(extended, tmp_path):
    """Their folders and their lines in the registry are all there is of them in other rooms."""
    shutil.copytree(extended[0] / "tf_charagram", tmp_path / "tf_charagram")
    shutil.copytree(ROOT / "export", tmp_path / "tf_charagram" / "export")
    registry = tmp_path / TASKS
    for folder, names in DELETED.items():
        shutil.rmtree(registry.parent / folder)
        for name in names:
            entry = rf'^    "{name}": TaskEntry\(.*?\),\n(?=    "|\}})'
            text, count = re.subn(entry, "", registry.read_text(), flags=re.MULTILINE | re.DOTALL)
            assert count == 1
            registry.write_text(text)
    ended = run(tmp_path, "-c", LEFT)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == ["words", "sentences", "distill", "embedder"]
