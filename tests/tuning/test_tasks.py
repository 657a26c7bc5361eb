"""Searches of the tasks with labels: their flags, sets and trials."""

from __future__ import annotations

import csv
import json

import pytest

from tests.commands import QUICK, call, interrupt_training_at, leave_out_export
from tf_charagram.tuning._search.search import SearchFolder
from tf_charagram.tuning._search.trials import read_results

POS = (
    "--task", "pos", "--dim", 6, "--hidden-dim", 5, "--select", "starter.dev",
    "--epochs", 0.2, "--evaluations-per-epoch", 10, "--batch-size", 40, "--num-layers", 1,
    "--activation", "tanh",
)  # fmt: skip


def tune(*flags):
    return call("tune", *flags)


@pytest.mark.long
def test_taggers(tmp_path):
    """The first is stopped on its way."""
    folder = SearchFolder(tmp_path / "pos")
    with pytest.MonkeyPatch.context() as patch:
        interrupt_training_at(patch, 2)
        assert tune(*POS, "--keep", 1, "--output", folder.path) == 130
    assert (folder.trials / "0" / "checkpoints").is_dir()
    assert tune(*POS, "--keep", 1, "--resume", "--output", folder.path) == 0
    results = read_results(folder)
    assert [result.values for result in results] == [{"min_count": 1}, {"min_count": 2}]
    assert {result.status for result in results} == {"completed"}
    for result in results:
        history = (folder.trials / result.id / "history.jsonl").read_text().splitlines()
        scores = [json.loads(line)["scores"] for line in history]
        assert len(scores) == 2
        assert result.score == max(score["starter.dev"] for score in scores)
        assert result.scores in scores
    assert len(list(folder.trials.glob("*/model"))) == 1
    assert not list(folder.trials.glob("*/saved_model")) + list(folder.trials.glob("*/texts.txt"))
    with open(folder.path / "results.csv", newline="") as file:
        assert "score.starter.test" in next(csv.DictReader(file))


@pytest.mark.long
@pytest.mark.parametrize(
    ("flags", "values"),
    [
        # Settings tied to `optimizer` vary alone.
        (("--freeze=encoder", "--optimizer", "adagrad"), {"l2_head", "learning_rate"}),
        (("--space", "wide", "--tuner", "random", "--optimizer", "adam"), {"pull_back", "decay"}),
    ],
)
def test_on_top_of_a_model_of_paraphrases(data, tmp_path, flags, values):
    init, folder = tmp_path / "init", SearchFolder(tmp_path / "search")
    with pytest.MonkeyPatch.context() as patch:
        leave_out_export(patch)
        pairs = ["--data", data[0], "--eval-data", data[1], *QUICK, "--output", init]
        assert call("train", *pairs, "--encoder", "rnn") == 0
    flags = ["--task", "similarity", "--select", "starter.dev", "--epochs", 0.2, *flags]
    assert tune(*flags, "--max-trials", 2, "--init", init, "--output", folder.path) == 0
    assert json.loads(folder.config.read_text())["settings"]["encoder"] == "rnn"
    for result in read_results(folder):
        assert result.status == "completed" and values <= result.values.keys()
        assert "optimizer" not in result.values


@pytest.mark.parametrize(
    ("flags", "message"),
    [
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
