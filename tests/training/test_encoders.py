"""Every encoder trains, is written, and embeds the same in and out of its SavedModel."""

import json

import numpy as np
import pytest
import tensorflow as tf

from tests.commands import config_flag
from tests.variants import some_now
from tf_charagram import TextEmbedder
from tf_charagram.cli import main
from tf_charagram.encoders import ENCODERS

TEXTS = ["big red car", "large red auto", "", "unseen wörd", "😀", "a"]


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.tsv"
    lines = [f"the big {n} cars\tthe large {n} autos" for n in "abcdefghijklmnopqrst"]
    path.write_text("\n".join(["text1\ttext2", *lines, ""]), encoding="utf-8")
    return path


#: Encoders, and settings of some.
SETTINGS = {
    **{name: {"encoder": name} for name in ENCODERS},
    **{
        f"{name} without peepholes": {"encoder": name, "use_peepholes": False}
        for name in ("lstm", "char_lstm")
    },
}


@pytest.mark.long
@pytest.mark.parametrize("name", some_now(SETTINGS, "char_cnn"))
def test_trains_and_is_served(name, pairs, tmp_path, capsys):
    out = tmp_path / "run"
    settings = SETTINGS[name]
    arguments = [*config_flag(tmp_path, **settings), "--data", pairs, "--output", out, "--dim", 12]
    arguments += ["--epochs", 3]
    arguments += ["--batch-size", 5, "--evaluations-per-epoch", 1, "--json"]
    assert main(["train", *map(str, arguments)]) == 0
    metrics = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert metrics["encoder"] == settings["encoder"]
    history = [json.loads(line) for line in (out / "history.jsonl").read_text().splitlines()]
    assert history[-1]["loss"] < history[0]["loss"]
    embedder = TextEmbedder.load(out)
    paths = [weight.path for weight in embedder.encoder.weights if "peephole" in weight.path]
    assert not ("use_peepholes" in settings and paths)
    vectors = embedder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dim)
    assert np.isfinite(vectors).all()
    served = tf.saved_model.load(metrics["paths"]["saved_model"]).signatures["serving_default"]
    np.testing.assert_allclose(
        served(texts=tf.constant(TEXTS))["embedding"], vectors, rtol=1e-4, atol=1e-5
    )
