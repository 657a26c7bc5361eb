"""The task `sentences`: several files, weights, typing errors, files of ids, two stages."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.commands import (
    assert_same_weights,
    call,
    config_flag,
    interrupt_training_at,
    leave_out_export,
)
from tests.variants import some_now
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.tasks import make_task
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.training.run import TrainingRun

SUBJECTS = ("a small dog", "the old man", "one red car", "my sister", "her friend", "a cook")
VERBS = (("runs to", "hurries to"), ("looks at", "watches"), ("leaves", "goes away from"))
OBJECTS = ("the river", "the market", "an open door", "the school")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Returns two files of pairs and a folder with sets of two years of STS."""
    folder = tmp_path_factory.mktemp("sentences")
    pairs = [
        (f"{subject} {first} {place}.", f"{subject} {second} {place}!")
        for subject in SUBJECTS
        for first, second in VERBS
        for place in OBJECTS
    ]
    first, second = folder / "first.tsv", folder / "second.tsv"
    for path, chosen in ((first, pairs[:50]), (second, pairs[50:])):
        lines = [f"{a}\t{b}\n" for a, b in [("text1", "text2"), *chosen]]
        path.write_text("".join(lines), encoding="utf-8")
    sets = folder / "sets"
    sets.mkdir()
    rng = np.random.default_rng(0)
    for name in ("2012.OnWN", "2012.SMTnews", "2016.headlines"):
        rows = [
            f"{score}\t{a}\t{b if score > 2 else pairs[rng.integers(len(pairs))][0]}\n"
            for score, (a, b) in zip(rng.integers(0, 6, 20), pairs, strict=False)
        ]
        (sets / f"{name}.tsv").write_text("".join(rows), encoding="utf-8")
    return first, second, sets


def train(out, files, *more):
    first, second, sets = files
    return call(
        "train", "--task", "sentences", "--data", first, "--data", second, "--eval-data", sets,
        "--output", out, "--dim", 12, "--epochs", 2, "--batch-size", 8,
        "--evaluations-per-epoch", 1, *more,
    )  # fmt: skip


def read(folder):
    history = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
    return json.loads((folder / "metrics.json").read_text()), history


@pytest.mark.usefixtures("unexported")
def test_scores_sets_years_and_their_mean(files, tmp_path, capsys):
    assert train(tmp_path / "run", files, "--select", "STS2012", "--json") == 0
    metrics, history = read(tmp_path / "run")
    sets = {"STS2012.OnWN", "STS2012.SMTnews", "STS2016.headlines", "STS2012", "STS2016", "STS"}
    assert sets <= set(metrics["scores"])
    assert metrics["num_pairs"] == 72 and metrics["steps"] == 18
    best = max(record["scores"]["STS2012"] for record in history)
    assert metrics["scores"]["STS2012"] == best
    assert history[-1]["loss"] < history[0]["loss"]
    config = json.loads((tmp_path / "run" / "config.json").read_text())["settings"]
    assert config["activation"] == "tanh"
    assert "STS2012" in capsys.readouterr().err


RESUMED = {
    "in the order of the file": (),
    "weights and typos": ("--data-weights", "0.5,2", "--typos", "0.5"),
    "decay": ("--decay", "linear", "--negatives", "mix"),
    "buckets": ("--encoder", "cse", "--dropout", "0.2"),
}


@pytest.mark.usefixtures("unexported")
@pytest.mark.parametrize("name", some_now(RESUMED, "in the order of the file"))
def test_a_stopped_run_goes_on_to_the_same_weights(files, tmp_path, name, monkeypatch):
    options = RESUMED[name]
    if not options:
        options = config_flag(tmp_path, order="file_first")
    whole, out = tmp_path / "whole", tmp_path / "run"
    assert train(whole, files, *options) == 0
    with monkeypatch.context() as patch:
        interrupt_training_at(patch, 5)
        assert train(out, files, *options) == 130
    assert not (out / "metrics.json").exists() and not [*out.glob("tmp*")]
    assert train(out, files, *options, "--resume") == 0
    assert_same_weights(out, whole)


STAGES = ("--task", "sentences", "--dim", 6, "--batch-size", 8)


@pytest.fixture(scope="module")
def first_stage(files, tmp_path_factory):
    """Returns the folder of a run on the first file alone."""
    first, _, sets = files
    out = tmp_path_factory.mktemp("stages") / "first"
    data = ("--data", first, "--eval-data", sets)
    with pytest.MonkeyPatch.context() as patch:
        leave_out_export(patch)
        assert call("train", *STAGES, *data, "--epochs", 1, "--output", out) == 0
    return out


