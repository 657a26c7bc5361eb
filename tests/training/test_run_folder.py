"""Files of a run folder that were cut short, or changed by somebody."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tf_charagram.errors import ConfigError, RunError
from tf_charagram.training._loop.run_folder import RunFolder

CONFIG = {"settings": {"dim": 3}, "data_files": {}}

GOOD = '{"step": 1, "loss": 0.5}\n{"step": 4, "loss": 0.25}\n'


@pytest.mark.parametrize(
    "bad",
    [b'{"step": 2, "lo', b"[1, 2]\n", b'{"loss": 1}\n', b'{"step": [1]}\n', b"\xff\xfe\n", b"7\n",
     b'{"a":' * 100_000],
)  # fmt: skip
def test_history_without_its_bad_lines(tmp_path, bad):
    folder = RunFolder(tmp_path)
    folder.history.write_bytes(GOOD.encode() + bad)
    assert [record["step"] for record in folder.read_history()] == [1, 4]
    folder.trim_history(3)
    assert folder.read_history() == [{"step": 1, "loss": 0.5}]
    assert folder.history.read_text() == GOOD.splitlines()[0] + "\n"


@pytest.mark.parametrize("text", ["{", "[]", "[" * 100_000, '{"settings": 1}'])
def test_config(tmp_path, text):
    folder = RunFolder(tmp_path)
    folder.config.write_text(text)
    with pytest.raises(RunError, match=r"config.json is damaged"):
        folder.check_config({"settings": {}, "data_files": {}})


def opened(path, **flags):
    return RunFolder.open(path, "name", **{"resume": False, "overwrite": False, **flags})


def test_goes_on_or_begins_anew(tmp_path):
    with pytest.raises(RunError, match=r"--overwrite replaces it\. Give one of the two"):
        opened(tmp_path, resume=True, overwrite=True)


@pytest.mark.parametrize("name", ["checkpoints", "history.jsonl"])
def test_no_run_goes_on_among_other_files(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(RunError, match=r"is not a run folder, so there is no run to resume"):
        opened(tmp_path, resume=True)


@pytest.mark.parametrize("names", [[], [".config.json.part", "log.txt"]], ids=str)
def test_a_run_that_was_killed_before_it_began_goes_on(tmp_path, names):
    for name in names:
        (tmp_path / name).write_text("")
    folder = opened(tmp_path, resume=True)
    folder.begin(CONFIG)
    assert folder.config.is_file()


def test_a_run_that_was_killed_while_it_was_overwritten(tmp_path, monkeypatch):
    """What is left can be overwritten again."""
    opened(tmp_path / "run").begin(CONFIG)
    (tmp_path / "run" / "model").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "iterdir", lambda self: map(self.joinpath, sorted(os.listdir(self))))
        patch.setattr(shutil, "rmtree", lambda path: sys.exit())
        with pytest.raises(SystemExit):
            opened(tmp_path / "run", overwrite=True).begin(CONFIG)
    opened(tmp_path / "run", overwrite=True).begin(CONFIG)
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["config.json"]


@pytest.mark.parametrize("config", ['{"name": "my web app"}', "[1]", "{", '{"format_version": 1}'])
def test_a_folder_of_something_else_is_not_overwritten(tmp_path, config):
    """Many programs have a `config.json`, and so has a model folder."""
    (tmp_path / "config.json").write_text(config)
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(RunError, match="is not a run folder, so it is not overwritten"):
        opened(tmp_path, overwrite=True)
    assert (tmp_path / "thesis.txt").read_text() == "precious"


def test_only_the_run_is_overwritten(tmp_path):
    """Its own files, whole and half written; what others put beside them may be its data."""
    opened(tmp_path).begin(CONFIG)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    for name in ("metrics.json", ".metrics.json.part", "pairs.tsv", ".hidden", "models"):
        (tmp_path / name).write_text("x")
    opened(tmp_path, overwrite=True).begin(CONFIG)
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == [".hidden", "config.json", "models", "pairs.tsv"]


def test_a_place_that_is_not_on_this_machine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="gs://bucket/run is not a local path"):
        opened("gs://bucket/run")
    assert not list(tmp_path.iterdir())
