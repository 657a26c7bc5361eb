"""`python -m research analyze`, each analysis on a trained run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from research.__main__ import main
from research.analysis.catalog import ANALYSES
from research.analysis.inputs import Inputs
from tests.variants import some_now
from tf_charagram.data.starter import train_pairs


@pytest.fixture(scope="module")
def sts(tmp_path_factory):
    """Returns a folder with a set of STS."""
    folder = tmp_path_factory.mktemp("sts")
    rows = [f"{score}\ta cat {score}\tthe dog of {score} cats" for score in range(6)] * 3
    (folder / "2012.OnWN.tsv").write_text("\n".join(rows) + "\n")
    return folder


def analyze(*arguments):
    """Runs the command; returns its exit status."""
    try:
        return main(["analyze", *map(str, arguments)])
    except SystemExit as end:
        return end.code


@pytest.mark.parametrize(
    "name", some_now(names := [name for name in ANALYSES if name != "margins"],
                     *(name for name in names if name != "length"))
)  # fmt: skip
def test_each_analysis(name, trained, sts, tmp_path, capsys):
    # The papers' pairs have no header.
    _, lines = Path(trained.data).read_text().split("\n", 1)
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text(lines)
    models = [trained.folder, *([trained.folder / "model"] if name == "disagreements" else [])]
    flags = ["--eval-data", sts, "--train-data", pairs, "--score", "scored", "--k", 2]
    flags += ["--query", "ca"] if name in ("ngrams", "shares") else []
    assert analyze(name, *models, *flags, "--json") == 0
    table = json.loads(capsys.readouterr().out)
    assert table["rows"] and all(len(row) == len(table["columns"]) for row in table["rows"])


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["SICK.test.tsv", "SICK.trial.tsv", "2012.OnWN.tsv"], ["OnWN"]),
        (["SICK.test.tsv", "SICK.trial.tsv"], ["SICK.test", "SICK.trial"]),
    ],
)
def test_sets_share_a_scale(files, names, tmp_path):
    for file in files:
        (tmp_path / file).write_text("1\ta cat\tdogs\n4\tcats\ta cat\n")
    pooled = Inputs(models=(), eval_data=str(tmp_path)).sentence_sets
    assert [pairs.name.removeprefix("STS2012.") for pairs in pooled] == names


def test_training_pairs_are_named_as_for_train(tmp_path):
    left, right = tmp_path / "left.txt", tmp_path / "right.txt"
    left.write_text("a cat\n\n")
    right.write_text("cats\ndogs\n")
    inputs = Inputs(models=(), train_data=[f"{left}::{right}", "starter"])
    assert inputs.pairs == [("a cat", "cats"), *train_pairs()]


def test_table_and_plot(trained, tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    plot = tmp_path / "curve.svg"
    arguments = ["convergence", trained.folder, "--score", "scored", "--plot", plot]
    assert analyze(*arguments) == 0
    assert "scored while training" in capsys.readouterr().out and "<svg" in plot.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["length", "RUN"], "needs --eval-data"),
        (["margins", "RUN"], "needs --train-data"),
        (["shares", "RUN"], "needs --query"),
        (["convergence", "RUN"], "needs --score"),
        (["parameters", "RUN", "--plot", "a.svg"], "The analysis parameters has no curves."),
        (
            ["word-norms", "RUN", "--train-data", "starter", "--texts", "a.txt"],
            "Give one of --train-data and --texts",
        ),
        (["ngram-norms", "RUN", "--k", "0"], "`k` must be at least 1. Received: k=0"),
        (["ngrams", "nowhere"], "nowhere"),
    ],
)
def test_errors(arguments, message, trained, capsys):
    words = [trained.folder if word == "RUN" else word for word in arguments]
    assert analyze(*words) == 1
    assert message in capsys.readouterr().err
