"""Searches whose trials are not trained: order, resuming after a kill, failures, tables."""

from __future__ import annotations

import csv
import dataclasses
import os

import pytest

from tests.tuning.conftest import score_of
from tests.variants import some_now
from tf_charagram.errors import RunError, TrainingError
from tf_charagram.tuning import command
from tf_charagram.tuning._search.search import SearchFolder, TuneConfig
from tf_charagram.tuning._search.trials import TrialTuner, best_first, read_results

pytestmark = pytest.mark.usefixtures("untrained")


def run_search(search, folder):
    """Runs a search; returns the results."""
    command.run_search(search, folder)
    return read_results(folder)


def changed(search, space=None, epochs=1, **settings):
    """Returns a search with other settings."""
    return dataclasses.replace(
        search, config=search.config.replace(epochs=epochs), space=space or search.space,
        settings=TuneConfig(**settings),
    )  # fmt: skip


def failing(monkeypatch, error):
    """Replaces training of trials with small batches by an error."""
    train = TrialTuner._train

    def fail(self, config):
        if config.batch_size == 10:
            raise error
        train(self, config)

    monkeypatch.setattr(TrialTuner, "_train", fail)
    return lambda: monkeypatch.setattr(TrialTuner, "_train", train)


class Killed(BaseException):
    """Ends a search as a kill would: nothing catches it."""


def rows(folder):
    with open(folder.path / "results.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_a_grid_runs_in_order(search, folder, untrained, capsys):
    results = run_search(search, folder)
    assert untrained == ["0", "1", "2", "3"]
    assert [result.values for result in results] == [
        {"batch_size": size, "l2": l2} for size in (10, 20) for l2 in (1e-4, 1e-5)
    ]
    assert [result.score for result in results] == [score_of(**one.values) for one in results]
    assert best_first(results)[0].id == "2"
    first, *others = capsys.readouterr().err.splitlines()
    assert first == "trial 0  completed  scored 20.00  batch_size=10 l2=0.0001  2 s"
    assert len(others) == 3
    trial = TrialTuner(search, folder).oracle.get_best_trials(1)[0]
    assert trial.hyperparameters.values == {"batch_size": 20, "l2": 1e-4}


@pytest.mark.parametrize("tuner", ["random", "bayesian"])
def test_tuners(search, folder, tuner):
    if tuner == "bayesian":
        pytest.importorskip("sklearn")
    space = {"batch_size": (10, 20, 30), "l2": (1e-4, 1e-5, 1e-6)}
    results = run_search(changed(search, space, tuner=tuner), folder)
    assert len(results) == 9 and best_first(results)[0].score == score_of(30, 1e-4)
    assert tuner == "bayesian" or len({str(result.values) for result in results}) == 9


def test_hyperband_trains_few_for_long(search, folder):
    space = {**search.space, "margin": (0.3, 0.4)}
    results = run_search(changed(search, space, epochs=3, tuner="hyperband"), folder)
    assert {result.epochs for result in results} == {1.0, 3.0}
    assert any(one.epochs == 3 and one.score == best_first(results)[0].score for one in results)


@pytest.mark.parametrize(
    ("tuner", "is_written"),
    some_now(kills := [("grid", False), ("grid", True), ("random", True)], kills[2]),
)
def test_a_kill_at_any_write(search, tmp_path, untrained, monkeypatch, tuner, is_written):
    """Ends a search just before or after each of its files appears, and goes on."""
    search = changed(search, {"batch_size": (10, 20, 30)}, tuner=tuner)
    replace = os.replace
    left = [10**9]

    def replace_or_die(source, target):
        left[0] -= 1
        if left[0] or is_written:
            replace(source, target)
        if not left[0]:
            raise Killed

    monkeypatch.setattr("tf_charagram._files.writing.os.replace", replace_or_die)
    kinds = set()
    for number in range(1, 10**3):
        folder = SearchFolder(tmp_path / str(number))
        folder.path.mkdir()
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
        oracle = TrialTuner(search, folder).oracle
        assert sorted(oracle.end_order) == ["0", "1", "2"]
        kinds.add(len(ended))
    assert number > 20
    assert kinds == {0, 1, 2, 3}


def test_a_failure_is_one_trial_with_its_reason(search, folder, untrained, monkeypatch):
    repair = failing(monkeypatch, TrainingError("The loss is not finite\nat step 7."))
    results = run_search(search, folder)
    assert [result.status for result in results] == ["failed"] * 2 + ["completed"] * 2
    assert rows(folder)[0]["reason"] == "The loss is not finite\nat step 7."
    assert rows(folder)[0]["score"] == ""
    assert best_first(results)[-1].status == "failed"
    repair()
    untrained.clear()
    assert run_search(search, folder) == results
    assert untrained == []


@pytest.mark.parametrize("error", [RunError("The disk is full."), TypeError("a bug")])
def test_what_concerns_all_trials_ends_the_search(search, folder, monkeypatch, error):
    repair = failing(monkeypatch, error)
    with pytest.raises(type(error), match=str(error)):
        run_search(search, folder)
    assert read_results(folder) == []
    repair()
    assert len(run_search(search, folder)) == 4


@pytest.mark.parametrize("scores", [(5.0, None, 3.0), (None,)])
def test_the_score_of_a_trial_is_its_best(search, folder, monkeypatch, scores):
    history = [
        {"step": 1, "epoch": 1.0, "seconds": 1.0, "scores": {"scored": score}} for score in scores
    ]
    monkeypatch.setattr(
        "tf_charagram.training._loop.run_folder.RunFolder.read_history", lambda self: history
    )
    (result,) = run_search(changed(search, max_trials=1), folder)
    assert result.score == scores[0]
    if scores == (None,):
        assert result.status == "failed"
        assert result.reason == "no score on scored: all pairs get the same cosine"


def test_tables(search, folder):
    tied = changed(search, {"batch_size": (10,), "optimizer+l2": (("adam", 0.1), ("sgd", 0.2))})
    run_search(tied, folder)
    table = rows(folder)
    assert list(table[0]) == [
        "id", "status", "batch_size", "optimizer", "l2", "score", "score.scored", "epochs",
        "seconds", "reason",
    ]  # fmt: skip
    assert [(row["optimizer"], row["l2"]) for row in table] == [("adam", "0.1"), ("sgd", "0.2")]


@pytest.mark.parametrize("keep", [0, 2])
def test_only_the_best_models_are_kept(search, folder, keep):
    run_search(changed(search, keep=keep), folder)
    kept = {path.parent.name for path in folder.trials.glob("*/model")}
    assert kept == set(["2", "3"][:keep])
    assert len(list(folder.trials.glob("*/metrics.json"))) == 4


def test_damage_is_said(search, folder):
    run_search(changed(search, max_trials=1), folder)
    (folder.oracle / "oracle.json").write_text("{")
    with pytest.raises(RunError, match="oracle is damaged"):
        run_search(search, folder)
    (folder.trials / "0" / "result.json").write_text("{")
    with pytest.raises(RunError, match=r"result\.json is damaged"):
        read_results(folder)
