"""The tasks `similarity`, `entailment` and `sentiment`, from the command line to a SavedModel."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
import tensorflow as tf

from tests.commands import assert_same_training, leave_out_export
from tests.variants import some_now
from tf_charagram import TextEmbedder
from tf_charagram.cli import main
from tf_charagram.tasks.labels.models import PairClassifier, PairScorer, TextClassifier

QUICK = ["--dim", "12", "--hidden-dim", "6", "--epochs", "2"]
CLASSES = {
    "similarity": PairScorer, "entailment": PairClassifier, "sentiment": TextClassifier,
}  # fmt: skip


def train(task, *arguments, quick=QUICK):
    return main(["train", "--task", task, *quick, *map(str, arguments)])


def scores(out):
    return json.loads((out / "metrics.json").read_text())["scores"]


@pytest.fixture
def pairs(tmp_path):
    """Returns a file of pairs that are alike where they share a word."""
    rows = []
    for first in ("cat", "dog", "cow", "hen", "pig"):
        for second in ("cat", "dog", "cow", "hen", "pig"):
            score, label = (5, "SAME") if first == second else (1, "OTHER")
            rows.append(f"{score}\ta {first} runs\tthe {second} ran\t{label}\n")
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(rows * 4), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def universal(tmp_path_factory):
    """Returns a run on paraphrases to start from."""
    out = tmp_path_factory.mktemp("universal") / "run"
    with pytest.MonkeyPatch.context() as patch:
        leave_out_export(patch)
        flags = ["--dim", "12", "--epochs", "1", "--ngrams", "2,3", "--output", str(out)]
        assert main(["train", "--data", "starter", *flags]) == 0
    return out


@pytest.fixture(scope="module")
def scorers(tmp_path_factory):
    """Returns two runs of `similarity` that differ in their seeds."""
    folder = tmp_path_factory.mktemp("scorers")
    runs = [folder / "one", folder / "two"]
    with pytest.MonkeyPatch.context() as patch:
        leave_out_export(patch)
        for seed, out in enumerate(runs):
            assert train("similarity", "--output", out, "--seed", seed, "--epochs", 1) == 0
    return runs


@pytest.mark.long
@pytest.mark.parametrize("task", some_now(CLASSES, "similarity"))
def test_the_starter_set(task, tmp_path, capsys):
    out = tmp_path / "run"
    assert train(task, "--output", out, "--select", "starter.dev", "--json") == 0
    metrics = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert set(metrics["scores"]) == {"starter.dev", "starter.test"}
    assert all(details["intervals"] for details in metrics["details"])
    model = CLASSES[task].load(out)
    served = tf.saved_model.load(metrics["paths"]["saved_model"]).signatures["serving_default"]
    left, right = ["a man eats", ""], ["a person eats 😀", "x"]
    if task == "sentiment":
        answer, expected = served(texts=tf.constant(left)), model.probabilities(left)
    else:
        answer = served(texts_a=tf.constant(left), texts_b=tf.constant(right))
        method = model.score if task == "similarity" else model.probabilities
        expected = method(left, right)
    found = answer["score" if task == "similarity" else "scores"]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.long
@pytest.mark.usefixtures("unexported")
@pytest.mark.parametrize(
    ("task", "encoder"),
    some_now(
        [*itertools.product(["similarity", "entailment"], ["charagram", "word_average"])],
        ("entailment", "charagram"),
    ),
)  # fmt: skip
def test_it_learns(task, encoder, pairs, tmp_path):
    out, repeated = tmp_path / "run", tmp_path / "repeated.tsv"
    # Long epochs: each ends with an evaluation.
    repeated.write_text(10 * pairs.read_text(encoding="utf-8"), encoding="utf-8")
    assert train(task, "--data", repeated, "--eval-data", pairs, "--encoder", encoder,
                 "--output", out, "--epochs", 6, "--batch-size", 10,
                 "--learning-rate", 0.003) == 0  # fmt: skip
    assert scores(out)["pairs"] > 95


@pytest.mark.long
@pytest.mark.usefixtures("unexported")
def test_frozen_leaves_the_encoder_as_it_is(universal, pairs, tmp_path):
    out = tmp_path / "run"
    assert train("similarity", "--data", pairs, "--init", universal, "--freeze=encoder",
                 "--output", out, quick=["--epochs", "3"]) == 0  # fmt: skip
    before, after = TextEmbedder.load(universal), PairScorer.load(out)
    for one, other in zip(before.encoder.weights, after.encoder.weights, strict=True):
        np.testing.assert_array_equal(one, other)
    assert after.vectorizer.num_rows == before.vectorizer.num_rows


@pytest.mark.long
@pytest.mark.usefixtures("unexported")
def test_strength_pulls_back(universal, pairs, tmp_path):
    """The stronger the pull, the nearer the weights stay to those of the first stage."""
    moved = []
    first = TextEmbedder.load(universal)
    for strength in ("1e-6", "10"):
        out = tmp_path / strength
        assert train("similarity", "--data", pairs, "--init", universal, "--pull-back",
                     "--l2-composition", strength, "--optimizer", "adagrad", "--output", out,
                     quick=["--epochs", "8", "--batch-size", "10"]) == 0  # fmt: skip
        scorer = PairScorer.load(out)
        texts = ["a cat runs", "the dog ran"]
        moved.append(np.abs(scorer.embedder.encode(texts) - first.encode(texts)).mean())
    assert moved[1] < 0.8 * moved[0]


@pytest.mark.usefixtures("unexported")
@pytest.mark.parametrize("is_frozen", some_now([False, True], True))
def test_resumed_is_as_if_never_stopped(is_frozen, universal, pairs, tmp_path, monkeypatch):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    arguments = ["--data", pairs, "--eval-data", pairs]
    arguments += ["--init", universal, "--freeze=encoder"] if is_frozen else []
    assert train("entailment", *arguments, "--output", whole) == 0
    with monkeypatch.context() as patch:

        def stop(self, record):
            raise KeyboardInterrupt

        patch.setattr("tf_charagram.training._loop.progress.TrainingProgress.report", stop)
        assert train("entailment", *arguments, "--output", parts) == 130
    assert train("entailment", *arguments, "--output", parts, "--resume") == 0
    one, other = PairClassifier.load(whole), PairClassifier.load(parts)
    for left, right in zip(one.weights, other.weights, strict=True):
        assert_same_training(left, right)


@pytest.mark.usefixtures("unexported")
def test_balanced_classes(tmp_path):
    path = tmp_path / "texts.tsv"
    # Long epochs: each ends with an evaluation.
    path.write_text(10 * ("1\tgood\n" * 19 + "0\tbad\n"), encoding="utf-8")
    out = tmp_path / "run"
    assert train("sentiment", "--data", path, "--eval-data", path, "--class-weights", "balanced",
                 "--output", out, "--epochs", 3, "--learning-rate", 0.01,
                 "--batch-size", 20) == 0  # fmt: skip
    assert scores(out)["texts"] == 100


@pytest.mark.long
def test_evaluate_alone_and_side_by_side(scorers, capsys):
    runs = scorers
    capsys.readouterr()
    assert main(["evaluate", str(runs[0]), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["scores"] == pytest.approx(scores(runs[0]), abs=0.01)
    assert main(["evaluate", *map(str, runs), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for run, model in zip(runs, found["models"], strict=True):
        assert model["scores"] == pytest.approx(scores(run), abs=0.01)


def test_what_a_frozen_model_decides(universal, pairs, tmp_path, capsys):
    """Settings that would be those of another encoder are named, not ignored."""
    flags = ["--dim", "3", "--max-chars", "20", "--unicode-form", "NFC"]
    out = tmp_path / "run"
    assert train("similarity", "--data", pairs, "--init", universal, "--freeze=encoder", *flags,
                 "--output", out) == 1  # fmt: skip
    error = capsys.readouterr().err
    assert "was trained with other settings. To start from it, give" in error
    for received in ("(received: 3)", "(received: 20)", "(received: NFC)"):
        assert received in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--freeze=encoder"], "`freeze` needs `init`"),
        (["--pull-back"], "`pull_back` needs `init`"),
    ],
)
def test_what_is_wrong_is_said(arguments, message, tmp_path, capsys):
    assert train("similarity", *arguments, "--output", tmp_path / "run") == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_labels_that_training_lacks(pairs, tmp_path, capsys):
    path = tmp_path / "other.tsv"
    path.write_text("1\ta\tb\tNEW\n2\tc\td\tSAME\n", encoding="utf-8")
    assert train("entailment", "--data", pairs, "--eval-data", path, "--output",
                 tmp_path / "run") == 1  # fmt: skip
    assert "found also 'NEW'" in capsys.readouterr().err


def test_header_of_unknown_names(tmp_path, capsys):
    path = tmp_path / "texts.tsv"
    path.write_text("mood\treview\n" + "good\ta fine day\nbad\ta grey day\n" * 50)
    flags = ["--data", path, "--dim", "4", "--epochs", "1", "--eval-data", path]
    assert train("sentiment", *flags, "--output", tmp_path / "a") == 1
    assert "The columns, each with a value: mood 'good', review" in capsys.readouterr().err
    columns = ["--columns", "review,mood"]
    assert train("sentiment", *flags, *columns, "--output", tmp_path / "b") == 0
    assert "100 texts" in capsys.readouterr().out
