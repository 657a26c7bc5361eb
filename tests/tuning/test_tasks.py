"""Searches of the tasks with labels: their flags, sets and trials."""

from __future__ import annotations

import csv
import json

import pytest

from tests.commands import QUICK, call, interrupt_training_at, leave_out_export
from tf_charagram.tuning.search import SearchFolder
from tf_charagram.tuning.trials import read_results

POS = (
    "--task", "pos", "--dim", 6, "--lstm-dim", 4, "--hidden-dim", 5, "--select", "starter.dev",
    "--trial-epochs", 0.2, "--evaluations-per-epoch", 10, "--batch-size", 40, "--num-layers", 1,
    "--activation", "tanh",
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
    with open(tagged.path / "results.csv", newline="") as file:
        assert "score.starter.test" in next(csv.DictReader(file))


def test_the_winner_is_exported(tagged):
    assert (tagged.winner / "saved_model" / "1" / "saved_model.pb").is_file()
    assert (tagged.winner / "texts.txt").is_file()
    winner = json.loads((tagged.winner / "config.json").read_text())["settings"]
    assert (winner["task"], winner["epochs"], winner["lstm_dim"]) == ("pos", 0.1, 4)


@pytest.mark.long
@pytest.mark.parametrize(
    ("flags", "values"),
    [
        # Settings tied to `optimizer` vary alone.
        (("--freeze", "--optimizer", "adagrad"), {"l2_head", "learning_rate"}),
        (("--space", "wide", "--tuner", "random", "--optimizer", "adam"), {"pull_back", "decay"}),
    ],
)
def test_on_top_of_a_model_of_paraphrases(data, tmp_path, flags, values):
    init, folder = tmp_path / "init", SearchFolder(tmp_path / "search")
    with pytest.MonkeyPatch.context() as patch:
        leave_out_export(patch)
        pairs = ["--data", data[0], "--eval-data", data[1], *QUICK, "--out", init]
        assert call("train", *pairs, "--encoder", "rnn") == 0
    flags = ["--task", "similarity", "--select", "starter.dev", "--trial-epochs", 0.2, *flags]
    assert tune(*flags, "--max-trials", 2, "--init", init, "--out", folder.path) == 0
    assert json.loads(folder.config.read_text())["settings"]["encoder"] == "rnn"
    for result in read_results(folder):
        assert result.status == "completed" and values <= result.values.keys()
        assert "optimizer" not in result.values


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--task", "poss"], "Unknown task 'poss'. Did you mean 'pos'?"),
        (["--task", "pos", "--encoder", "cse"], "The task 'pos' composes words from characters"),
        (["--task", "pos", "--data", "none.conllu"], "none.conllu: no such file"),
        (["--task", "sentiment", "--eval-data", "none.tsv"], "none.tsv: no such file"),
        (["--task", "entailment", "--data", __file__], "A search needs --select"),
        (["--task", "similarity", "--init", "none"], "none"),
    ],
)
def test_bad_input(tmp_path, capsys, monkeypatch, flags, message):
    monkeypatch.chdir(tmp_path)
    assert tune(*flags) == 1
    assert f"error: {message}" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
