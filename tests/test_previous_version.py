"""Folders that version 0.1.0 wrote before its code was reorganised: they load, resume and export.

`data_of_0_1/` was made by that version's `charagram train`: a finished run of words, the same run
stopped at step 6 of 12, and a finished run of entailment, all with 4 dimensions.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.commands import call
from tf_charagram import PairClassifier, TextEmbedder

DATA = Path(__file__).parent / "data_of_0_1"
WORDS = (
    "--data", "pairs.tsv", "--eval-data", "scored.tsv", "--dim", 4, "--ngrams", "2,3", "--epochs",
    4, "--evaluations-per-epoch", 1, "--batch-size", 8, "--negatives", "mix", "--num-layers", 2,
    "--activation", "tanh",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Returns a copy, in which the data has the names that the runs know."""
    shutil.copytree(DATA, tmp_path / "old")
    monkeypatch.chdir(tmp_path / "old")
    return tmp_path / "old"


def weights(run: Path) -> dict[str, np.ndarray]:
    with np.load(run / "model" / "weights.npz") as arrays:
        return dict(arrays)


def test_a_stopped_run_goes_on_to_the_weights_it_had_reached(folder):
    assert call("train", *WORDS, "--out", "words_stopped", "--resume") == 0
    resumed, finished = weights(folder / "words_stopped"), weights(folder / "words")
    assert resumed.keys() == finished.keys()
    for name, expected in finished.items():
        # Other processors round otherwise.
        np.testing.assert_allclose(resumed[name], expected, rtol=1e-4, atol=1e-5)
    history = (folder / "words_stopped" / "history.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in history] == [3, 6, 9, 12]


@pytest.mark.parametrize(
    ("flag", "value", "message"),
    [("--num-layers", 1, "num_layers was 2, is 1"), ("--margin", 0.5, "margin was 0.4, is 0.5")],
)
def test_other_settings_are_still_refused(folder, capsys, flag, value, message):
    assert call("train", *WORDS, flag, value, "--out", "words_stopped", "--resume") == 1
    assert message in capsys.readouterr().err


def test_an_embedder_loads_and_goes_on(folder):
    embedder = TextEmbedder.load(folder / "words")
    assert embedder.dim == 4 and np.isfinite(embedder.encode(["colour", ""])).all()
    again = ("--init", "words", "--data", "pairs.tsv", "--eval-data", "scored.tsv", "--epochs", 1)
    same = ("--dim", 4, "--ngrams", "2,3", "--num-layers", 2)
    assert call("train", *again, *same, "--out", "second") == 0


def test_a_classifier_loads_and_is_scored_as_what_it_was_trained_for(folder, capsys):
    assert len(PairClassifier.load(folder / "entailment").classify(["a house"], ["houses"])) == 1
    old = json.loads((folder / "entailment" / "metrics.json").read_text())["scores"]
    for model in ("entailment", "entailment/model"):
        assert call("evaluate", model, "--eval-data", "inference.tsv", "--json") == 0
        assert json.loads(capsys.readouterr().out)["scores"] == pytest.approx(old)


@pytest.mark.long
def test_both_are_exported(folder):
    for run in ("words", "entailment"):
        assert call("export.command", run, "--to", f"models/{run}") == 0
        card = json.loads((folder / f"models/{run}/1/model_card.json").read_text())
        assert card["training"]["settings"]["dim"] == 4
