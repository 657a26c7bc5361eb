"""Trials that are trained: each is the run that `train` would have made."""

from __future__ import annotations

import dataclasses
import gc
import json
import weakref

import pytest

from tests.commands import call
from tf_charagram.training.run import TrainingRun
from tf_charagram.tuning._search.search import SearchFolder, TuneConfig
from tf_charagram.tuning._search.trials import TrialTuner, read_results
from tf_charagram.tuning.command import run_search

SHARED = ("--dim", "8", "--evaluations-per-epoch", "2", "--select", "scored")


def tune(data, out, *more):
    return call("tune", "--data", data[0], "--eval-data", data[1], *SHARED, "--output", out, *more)


@pytest.fixture(scope="module")
def searched(data, tmp_path_factory):
    """Returns the folder of a finished search of two trials."""
    folder = SearchFolder(tmp_path_factory.mktemp("tuning") / "search")
    flags = ["--l2", 1e-4, "--batch-size", 10, "--activation", "tanh", "--keep", 1]
    assert tune(data, folder.path, *flags, "--finish", 2) == 0
    return folder


@pytest.mark.usefixtures("unexported")
def test_a_trial_is_a_run_of_train(data, searched, tmp_path):
    folder, (_, result) = searched, read_results(searched)
    # Settings that are given are not searched.
    assert result.values == {"negatives": "mix"}
    flags = ["--epochs", 1, "--l2", 1e-4, "--batch-size", 10, "--activation", "tanh"]
    run = ["--data", data[0], "--eval-data", data[1], *SHARED, *flags, "--negatives", "mix"]
    assert call("train", *run, "--output", tmp_path / "run") == 0
    scores = json.loads((tmp_path / "run" / "metrics.json").read_text())["scores"]
    assert scores == result.scores
    ours = (folder.trials / result.id / "history.jsonl").read_text().splitlines()
    theirs = (tmp_path / "run" / "history.jsonl").read_text().splitlines()
    for mine, other in zip(map(json.loads, ours), map(json.loads, theirs), strict=True):
        assert {**mine, "seconds": 0} == {**other, "seconds": 0}
    assert result.score == max(json.loads(line)["scores"]["scored"] for line in ours)


def test_what_a_search_leaves(searched):
    folder = searched
    names = {path.name for path in folder.path.iterdir()}
    assert names == {"search.json", "oracle", "trials", "winner", "results.csv"}
    assert len(list(folder.trials.glob("*/model"))) == 1
    assert not list(folder.trials.glob("*/checkpoints"))
    assert not list(folder.trials.glob("*/saved_model"))
    assert "epoch 1.00" in (folder.trials / "0" / "log.txt").read_text()
    assert (folder.winner / "saved_model" / "1" / "saved_model.pb").is_file()
    assert json.loads((folder.winner / "config.json").read_text())["settings"]["epochs"] == 2


def test_nothing_is_trained_twice(data, searched, monkeypatch, capsys):
    def forbidden(*_):
        raise AssertionError

    monkeypatch.setattr(TrialTuner, "_train", forbidden)
    flags = ["--l2", 1e-4, "--batch-size", 10, "--activation", "tanh"]
    assert tune(data, searched.path, *flags, "--resume") == 0
    assert "2 trials of 2 combinations" in capsys.readouterr().out
    assert tune(data, searched.path, *flags) == 1
    assert "exists. Add --resume to go on with it" in capsys.readouterr().err
    assert tune(data, searched.path, *flags, "--resume", "--margin", 0.5) == 1
    assert "margin was 0.4, is 0.5" in capsys.readouterr().err
    assert tune(data, searched.path, *flags[2:], "--resume") == 1
    assert "space.l2 was None, is [0.0001, 1e-05, 1e-06]" in capsys.readouterr().err
    winner = (searched.winner / "config.json").read_bytes()
    assert tune(data, searched.path, *flags, "--resume", "--finish", 3) == 1
    assert "was started with other settings: epochs was 2, is 3" in capsys.readouterr().err
    assert (searched.winner / "config.json").read_bytes() == winner


@pytest.mark.long
def test_a_trial_gives_its_memory_back(search, folder, monkeypatch):
    weights, begin = [], TrainingRun.__init__

    def watched(run, *args, **kwargs):
        begin(run, *args, **kwargs)
        weights.extend(weakref.ref(weight.value) for weight in run.loop.model.all_weights)

    monkeypatch.setattr(TrainingRun, "__init__", watched)
    run_search(dataclasses.replace(search, settings=TuneConfig(max_trials=1)), folder)
    assert [result.status for result in read_results(folder)] == ["completed"]
    gc.collect()
    assert weights and all(weight() is None for weight in weights)


def test_a_loss_that_is_not_finite_is_one_failed_trial(data, tmp_path, capsys):
    flags = ["--space", "wide", "--tuner", "random", "--max-trials", 1, "--learning-rate", "1e38"]
    assert tune(data, tmp_path / "search", *flags) == 1
    assert "error: No trial was completed" in capsys.readouterr().err
    (result,) = read_results(SearchFolder(tmp_path / "search"))
    assert result.status == "failed" and result.score is None
    assert "Try a smaller --learning-rate" in result.reason
