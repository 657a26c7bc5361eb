"""`tf_charagram.train`, the command in Python."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

import tf_charagram
from tests.commands import assert_same_weights, environment
from tests.texts import words
from tf_charagram import ConfigError, DataError, RunError, train

SMALL = {"dim": 4, "epochs": 1, "evaluations_per_epoch": 1, "quiet": True}
LABELLED = [(f"it is {word}", "yes" if i % 2 else "no") for i, word in enumerate(words(8))]
#: Task -> examples, and the class of the model.
EXAMPLES = {
    "words": ([("colour", "color"), ("gray\tred", "grey"), ("jail", "gaol")], "TextEmbedder"),
    "similarity": ([(text, text, 1 + i % 5) for i, (text, _) in enumerate(LABELLED)], "PairScorer"),
    "entailment": ([(text, text, label) for text, label in LABELLED], "PairClassifier"),
    "sentiment": (LABELLED, "TextClassifier"),
    "pos": ([[("Ann", "NNP"), ("sings", "VBZ")], [("New York", "NNP")]], "Tagger"),
}


def test_same_as_the_command(trained, tmp_path):
    run = train(
        data=trained.data,
        eval_data=trained.scored,
        dim=8,
        epochs=2,
        evaluations_per_epoch=1,
        batch_size=10,
        output=tmp_path / "run",
        quiet=True,
    )
    assert_same_weights(run.folder, trained.folder)
    metrics = json.loads((trained.folder / "metrics.json").read_text())
    assert run.folder == tmp_path / "run" and run.scores == metrics["scores"]
    assert [record["step"] for record in run.history] == [6, 12]
    assert run.model.encode(["cat"]).shape == (1, 8)


def _tasks():
    similar = {"similarity", "entailment", "pos"}
    return [
        pytest.param(task, marks=pytest.mark.variant) if task in similar else task
        for task in EXAMPLES
    ]


@pytest.mark.usefixtures("unexported")
@pytest.mark.parametrize("task", _tasks())
def test_examples(task, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples, model_class = EXAMPLES[task]
    scored = examples if task != "words" else [("a", "b", 1.5), ("a", "a", 3), ("b", "a", 2)]
    run = train(task, data=examples, eval_data=scored, **SMALL)
    assert type(run.model).__name__ == model_class
    assert list(run.scores) == ["eval_data"] and len(run.history) == 1
    encoder = "char_cnn" if task == "pos" else "charagram"
    assert run.folder.name in (f"{task}-{encoder}-1", f"{task}-charagram-1")
    assert run.folder.parent.name == "runs" and run.folder.is_dir()


@pytest.mark.usefixtures("unexported")
def test_run_folder(tmp_path):
    arguments = {**SMALL, "data": "starter", "max_minutes": 1e-9, "output": tmp_path / "run"}
    first = train(**arguments)
    with pytest.raises(RunError, match=r"run exists\. Add --resume"):
        train(**arguments)
    resumed = train(**arguments, resume=True)
    assert resumed.history[0] == first.history[0]
    with pytest.raises(ConfigError, match="To `resume` a run, `data` must be in files"):
        train(**{**arguments, "data": EXAMPLES["words"][0]}, resume=True)
    assert train(**arguments, overwrite=True).history[0]["step"] == first.history[0]["step"]


@pytest.mark.parametrize(
    ("task", "settings", "message"),
    [
        ("word", {}, "Unknown task 'word'. Did you mean 'words'?"),
        ("words", {"optimzer": "sgd"}, "Unknown setting 'optimzer'. Did you mean 'optimizer'?"),
        ("words", {"input_dim": 3}, "`input_dim` is not an option of the encoder 'charagram'"),
        ("words", {"epochs": 0}, "`epochs` must be at least"),
        ("words", {"data": ["ab", ("a", "b")]}, "An example must be .*Received: 'ab'"),
        ("words", {"data": [("a", "b", 1, 2)]}, "An example must be .text1, text2, label."),
        ("words", {"data": []}, "`data` has no examples"),
        (
            "words",
            {"data": SimpleNamespace(columns=["a"])},
            "a list of examples. Received: a data frame",
        ),
        ("words", {"eval_data": ["a.tsv", "b.tsv"]}, "`eval_data` must be one file or folder"),
        ("distill", {"data": [("a", "b")]}, "Examples of this task must be in files"),
    ],
)
def test_errors(task, settings, message, tmp_path):
    with pytest.raises(ConfigError, match=message):
        train(task, **settings, output=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_missing_file():
    with pytest.raises(DataError, match=r"no_such\.tsv"):
        train(data="no_such.tsv")


@pytest.mark.parametrize(
    "code",
    [
        "import tf_charagram, tf_charagram.train",
        "import tf_charagram.train; import tf_charagram",
        "import tf_charagram.train, tf_charagram.train, tf_charagram.cli.train, tf_charagram.embed",
        "import importlib, tf_charagram; importlib.import_module('tf_charagram.train')",
    ],
)
def test_the_module_does_not_hide_the_function(code, tmp_path):
    check = "from tf_charagram import train; assert train is tf_charagram.train; train('no')"
    ended = subprocess.run(
        [sys.executable, "-c", f"{code}\n{check}"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert "ConfigError: Unknown task 'no'" in ended.stderr


def test_is_public():
    assert {"train", "TrainedRun"} <= set(tf_charagram.__all__)
