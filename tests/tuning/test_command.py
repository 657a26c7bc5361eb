"""The command line: plans and errors."""

from __future__ import annotations

import json
import socket

import pytest

from tests.commands import call
from tests.search.conftest import save_model
from tf_charagram.cli.run_flags import parse_run
from tf_charagram.tuning import workers
from tf_charagram.tuning.command import describe_trials, make_parser
from tf_charagram.tuning.search import TuneConfig, make_search


def tune(data, *more):
    flags = ["--data", data[0], "--eval-data", data[1], "--dim", 8, "--select", "scored"]
    return call("tuning.command", *flags, *more)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--space", "papers"], "Unknown space 'papers'. Did you mean 'paper'? Available: paper"),
        (["--preset", "papers"], "Unknown preset 'papers'. Did you mean 'paper'? Available: fine"),
        (["--tuner", "gird"], "Unknown tuner 'gird'. Did you mean 'grid'?"),
        (["--objective", "maximum"], "Unknown objective 'maximum'."),
        (["--select", "scorde"], "Unknown set for --select 'scorde'. Did you mean 'scored'?"),
        (["--select", "last"], "A search needs --select, the set on which trials are"),
        (["--encoder", "char_ccn"], "Unknown encoder 'char_ccn'. Did you mean 'char_cnn'?"),
        (["--encoder", "cse"], "The papers have no grid for the encoder 'cse' on words."),
        (["--data", "startr"], "Unknown file or data set 'startr'. Did you mean 'starter'?"),
        (["--max-trials", 0], "`max_trials` must be at least 1. Received: max_trials=0"),
        (["--trial-epochs", 0], "`trial_epochs` must be at least 1e-06."),
        (["--workers", 0], "`workers` must be at least 1."),
        (["--keep", -1], "`keep` must be at least 0."),
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


def test_an_unknown_flag(data, capsys):
    assert tune(data, "--trial-epocsh", 1) == 2
    assert "Did you mean --trial-epochs?" in capsys.readouterr().err
    assert tune(data, "--epochs", 1) == 2


def test_a_folder_that_is_no_search_is_not_overwritten(data, tmp_path, capsys):
    (tmp_path / "file").write_text("mine")
    assert tune(data, "--out", tmp_path, "--overwrite") == 1
    assert (tmp_path / "file").exists()
    assert tune(data, "--out", tmp_path) == 1
    assert "Add --resume" in capsys.readouterr().err


def test_names_are_not_markup(data, tmp_path, capsys, untrained):
    folder = tmp_path / "x[lr=1]" / "a:b:c"
    assert tune(data, "--out", folder, "--max-trials", 1) == 0
    said = capsys.readouterr().out
    assert f"the first ones -> {folder}\n" in said and f"{folder}/results.csv" in said


def test_frozen_words_are_not_pulled(data):
    flags = [
        "--data",
        data[0],
        "--eval-data",
        data[1],
        "--select",
        "scored",
        "--freeze-words",
        "--word-vectors",
        "v.txt",
    ]
    flags = [str(flag) for flag in [*flags, "--task", "sentences", "--encoder", "projection"]]
    config, _, given = parse_run(flags, make_parser)
    space = make_search(TuneConfig(), config, given).space
    assert "l2_words" not in space and "l2_composition" in space


def test_plan(data, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    flags = ["--negatives", "max", "--trial-examples", 30]
    assert tune(data, "--plan", *flags) == 0
    said = capsys.readouterr().out
    assert "12 trials, all combinations" in said
    rows = [line.split() for line in said.splitlines() if "tanh" in line or "linear" in line]
    assert len(rows) == 12
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({}, "4 trials, all combinations"),
        ({"max_trials": 3}, "3 trials of 4 combinations, the first ones"),
        ({"tuner": "random", "max_trials": 2}, "2 trials of 4 combinations, at random"),
    ],
)
def test_which_part_of_the_space_runs(search, flags, said):
    import dataclasses

    assert describe_trials(dataclasses.replace(search, **flags)) == said


def test_pairs_of_a_trial(data, tmp_path, untrained):
    out = tmp_path / "search"
    flags = ["--space", "paper", "--max-trials", 1, "--out", out]
    assert tune(data, *flags, "--trial-examples", 30) == 0
    saved = json.loads((out / "search.json").read_text())["settings"]
    assert saved["search.share"] == 0.5 and saved["epochs"] == 1.0


