"""The command line: plans and errors."""

from __future__ import annotations

import pytest

from tests.commands import call
from tests.search.conftest import save_model


def tune(data, *more):
    flags = ["--data", data[0], "--eval-data", data[1], "--dim", 8, "--select", "scored"]
    return call("tune", *flags, *more)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--select", "scorde"], "Unknown set for --select 'scorde'. Did you mean 'scored'?"),
        (["--select", "last"], "A search needs --select, the set on which trials are"),
        (["--encoder", "cse"], "The papers have no grid for the encoder 'cse' on words."),
        (["--max-trials", 0], "`max_trials` must be at least 1. Received: max_trials=0"),
        (["--epochs", 0], "`epochs` must be at least 1e-06."),
        (["--tuner", "hyperband"], "Hyperband stops trials after whole epochs"),
        (["--batch-size", 10, "--negatives", "max", "--l2", 0, "--activation", "tanh"],
         "There is nothing to search: every field is fixed by a flag or by --init."),
    ],
)  # fmt: skip
def test_bad_input(data, tmp_path, capsys, monkeypatch, flags, message):
    monkeypatch.chdir(tmp_path)
    assert tune(data, *flags) == 1
    assert f"error: {message}" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--epocsh", 1], "Did you mean --epochs?"),
        (["--space", "papers"], "Got value: papers"),
    ],
)
def test_wrong_flags(data, capsys, flags, message):
    assert tune(data, *flags) == 2
    assert message in capsys.readouterr().err


def test_names_are_not_markup(data, tmp_path, capsys, untrained):
    folder = tmp_path / "x[lr=1]" / "a:b:c"
    assert tune(data, "--output", folder, "--max-trials", 1) == 0
    said = capsys.readouterr().out
    assert f"1 trials of 24 combinations, grid -> {folder}\n" in said
    assert f"{folder}/results.csv" in said
    assert tune(data, "--output", folder, "--max-trials", 2, "--resume") == 0
    assert untrained == ["0", "1"]


def test_plan(data, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert tune(data, "--plan", "--negatives", "max") == 0
    said = capsys.readouterr().out
    assert "12 trials of 12 combinations, grid" in said
    assert ["l2", "0.0001", "1e-05", "1e-06"] in [line.split() for line in said.splitlines()]
    assert list(tmp_path.iterdir()) == []


def test_the_model_to_start_from_is_not_overwritten(data, tmp_path, capsys):
    """A search may go on from the winner of another, but not take its folder."""
    folder = tmp_path / "search"
    save_model(folder / "winner", seed=1)
    (folder / "search.json").write_text('{"settings": {}, "data_files": {}}')
    flags = ["--init", folder / "winner", "--output", folder, "--epochs", 1, "--overwrite"]
    flags = ["--data", data[0], "--eval-data", data[1], "--select", "scored", *flags]
    assert call("tune", *flags) == 1
    assert "`init` must not lie in `output`" in capsys.readouterr().err
    assert (folder / "winner" / "config.json").is_file()
