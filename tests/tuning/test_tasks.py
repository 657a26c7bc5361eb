"""Searches of the tasks with labels: their flags, sets and trials."""

from __future__ import annotations

import csv
import json

import pytest

from tests.commands import QUICK, call, interrupt_training_at, leave_out_export
from tf_charagram.tuning.search import SearchFolder
from tf_charagram.tuning.trials import read_results

SMALL = ("--dim", 6)
POS = (
    "--task", "pos", *SMALL, "--lstm-dim", 4, "--hidden-dim", 5, "--select", "starter.dev",
    "--trial-epochs", 0.2, "--evaluations-per-epoch", 10, "--batch-size", 40, "--num-layers", 1,
    "--activation", "tanh",
)  # fmt: skip
SIMILARITY = (
    "--task", "similarity", *SMALL, "--encoder", "word_average", "--select", "starter.dev",
    "--trial-epochs", 0.5, "--batch-size", 50, "--l2-head", 1e-4, "--l2-words", 1e-5,
)  # fmt: skip


def tune(*flags):
    return call("tuning.command", *flags)


@pytest.fixture(scope="module")
def tagged(tmp_path_factory):
    """Returns the folder of a finished search of two taggers, one stopped on its way."""
    folder = SearchFolder(tmp_path_factory.mktemp("tuning") / "pos")
    with pytest.MonkeyPatch.context() as patch:
        interrupt_training_at(patch, 2)
        assert tune(*POS, "--keep", 1, "--out", folder.path) == 130
    flags = ["--resume", "--keep", 1, "--finish", 0.1]
    assert tune(*POS, *flags, "--out", folder.path) == 0
    return folder


@pytest.mark.long
def test_taggers(tagged):
    results = read_results(tagged)
    assert [result.values for result in results] == [{"min_count": 1}, {"min_count": 2}]
    assert {result.status for result in results} == {"completed"}
    for result in results:
        history = (tagged.trials / result.id / "history.jsonl").read_text().splitlines()
        scores = [json.loads(line)["scores"] for line in history]
        assert len(scores) == 2
        assert result.score == max(score["starter.dev"] for score in scores)
        assert result.scores in scores
    assert len(list(tagged.trials.glob("*/model"))) == 1
    assert not list(tagged.trials.glob("*/saved_model")) + list(tagged.trials.glob("*/texts.txt"))
    metrics = json.loads((tagged.trials / "0" / "metrics.json").read_text())
    assert "saved_model" not in metrics["paths"]


def test_the_winner_is_exported(tagged):
    assert (tagged.winner / "saved_model" / "1" / "saved_model.pb").is_file()
    assert (tagged.winner / "texts.txt").is_file()
    winner = json.loads((tagged.winner / "config.json").read_text())["settings"]
    assert (winner["task"], winner["epochs"], winner["lstm_dim"]) == ("pos", 0.1, 4)


def test_tables(tagged):
    with open(tagged.path / "results.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        "id", "status", "min_count", "score", "score.starter.dev", "score.starter.test", "epochs",
        "seconds", "reason",
    ]  # fmt: skip


def test_a_changed_search_is_not_resumed(tagged, capsys):
    assert tune(*POS, "--resume", "--lstm-dim", 8, "--out", tagged.path) == 1
    assert "lstm_dim was 4, is 8" in capsys.readouterr().err
    assert tune(*SIMILARITY, "--resume", "--out", tagged.path) == 1
    assert "task was pos, is similarity" in capsys.readouterr().err


@pytest.mark.long
def test_similarity(tmp_path, weights_in_memory):
    folder = SearchFolder(tmp_path / "search")
    assert tune(*SIMILARITY, "--max-trials", 2, "--out", folder.path) == 0
    results = read_results(folder)
    assert [result.values for result in results] == [
        {"hidden_dim": 50, "optimizer": "adagrad", "learning_rate": 0.05},
        {"hidden_dim": 50, "optimizer": "adam", "learning_rate": 0.001},
    ]
    found = json.loads((folder.trials / "0" / "config.json").read_text())["settings"]
    assert (found["optimizer"], found["learning_rate"]) == ("adagrad", 0.05)
    assert set(weights_in_memory()) == {False}


@pytest.fixture(scope="module")
def init(data, tmp_path_factory):
    """Returns the folder of a run of paraphrases."""
    folder = tmp_path_factory.mktemp("init") / "paraphrases"
    pairs = ["--data", data[0], "--eval-data", data[1], *QUICK, "--out", folder]
    with pytest.MonkeyPatch.context() as patch:
        leave_out_export(patch)
        assert call("train", *pairs, "--encoder", "word_average") == 0
    return folder


ON_TOP = ("--task", "similarity", "--select", "starter.dev", "--trial-epochs", 0.2,
          "--max-trials", 2)  # fmt: skip


@pytest.mark.long
def test_on_top_of_a_frozen_model_of_paraphrases(init, tmp_path):
    flags = [*ON_TOP, "--init", init]
    frozen = SearchFolder(tmp_path / "frozen")
    assert tune(*flags, "--freeze", "--optimizer", "adagrad", "--out", frozen.path) == 0
    # The encoder is that of the model; settings tied to `optimizer` vary alone.
    assert json.loads(frozen.config.read_text())["settings"]["encoder"] == "word_average"
    assert [result.values for result in read_results(frozen)] == [
        {"l2_head": 0.001, "learning_rate": 0.05}, {"l2_head": 0.001, "learning_rate": 0.001},
    ]  # fmt: skip


@pytest.mark.long
def test_a_wide_search_on_top_of_a_model_of_paraphrases(init, tmp_path):
    wide = SearchFolder(tmp_path / "wide")
    flags = ["--space", "wide", "--tuner", "random", "--out", wide.path]
    assert tune(*ON_TOP, "--init", init, *flags) == 0
    assert all(result.status == "completed" for result in read_results(wide))


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--task", "poss"], "Unknown task 'poss'. Did you mean 'pos'?"),
        (["--task", "pos"], "A search needs --select, the set on which trials are"),
        (["--task", "pos", "--encoder", "cse"], "The task 'pos' composes words from characters"),
        (["--task", "pos", "--data", "none.conllu"], "none.conllu: no such file"),
        (["--task", "sentiment", "--eval-data", "none.tsv"], "none.tsv: no such file"),
        (["--task", "entailment", "--data", __file__], "A search needs --select"),
        (["--task", "similarity", "--select", "starter.dev", "--pull-back"],
         "`pull_back` needs `init`"),
        (["--task", "similarity", "--init", "none"], "none"),
    ],
)  # fmt: skip
def test_bad_input(tmp_path, capsys, monkeypatch, flags, message):
    monkeypatch.chdir(tmp_path)
    assert tune(*flags) == 1
    assert f"error: {message}" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_flags_are_those_of_the_task(capsys):
    assert tune("--task", "pos", "--margin", 0.4) == 2
    assert "unknown flag --margin" in capsys.readouterr().err
    assert tune("--task", "pos", "--help-all") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "--lstm-dim" in said and "These are the flags of pos" in said