@pytest.mark.parametrize(
    ("flags", "epochs", "share"),
    [((), 5, 1.0), (("--trial-epochs", 2, "--trial-examples", 30), 2, 0.5)],
)
def test_a_preset(data, tmp_path, untrained, flags, epochs, share):
    out = tmp_path / "search"
    flags = ["--task", "sentences", "--encoder", "dan", "--preset", "paper", *flags]
    assert tune(data, *flags, "--max-trials", 1, "--out", out) == 0
    saved = json.loads((out / "search.json").read_text())["settings"]
    assert (saved["preset"], saved["mask_duplicates"], saved["dense_l2"]) == ("paper", False, True)
    assert (saved["epochs"], saved["search.share"]) == (epochs, share)
    # What it sets is searched all the same.
    assert len(saved["space.batch_size"]) == 3


def test_a_part_of_a_grid(data, tmp_path, capsys, untrained):
    """The grid of the Charagram paper for word averaging, made of that of Universal."""
    flags = ["--task", "sentences", "--encoder", "word_average", "--batch-size", 100]
    flags += ["--negatives", "max", "--margin", 0.4, "--optimizer", "adam"]
    (tmp_path / "fixed.yaml").write_text("clip_norm: null\n")
    flags += ["--learning-rate", 0.001, "--config", tmp_path / "fixed.yaml"]
    flags += ["--out", tmp_path / "search"]
    assert tune(data, *flags) == 0
    assert "4 trials, all combinations" in capsys.readouterr().out
    saved = json.loads((tmp_path / "search" / "search.json").read_text())["settings"]
    assert saved["space.l2_words"] == [1e-5, 1e-6, 1e-7, 1e-8]
    assert saved["clip_norm"] is None and saved["epochs"] == 5


class TestRoles:
    @pytest.fixture
    def variables(self, monkeypatch):
        def set_variables(tuner_id, port):
            names = (workers.ID, workers.IP, workers.PORT)
            for name, value in zip(names, (tuner_id, "127.0.0.1", port), strict=True):
                monkeypatch.setenv(name, str(value))

        return set_variables

    def test_some_variables_are_missing(self, data, capsys, monkeypatch):
        monkeypatch.setenv(workers.ID, "chief")
        assert tune(data) == 1
        assert "A search on several machines needs KERASTUNER_TUNER_ID" in capsys.readouterr().err

    def test_a_port_in_use(self, data, tmp_path, capsys, variables):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            variables("chief", taken.getsockname()[1])
            assert tune(data, "--out", tmp_path / "search") == 1
        assert "Cannot serve at 127.0.0.1:" in capsys.readouterr().err

    def test_a_worker_without_a_chief(
        self, data, tmp_path, capsys, variables, monkeypatch, untrained
    ):
        monkeypatch.setattr(workers, "_TIMEOUT_S", 0.2)
        assert tune(data, "--out", tmp_path / "search", "--max-trials", 1) == 0
        with socket.create_server(("127.0.0.1", 0)) as server:
            free = server.getsockname()[1]
        variables("worker-0", free)
        assert tune(data, "--out", tmp_path / "search") == 1
        assert f"No chief answers at 127.0.0.1:{free} within 0.2 s" in capsys.readouterr().err
        assert tune(data) == 1
        assert "A worker needs --out, the folder of the chief." in capsys.readouterr().err

    def test_workers_of_its_own(self, data, capsys, variables):
        variables("chief", 8000)
        assert tune(data, "--workers", 2) == 1
        assert "`workers` are processes on this machine" in capsys.readouterr().err


def test_the_model_to_start_from_is_not_overwritten(data, tmp_path, capsys):
    """A search may go on from the winner of another, but not take its folder."""
    folder = tmp_path / "search"
    save_model(folder / "winner", seed=1)
    (folder / "search.json").write_text('{"settings": {}, "data_files": {}}')
    flags = ["--init", folder / "winner", "--out", folder, "--trial-epochs", 1, "--overwrite"]
    flags = ["--data", data[0], "--eval-data", data[1], "--select", "scored", *flags]
    assert call("tuning.command", *flags) == 1
    assert "`init` must not lie in `out`" in capsys.readouterr().err
    assert (folder / "winner" / "config.json").is_file()
