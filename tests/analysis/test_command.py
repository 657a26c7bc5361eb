"""`charagram analyze`, each analysis on a trained run."""

from __future__ import annotations

import json

import pytest

from tests.commands import call
from tf_charagram.analysis.catalog import ANALYSES
from tf_charagram.analysis.inputs import Inputs


@pytest.fixture(scope="module")
def sts(tmp_path_factory):
    """Returns a folder with a set of STS."""
    folder = tmp_path_factory.mktemp("sts")
    rows = [f"{score}\ta cat {score}\tthe dog of {score} cats" for score in range(6)] * 3
    (folder / "2012.OnWN.tsv").write_text("\n".join(rows) + "\n")
    return folder


def flags(name, trained, sts):
    """Returns the flags an analysis needs."""
    needed = {
        "--eval-data": sts, "--train-data": trained.data, "--query": "cat", "--score": "scored",
    }  # fmt: skip
    purpose = ANALYSES[name].purpose
    chosen = [word for flag, value in needed.items() if flag in purpose for word in (flag, value)]
    return [*chosen, "--k", "2"]


@pytest.mark.parametrize("name", [name for name in ANALYSES if name != "margins"])
def test_each_analysis(name, trained, sts, capsys):
    models = (
        [trained.folder, trained.folder / "model"] if name == "disagreements" else [trained.folder]
    )
    assert call("analysis.command", name, *models, *flags(name, trained, sts), "--json") == 0
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


def test_the_list_loads_no_tensorflow(capsys):
    assert call("analysis.command") == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in ANALYSES)


def test_table_and_plot(trained, tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    plot = tmp_path / "curve.svg"
    arguments = ["convergence", trained.folder, "--score", "scored", "--plot", plot]
    assert call("analysis.command", *arguments) == 0
    assert "scored while training" in capsys.readouterr().out and "<svg" in plot.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lenght", "x"], "Unknown analysis 'lenght'. Did you mean 'length'?"),
        (["length"], "Name a model: charagram analyze length MODEL"),
        (["length", "RUN"], "needs --eval-data"),
        (["margins", "RUN"], "needs --train-data"),
        (["shares", "RUN"], "needs --query"),
        (["convergence", "RUN"], "needs --score"),
        (["ngrams", "RUN", "--plot", "a.svg"], "has no curves to plot"),
        (["ngrams", "RUN", "--plot", "history.jsonl"], "`plot` must end in .svg"),
        (["ngram-norms", "RUN", "--k", "0"], "`k` must be at least 1. Received: k=0"),
        (["ngrams", "nowhere"], "nowhere"),
    ],
)
def test_errors(arguments, message, trained, capsys):
    words = [trained.folder if word == "RUN" else word for word in arguments]
    assert call("analysis.command", *words) == 1
    assert message in capsys.readouterr().err
