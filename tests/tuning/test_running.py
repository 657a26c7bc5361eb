"""Searches whose trials are not trained: order, resuming after a kill, failures, tables."""

from __future__ import annotations

import csv
import dataclasses
import json
import os
import shutil

import pytest

from tests.contracts import some_now
from tests.tuning.conftest import score_of
from tf_charagram.errors import ConfigError, RunError, TrainingError
from tf_charagram.tuning import command
from tf_charagram.tuning.oracles import make_oracle, open_oracle
from tf_charagram.tuning.results import best, ranked, read_results
from tf_charagram.tuning.search import SearchFolder
from tf_charagram.tuning.trials import TrialRunner

pytestmark = pytest.mark.usefixtures("untrained")


def run_search(search, folder, **options):
    """Runs a search; returns the results."""
    command.run_search(search, folder, **options)
    return read_results(folder)


class Killed(BaseException):
    """Ends a search as a kill would: nothing catches it."""


def rows(folder):
    with open(folder.path / "results.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_grid_runs_in_order(search, folder, untrained):
    results = run_search(search, folder)
    assert untrained == ["0", "1", "2", "3"]
    assert [result.values for result in results] == [
        search.combination(index) for index in range(4)
    ]
    expected = [score_of(search.trial_config(one.values, folder.path)) for one in results]
    assert [result.score for result in results] == expected
    assert best(results).id == "2"


def test_kerastuner_knows_numbers(search, folder):
    run_search(search, folder)
    trial = open_oracle(search, folder).get_best_trials(1)[0]
    assert trial.hyperparameters.values == {"batch_size": 20, "l2": 1e-4}
    tied = dataclasses.replace(search, space={"optimizer+learning_rate": (("adam", 0.1),)})
    assert make_oracle(tied).get_space().get("optimizer+learning_rate") == "adam,0.1"


def test_a_line_per_trial(search, folder, capsys):
    run_search(dataclasses.replace(search, max_trials=1), folder)
    said = capsys.readouterr().err
    assert said == "trial 0  completed  scored 20.00  batch_size=10 l2=0.0001  2 s\n"


def test_only_the_first_trials(search, folder, untrained):
    few = dataclasses.replace(search, max_trials=3)
    assert [result.id for result in run_search(few, folder)] == ["0", "1", "2"]
    assert len(run_search(search, folder)) == 4
    assert untrained == ["0", "1", "2", "3"]


@pytest.mark.parametrize("tuner", ["random", "bayesian"])
def test_every_combination_once(search, folder, untrained, tuner):
    if tuner == "bayesian":
        pytest.importorskip("sklearn")
    space = {"batch_size": (10, 20, 30), "l2": (1e-4, 1e-5, 1e-6)}
    results = run_search(dataclasses.replace(search, tuner=tuner, space=space), folder)
    assert len(results) == len({str(result.values) for result in results}) == 9


def test_hyperband_trains_few_for_long(search, folder):
    config = dataclasses.replace(search.config, epochs=3)
    space = {**search.space, "margin": (0.3, 0.4)}
    long = dataclasses.replace(search, config=config, space=space, tuner="hyperband")
    results = run_search(long, folder)
    assert {result.epochs for result in results} == {1.0, 3.0}
    assert any(one.epochs == 3 and one.score == best(results).score for one in results)
    with pytest.raises(ConfigError, match=r"draws 5 different combinations .* the space has 4"):
        make_oracle(dataclasses.replace(long, space=search.space))


def test_hyperband_trains_the_best_for_long_though_others_fail(search, folder, monkeypatch):
    train = TrialRunner._train

    def fail(self, config):
        if config.batch_size == 10:
            raise TrainingError("The loss is not finite.")
        train(self, config)

    monkeypatch.setattr(TrialRunner, "_train", fail)
    config = dataclasses.replace(search.config, epochs=3)
    space = {"batch_size": (10, 20, 30, 40, 50)}
    results = run_search(
        dataclasses.replace(search, config=config, space=space, tuner="hyperband"), folder
    )
    assert [one.status for one in results].count("failed") == 1
    first = max(results[:3], key=lambda one: one.score or 0.0)
    assert results[3].values == first.values and results[3].epochs == 3


def test_brackets_in_the_name_of_a_folder(search, tmp_path, untrained):
    folder = new_folder(tmp_path / "search[1]", search)
    run_search(dataclasses.replace(search, max_trials=2), folder)
    assert len(run_search(search, folder)) == 4
    assert untrained == ["0", "1", "2", "3"]


@pytest.mark.parametrize(
    ("tuner", "is_written"),
    some_now(kills := [("grid", False), ("grid", True), ("random", True)], kills[2]),
)
def test_a_kill_at_any_write(search, tmp_path, untrained, monkeypatch, tuner, is_written):
    """Ends a search just before or after each of its files appears, and goes on."""
    search = dataclasses.replace(search, tuner=tuner, space={"batch_size": (10, 20, 30)})
    replace = os.replace
    left = [10**9]

    def replace_or_die(source, target):
        left[0] -= 1
        if left[0] or is_written:
            replace(source, target)
        if not left[0]:
            raise Killed

    monkeypatch.setattr("tf_charagram.files.writing.os.replace", replace_or_die)
    kinds = set()
    for number in range(1, 10**3):
        folder = new_folder(tmp_path / str(number), search)
        untrained.clear()
        left[0] = number
        try:
            run_search(search, folder)
        except Killed:
            pass
        else:
            break
        ended = {result.id for result in read_results(folder)}
        left[0] = 10**9
        before = len(untrained)
        results = run_search(search, folder)
        again = untrained[before:]
        assert not ended & set(again)
        assert len(again) == len(set(again))
        assert [result.id for result in results] == ["0", "1", "2"]
        assert len({str(result.values) for result in results}) == 3
        assert [row["id"] for row in rows(folder)] == ["0", "1", "2"]
        oracle = open_oracle(search, folder)
        assert sorted(oracle.end_order) == ["0", "1", "2"]
        kinds.add(len(ended))
    assert number > 25
    assert kinds == {0, 1, 2, 3}


def new_folder(path, search):
    folder = SearchFolder(path)
    folder.path.mkdir(parents=True)
    folder.config.write_text(json.dumps({"settings": search.settings(), "data_files": {}}))
    return folder


def test_a_failure_is_one_trial_with_its_reason(search, folder, untrained, monkeypatch):
    train = TrialRunner._train

    def fail(self, config):
        if config.batch_size == 10:
            raise TrainingError("The loss is not finite\nat step 7.")
        train(self, config)

    monkeypatch.setattr(TrialRunner, "_train", fail)
    results = run_search(search, folder)
    assert [result.status for result in results] == ["failed"] * 2 + ["completed"] * 2
    assert rows(folder)[0]["reason"] == "The loss is not finite\nat step 7."
    assert rows(folder)[0]["score"] == ""
    monkeypatch.setattr(TrialRunner, "_train", train)
    untrained.clear()
    assert run_search(search, folder) == results
    assert untrained == []


@pytest.mark.parametrize("error", [RunError("The disk is full."), TypeError("a bug")])
def test_what_concerns_all_trials_ends_the_search(search, folder, monkeypatch, error):
    def fail(self, config):
        raise error

    train = TrialRunner._train
    monkeypatch.setattr(TrialRunner, "_train", fail)
    with pytest.raises(type(error), match=str(error)):
        run_search(search, folder)
    assert read_results(folder) == []
    monkeypatch.setattr(TrialRunner, "_train", train)
    assert len(run_search(search, folder)) == 4


def record(score):
    return {"step": 1, "epoch": 1.0, "seconds": 1.0, "scores": {"scored": score}}


def test_a_trial_without_a_score_has_failed(search, folder, monkeypatch):
    monkeypatch.setattr(
        "tf_charagram.training.run_folder.RunFolder.read_history", lambda self: [record(None)]
    )
    (result,) = run_search(dataclasses.replace(search, max_trials=1), folder)
    assert result.status == "failed"
    assert result.reason == "no score on scored: all pairs get the same cosine"


def test_hopeless_trials_are_stopped(search, folder):
    space = {"batch_size": (40, 41, 42, 10, 39), "l2": (0.0,)}
    search = dataclasses.replace(search, space=space, stop_hopeless=5.0)
    results = run_search(search, folder)
    statuses = [result.status for result in results]
    assert statuses == ["completed"] * 3 + ["stopped", "completed"]
    assert results[3].epochs == 0.5 and results[3].score == 9.0
    assert results[3].reason == "9.00 on scored after 0.5 epochs; the median is 40.00"
    assert ranked(results)[-1].id == "3"
    open_oracle(search, folder)


@pytest.mark.parametrize(("objective", "score"), [("max", 5.0), ("final", 3.0)])
def test_objective(search, folder, monkeypatch, objective, score):
    history = [record(5.0), record(None), record(3.0)]
    monkeypatch.setattr(
        "tf_charagram.training.run_folder.RunFolder.read_history", lambda self: history
    )
    one = dataclasses.replace(search, max_trials=1, objective=objective)
    assert run_search(one, folder)[0].score == score


def test_tables(search, folder):
    run_search(search, folder)
    table = rows(folder)
    assert list(table[0]) == [
        "id", "status", "batch_size", "l2", "score", "score.scored", "epochs", "seconds", "reason",
    ]  # fmt: skip
    assert [(row["batch_size"], row["l2"]) for row in table] == [
        ("10", "0.0001"), ("10", "1e-05"), ("20", "0.0001"), ("20", "1e-05"),
    ]  # fmt: skip
    found = json.loads((folder.path / "results.json").read_text())
    assert found["num_trials"] == search.num_trials
    assert [trial["id"] for trial in found["trials"]] == ["2", "3", "0", "1"]
    assert found["select"] == "scored" and found["space"]["l2"] == [1e-4, 1e-5]


@pytest.mark.parametrize("keep", [0, 2])
def test_only_the_best_models_are_kept(search, folder, keep):
    run_search(search, folder, keep=keep)
    kept = {path.parent.name for path in folder.trials.glob("*/model")}
    assert kept == set(["2", "3"][:keep])
    assert len(list(folder.trials.glob("*/metrics.json"))) == 4


def test_a_copy_of_a_trial_is_no_trial(search, folder, untrained):
    run_search(search, folder)
    shutil.copytree(folder.trials / "0", folder.trials / "0 (copy)")
    assert [result.id for result in run_search(search, folder)] == ["0", "1", "2", "3"]


def test_damage_is_said(search, folder):
    run_search(dataclasses.replace(search, max_trials=1), folder)
    (folder.oracle / "oracle.json").write_text("{")
    with pytest.raises(RunError, match="oracle is damaged"):
        run_search(search, folder)
    (folder.trials / "0" / "result.json").write_text("{")
    with pytest.raises(RunError, match=r"result\.json is damaged"):
        read_results(folder)