@pytest.mark.long
@pytest.mark.usefixtures("unexported")
def test_two_stages(files, first_stage, tmp_path):
    first, second, sets = files
    both = tmp_path / "second"
    data = ("--data", second, "--init", first_stage, "--eval-data", sets)
    arguments = ("--epochs", 2, "--learning-rate", "1e-9", "--output", both)
    assert call("train", *STAGES, *data, *arguments) == 0
    old, new = TextEmbedder.load(first_stage), TextEmbedder.load(both)
    assert new.vectorizer.num_rows >= old.vectorizer.num_rows
    texts = [line.split("\t")[0] for line in first.read_text().splitlines()]
    np.testing.assert_allclose(new.encode(texts), old.encode(texts), atol=1e-5)


def test_columns(files, tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("Nr;A;B;Ok\n1;ein Satz;ein Text;1\n2;x;y;0\n3;a, b;c;1\n")
    config = ParaphraseConfig(
        task="sentences", data=(str(path),), eval_data=str(files[2]), dim=4,
        columns=("B", "A", "4"), output=str(tmp_path / "run"),
    )  # fmt: skip
    task = TrainingRun(make_task(config), resume=False, overwrite=False).task
    assert task.texts() == ["ein Text", "ein Satz", "c", "a, b"]


def test_weights_and_typos_change_the_number_of_pairs(files, tmp_path):
    first, second, sets = map(str, files)
    config = ParaphraseConfig(
        task="sentences", data=(first, second), eval_data=sets, dim=4, output=str(tmp_path / "run"),
        data_weights=(2.0, 0.5), typos=0.5,
    )  # fmt: skip
    number = TrainingRun(make_task(config), resume=False, overwrite=False).task.facts()["num_pairs"]
    assert 100 + 11 * 0.1 + 25 * 0.3 < number < 100 + 22 * 0.9 + 72 * 0.8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--data-weights", "1"], "`data_weights` must have one number for each --data. Received: "
                                  "1 weights for 2 --data."),
        (["--data-weights", "1,0"], "`data_weights` must be above 0 and finite. Received: 0.0"),
        (["--select", "STS2013"], "Unknown set to select by 'STS2013'. Did you mean"),
        (["--max-minutes", "0"], "`max_minutes` must be above 0. Received: 0.0"),
    ],
)  # fmt: skip
def test_wrong_flags(files, tmp_path, options, message, capsys):
    assert train(tmp_path / "run", files, *options) == 1
    assert message in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "run").exists()


def test_data_is_needed(capsys, tmp_path):
    assert call("train", "--task", "sentences", "--output", tmp_path / "run") == 1
    assert "The task 'sentences' needs --data: tables with two columns" in capsys.readouterr().err


@pytest.mark.long
def test_time_is_up(files, tmp_path, monkeypatch):
    """A run that stops early is complete, and goes on if given more time."""
    out = tmp_path / "run"
    options = ["--epochs", "100000", "--max-minutes", "0.01"]
    assert train(out, files, *options) == 0
    metrics, history = read(out)
    assert 0 < metrics["steps"] < 900_000 and history[-1]["step"] == metrics["steps"]
    assert metrics["training_seconds"] < 20
    assert (out / "saved_model" / "1").is_dir()
    leave_out_export(monkeypatch)
    more = metrics["training_seconds"] / 60 + 0.03
    assert train(out, files, *options[:3], str(more), "--resume") == 0
    assert read(out)[0]["steps"] > metrics["steps"]


# 72 pairs are 9 batches an epoch.
def test_the_learning_rate_falls_to_zero(files, tmp_path):
    epochs, batches = 1.1, 10
    first, second, sets = files
    config = ParaphraseConfig(
        task="sentences", data=(str(first), str(second)), eval_data=str(sets), dim=4, batch_size=8,
        epochs=epochs, evaluations_per_epoch=1, decay="linear", learning_rate=0.01,
        output=str(tmp_path / "run"),
    )  # fmt: skip
    training = TrainingRun(make_task(config), resume=False, overwrite=False)
    optimizer = training.loop.model.optimizer
    assert float(optimizer.learning_rate) == pytest.approx(0.01)
    training.run(resume=False, export=False)
    assert int(optimizer.iterations) == training.loop.step == batches
    assert float(optimizer.learning_rate) == 0.0
    optimizer.iterations.assign(batches - 1)
    assert float(optimizer.learning_rate) == pytest.approx(0.01 / batches)
