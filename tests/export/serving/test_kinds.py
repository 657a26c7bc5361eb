"""`charagram export` and `charagram check` for models that tag, score and classify."""

from __future__ import annotations

import functools
import json

import numpy as np
import pytest
import tensorflow as tf

from tests.c_runtime import CRuntime
from tests.commands import call
from tests.models.answers import TEXTS, decided
from tests.models.test_base import make_model
from tests.variants import some_now
from tf_charagram.export._check import checks, probe
from tf_charagram.export._check.checks import VersionChecks
from tf_charagram.export._check.judge import judged
from tf_charagram.export._check.probe import measure, saved_model
from tf_charagram.export._serving.requests import make_inputs, read_golden, sample_texts
from tf_charagram.export._serving.version import BATCHING_PARAMETERS, GOLDEN, WARMUP
from tf_charagram.models._storage.locations import MODELS, load_any, model_class

# Classifiers of pairs are exported as scorers and as classifiers of texts are.
KINDS = some_now([kind for kind in MODELS if kind != "embedder"], "pair_classifier")
CHECKS = ["loads", "golden answers", "huge texts", "empty batch", "latency"]
COMMAND = "check"


@pytest.fixture(scope="module")
def export(tmp_path_factory):
    """Returns a function that exports a model of a kind, once; it gives model and version."""
    folder, done = tmp_path_factory.mktemp("kinds"), {}

    def export(kind):
        if kind not in done:
            if kind == "tagger":
                pytest.importorskip("tensorflow_text")
            model = make_model(kind)
            if kind != "tagger":
                decided(model, model.embedder.encode([*TEXTS, *reversed(TEXTS)]))
            model.save(folder / kind)
            assert call("export", folder / kind, "--output", folder / "models" / kind) == 0
            done[kind] = load_any(folder / kind), folder / "models" / kind / "1"
        return done[kind]

    return export


@functools.cache
def loaded(version):
    """Returns the function that calls a version, which no test changes."""
    return saved_model(tf, str(version))


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """Leaves out the latency of large batches, and makes few calls."""
    monkeypatch.setattr(probe, "_BATCH_SIZES", (1,))
    monkeypatch.setattr(checks, "_SECONDS", 0)


def judge(version, load):
    """Returns the result of each check: name -> (ok, detail)."""
    asked = VersionChecks(version)
    results = judged("here", measure(load, asked.request), asked.golden)
    assert [result.name for result in results] == CHECKS
    return {result.name: (result.ok, result.detail) for result in results}


@pytest.mark.parametrize("kind", KINDS)
def test_round_trip(export, kind):
    _, version = export(kind)
    loads = [lambda: saved_model(tf, str(version))]
    if kind != "tagger":  # It needs tensorflow-text, which the C library does not load.
        loads.append(lambda: CRuntime(version))
    for load in loads:
        found = judge(version, load)
        assert all(ok for ok, _ in found.values()), found


def golden(version, signature="serving_default"):
    """Returns the inputs and outputs of a golden call, with strings of outputs decoded."""
    calls = {call.signature: call for call in read_golden(version / GOLDEN)}
    outputs = {
        name: [text.decode() for text in array] if array.dtype == object else array
        for name, array in calls[signature].outputs.items()
    }
    return calls[signature].inputs, outputs


def test_golden_tags(export):
    tagger, version = export("tagger")
    inputs, outputs = golden(version, "tag")
    texts = inputs["texts"]
    tagged = tagger.tag([text.decode(errors="replace") for text in texts])
    flat = [token for sentence in tagged for token in sentence]
    assert outputs["row_lengths"].tolist() == [*map(len, tagged)]
    assert outputs["tags"] == [token.tag for token in flat]
    np.testing.assert_allclose(outputs["scores"], [token.score for token in flat], rtol=1e-4)
    inputs, outputs = golden(version, "tag_tokens")
    tokens = iter([token.decode(errors="replace") for token in inputs["tokens"]])
    sentences = [[next(tokens) for _ in range(length)] for length in inputs["row_lengths"]]
    tags = [token.tag for sentence in tagger.tag(sentences) for token in sentence]
    assert outputs["tags"] == tags
    assert len(set(tags)) > 1


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "tagger"])
def test_golden_answers(export, kind):
    model, version = export(kind)
    inputs, outputs = golden(version)
    assert b"\0" in next(iter(inputs.values())) and len(outputs) == 1 + (kind != "pair_scorer")
    if kind == "pair_scorer":
        expected = model.score(*inputs.values())
        np.testing.assert_allclose(outputs["score"], expected, rtol=1e-4)
        assert inputs["texts_a"] != inputs["texts_b"]
    else:
        expected = model.probabilities(*inputs.values())
        np.testing.assert_allclose(outputs["scores"], expected, rtol=1e-4, atol=1e-6)
        labels = [answer.label for answer in model.classify(*inputs.values())]
        assert outputs["label"] == labels and len(set(labels)) > 1


