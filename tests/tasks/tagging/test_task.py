"""The task `pos`, from the command line to a SavedModel."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tensorflow as tf

from tests.variants import some_now
from tf_charagram.cli import main
from tf_charagram.tasks import make_settings, make_task
from tf_charagram.tasks.tagging.model import Tagger
from tf_charagram.training.run import TrainingRun

QUICK = ["--task", "pos", "--dim", "16", "--hidden-dim", "8", "--epochs", "3",
         "--batch-size", "4"]  # fmt: skip


@pytest.fixture(scope="module")
def tagged(tmp_path_factory):
    """Returns a file of sentences whose tags follow from the endings of words."""
    path = tmp_path_factory.mktemp("tagged") / "train.tsv"
    nouns, verbs = ["Ann", "Bob", "dogs", "cats"], ["runs", "sees", "barked", "slept"]
    sentences = [f"{noun}\tNN\n{verb}\tVB\n.\t.\n" for noun in nouns for verb in verbs]
    path.write_text("\n".join(sentences * 4), encoding="utf-8")
    return path


def train(*arguments):
    return main(["train", *QUICK, *map(str, arguments)])


@pytest.mark.parametrize("encoder", some_now(["charagram", "char_cnn", "char_lstm"], "charagram"))
def test_trains_and_is_served(encoder, tagged, tmp_path, capsys):
    out = tmp_path / "run"
    assert train("--data", tagged, "--eval-data", tagged, "--output", out, "--encoder", encoder,
                 "--json") == 0  # fmt: skip
    metrics = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert metrics["scores"]["train"] > 90
    [details] = metrics["details"]
    assert details["raw_token_f1"] == 100 and details["raw_tag_f1"] == metrics["scores"]["train"]
    assert metrics["sentences_per_second"] > 0
    history = [json.loads(line) for line in (out / "history.jsonl").read_text().splitlines()]
    assert len(history) == 3 and history[-1]["loss"] < history[0]["loss"]
    tagger = Tagger.load(out)
    (tokens,) = tagger.tag(["Ann barked."])
    assert [(token.token, token.start, token.end) for token in tokens] == [
        ("Ann", 0, 3), ("barked", 4, 10), (".", 10, 11),
    ]  # fmt: skip
    served = tf.saved_model.load(metrics["paths"]["saved_model"]).signatures["serving_default"]
    answer = served(texts=tf.constant(["Ann barked."]))
    assert [tag.decode() for tag in answer["tags"].numpy()] == [token.tag for token in tokens]
    np.testing.assert_allclose(
        answer["scores"], [token.score for token in tokens], rtol=1e-4, atol=1e-6
    )


@pytest.mark.long
@pytest.mark.usefixtures("unexported")
def test_the_starter_set(tmp_path, capsys):
    out = tmp_path / "run"
    assert train("--output", out, "--select", "starter.dev") == 0
    scores = json.loads((out / "metrics.json").read_text())["scores"]
    assert set(scores) == {"starter.dev", "starter.test"}
    history = [json.loads(line) for line in (out / "history.jsonl").read_text().splitlines()]
    best = max(record["scores"]["starter.dev"] for record in history)
    assert scores["starter.dev"] == pytest.approx(best)
    shown = capsys.readouterr().out
    assert "unknown" in shown and "starter.dev" in shown


def test_bad_lines_that_were_skipped(tagged, tmp_path, caplog):
    data = tmp_path / "train.tsv"
    data.write_text(f"{tagged.read_text()}\nno tag\n")
    config = make_settings(
        "pos", data=(str(data),), eval_data=(str(tagged),), on_bad_line="skip", dim=4,
        hidden_dim=4, output=str(tmp_path / "run"),
    )  # fmt: skip
    TrainingRun(make_task(config), resume=False, overwrite=False)
    assert "skipped 1 bad line; first: " in caplog.text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--encoder", "word_average"], "composes words from characters: choose the encoder"),
        (["--data", "nowhere.tsv"], "nowhere.tsv: no such file"),
        (["--data", "."], "is a folder"),
    ],
)
def test_what_is_wrong_is_said(arguments, message, tmp_path, capsys):
    assert train(*arguments, "--output", tmp_path / "run") == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