@pytest.mark.parametrize("kind", ["tagger", "pair_classifier"])
def test_warmup(export, kind):
    """The model answers the requests, which are for all its signatures."""
    prediction_log_pb2 = pytest.importorskip("tensorflow_serving.apis.prediction_log_pb2")
    _, version = export(kind)
    ask = loaded(version)
    seen = []
    for record in tf.data.TFRecordDataset(str(version / WARMUP)):
        log = prediction_log_pb2.PredictionLog.FromString(record.numpy())
        request = log.predict_log.request
        inputs = {name: tf.make_ndarray(tensor) for name, tensor in request.inputs.items()}
        signature = request.model_spec.signature_name
        if signature == "tag_tokens":
            assert inputs["row_lengths"].dtype == np.int64
            assert sum(inputs["row_lengths"]) == len(inputs["tokens"]) > 0
        assert ask(signature, **{name: values.tolist() for name, values in inputs.items()})
        seen.append(signature)
    assert set(seen) == set(json.loads((version / "model_card.json").read_text())["signatures"])


@pytest.mark.parametrize("kind", KINDS)
def test_card_page_and_batching(export, kind):
    model, version = export(kind)
    card = json.loads((version / "model_card.json").read_text())
    assert card["kind"] == kind and "dtype" not in card["head"]
    assert card["num_parameters"] == sum(np.size(weight) for weight in model.weights)
    text = (version / "README.md").read_text()
    for signature in card["signatures"]:
        assert f"| `{signature}` |" in text and f'"signature_name": "{signature}"' in text
    # Requests to a tagger cannot be run together: it has more rows than texts.
    assert (version / BATCHING_PARAMETERS).is_file() is (kind != "tagger")


def test_page_of_a_tagger(export):
    text = (export("tagger")[1] / "README.md").read_text()
    assert "`row_lengths` int64 (n), `tokens` string (n)" in text
    assert '"row_lengths": [2, 2], "tokens": ["It", "works", "Does", "it"]' in text
    assert "import tensorflow_text" in text


def test_only_embedders_are_made_smaller(export, tmp_path, capsys):
    folder = export("tagger")[1].parents[2] / "tagger"
    assert call("export", folder, "--output", tmp_path / "small", "--dtype", "int8") == 1
    assert "make embedders smaller" in capsys.readouterr().err
    assert not (tmp_path / "small").exists()


def test_samples():
    assert make_inputs(["texts_b", "texts_a"], [b"a"], [b"b"]) == {
        "texts_b": [b"b"], "texts_a": [b"a"],
    }  # fmt: skip
    for kind in MODELS:
        texts = sample_texts(model_class(kind))
        assert all(text.strip() for text in texts) and len(texts) == len(set(texts)) > 500


class TestCommand:
    @pytest.mark.long
    @pytest.mark.parametrize("kind", ["pair_classifier", "tagger"])
    def test_check(self, export, capsys, kind):
        _, version = export(kind)
        capsys.readouterr()
        status = call(COMMAND, version, "--json")
        found = json.loads(capsys.readouterr().out)
        assert status == 0, found
        names = [(row["name"], row["ok"]) for row in found["checks"]]
        once = [(name, True) for name in CHECKS]
        if kind == "tagger":
            assert names == [*once, ("loads", None)]
            assert found["checks"][0]["where"] == "only tensorflow and tensorflow-text"
        else:
            assert names == [*once, *once]

    def test_url(self, export, capsys):
        _, version = export("pair_classifier")
        assert call(COMMAND, version, "--url", "http://localhost:1/v1/models/pairs") == 1
        message = "`url` is for embedders, and "
        printed = capsys.readouterr().err
        assert message in printed and "'pair_classifier'" in printed
