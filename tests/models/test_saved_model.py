"""Golden vectors: the same vectors from all forms of a model.

These are the trained model, the loaded model, and the SavedModel, run by a process with only
TensorFlow and by one with only TensorFlow's C library.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from importlib.util import find_spec

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.c_runtime import ROOT
from tests.commands import run
from tests.texts import NASTY
from tests.variants import some_now
from tf_charagram.encoders import ENCODERS, encoder_class
from tf_charagram.errors import RunError
from tf_charagram.models._answers.vectors import unit_rows
from tf_charagram.models._encoding.prefix_sums import fold
from tf_charagram.models._storage.saved_model import _model_card
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.tasks import make_task
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.text import vectorizer_class
from tf_charagram.text._algorithm.batches import to_bytes
from tf_charagram.training.run import TrainingRun

SETTINGS = {
    "exact": {},
    "pruned": {
        "ngrams": (1, 3, 8), "min_count": 2,
        "encoder_options": {"activation": "tanh", "num_layers": 2},
    },
    "hashed": {
        "hash_buckets": 500, "rows_per_ngram": 2, "encoder_options": {"activation": "relu"},
    },
}  # fmt: skip
TEXTS = [to_bytes(text) for text in ("cat", "a cat", "Cats!", "never seen", *NASTY.values())]

# Folded n-grams are summed in another order; the longest text has ten thousand.
TOLERANCE = {"rtol": 2e-4, "atol": 1e-6}

# Both scripts read texts from JSON and write vectors; they differ in `load`.
SCRIPT = """
import base64, json, sys
assert not any(name.split(".")[0] in {forbidden} for name in sys.modules)
import numpy as np
{load}
texts = [base64.b64decode(text) for text in json.load(open(sys.argv[1]))]
results = {{}}
for folder in sys.argv[3:]:
    call = load(folder)
    results[folder + "|all"] = call("serving_default", texts=texts)["embedding"]
    results[folder + "|alone"] = np.concatenate(
        [call("serving_default", texts=[text])["embedding"] for text in texts]
    )
    results[folder + "|none"] = call("serving_default", texts=[])["embedding"]
    results[folder + "|cosine"] = call("similarity", texts_a=texts, texts_b=texts[::-1])["cosine"]
    results[folder + "|no_cosine"] = call("similarity", texts_a=[], texts_b=[])["cosine"]
found = {{name.split(".")[0] for name in sys.modules}} & {forbidden}
assert not found, found
np.savez(sys.argv[2], **results)
"""
LOADERS = {
    "tensorflow": (
        "{'tf_charagram', 'tensorflow_text'}",
        """
import tensorflow as tf
def load(folder):
    model = tf.saved_model.load(folder)
    def call(signature, **texts):
        texts = {name: tf.constant(value, tf.string, [len(value)]) for name, value in texts.items()}
        return {name: value.numpy() for name, value in model.signatures[signature](**texts).items()}
    return call
""",
    ),
    "c_library": (
        "{'tensorflow', 'keras'}",
        f"""
sys.path.insert(0, {str(ROOT)!r})
from tests.c_runtime import CRuntime
def load(folder):
    return CRuntime(folder)
""",
    ),
}


@pytest.fixture(scope="module")
def models(tmp_path_factory, data):
    """Returns the trained embedder and the run folder for each of `SETTINGS`."""
    models = {}
    for name, settings in SETTINGS.items():
        config = ParaphraseConfig(
            data=(str(data[0]),), eval_data=str(data[1]), dim=8, epochs=2, batch_size=10,
            evaluations_per_epoch=1, output=str(tmp_path_factory.mktemp("golden") / name),
            **settings,
        )  # fmt: skip
        training = TrainingRun(make_task(config), resume=False, overwrite=False)
        # A run ends with the loaded model.
        embedder = training.model
        training.run(resume=False)
        models[name] = embedder, training.folder
    return models


@pytest.fixture(scope="module")
def vectors(models):
    """Returns the vectors of the trained embedders."""
    return {name: embedder.encode(TEXTS) for name, (embedder, _) in models.items()}


@pytest.fixture(scope="module", params=LOADERS)
def served(request, models, tmp_path_factory):
    """Returns the results of a fresh process, by model and kind of call."""
    folder = tmp_path_factory.mktemp("served")
    texts = [base64.b64encode(text).decode() for text in TEXTS]
    (folder / "texts.json").write_text(json.dumps(texts))
    forbidden, load = LOADERS[request.param]
    script = SCRIPT.format(forbidden=forbidden, load=load)
    folders = {name: str(run.saved_model) for name, (_, run) in models.items()}
    command = [sys.executable, "-c", script, "texts.json", "out.npz", *folders.values()]
    ended = run(command, cwd=folder)
    assert ended.returncode == 0, ended.stderr
    with np.load(folder / "out.npz") as results:
        return {
            name: {key.split("|")[1]: results[key] for key in results if key.startswith(path + "|")}
            for name, path in folders.items()
        }


@pytest.mark.parametrize("name", SETTINGS)
class TestGoldenVectors:
    @pytest.mark.long
    def test_loaded_again(self, models, vectors, name):
        loaded = TextEmbedder.load(models[name][1].path)
        np.testing.assert_array_equal(loaded.encode(TEXTS), vectors[name])

    def test_served(self, vectors, served, name):
        expected = vectors[name]
        assert np.isfinite(expected).all() and np.ptp(expected) > 0.01
        assert served[name]["all"].dtype == np.float32
        np.testing.assert_allclose(served[name]["all"], expected, **TOLERANCE)
        np.testing.assert_allclose(served[name]["alone"], expected, **TOLERANCE)

    def test_served_similarity(self, vectors, served, name):
        unit = unit_rows(vectors[name])
        expected = np.sum(unit * unit[::-1], axis=1)
        assert expected.std() > 0.01
        np.testing.assert_allclose(served[name]["cosine"], expected, rtol=0, atol=1e-5)

    def test_empty_batch(self, models, served, name):
        assert served[name]["none"].shape == (0, models[name][0].dim)
        assert served[name]["no_cosine"].shape == (0,)


class TestExport:
    def test_replaces_and_leaves_nothing_else(self, models, tmp_path):
        embedder = models["exact"][0]
        old = tmp_path / "saved_model" / "1"
        old.mkdir(parents=True)
        (old / "saved_model.pb").write_text("an older version")
        embedder.export(old)
        assert [path.name for path in (tmp_path / "saved_model").iterdir()] == ["1"]
        loaded = tf.saved_model.load(str(tmp_path / "saved_model" / "1"))
        vectors = loaded.signatures["serving_default"](texts=tf.constant(TEXTS))["embedding"]
        np.testing.assert_allclose(vectors, embedder.encode(TEXTS), **TOLERANCE)

    def test_unwritable_folder(self, models, tmp_path):
        (tmp_path / "file").write_text("in the way")
        with pytest.raises(RunError, match=r"Cannot write .*file"):
            models["exact"][0].export(tmp_path / "file" / "1")
        assert [path.name for path in tmp_path.iterdir()] == ["file"]

    def test_other_folders_are_not_replaced(self, models, tmp_path):
        notes = tmp_path / "folder" / "notes.txt"
        notes.parent.mkdir()
        notes.write_text("mine")
        for path, message in ((notes.parent, "holds other files and no saved_model.pb"),
                              (notes, "is a file. Give a folder")):  # fmt: skip
            with pytest.raises(RunError, match=message):
                models["exact"][0].export(path)
        assert [*tmp_path.rglob("*")] == [notes.parent, notes]


CARD_TEXTS = ["the cat", "a dog"]
WHITESPACE = "TFText>WhitespaceTokenizeWithOffsetsV2"


def exported(path, name, **options):
    """Exports an encoder; returns it with its vectorizer and its card."""
    cls = encoder_class(name)
    vectorizer = vectorizer_class(cls.vectorizer).from_texts(CARD_TEXTS, **options)
    encoder = cls(num_rows=vectorizer.num_rows, dim=6)
    TextEmbedder(vectorizer, encoder).export(path)
    return vectorizer, encoder, json.loads((path / "model_card.json").read_text())


def test_card(tmp_path):
    vectorizer, encoder, card = exported(tmp_path / "1", "charagram", orders=(2, 3))
    assert card["encoder"] == {
        "name": "charagram", "num_rows": vectorizer.num_rows, "dim": 6, "activation": "linear",
        "num_layers": 1, "seed": 0,
    }  # fmt: skip
    assert card["vectorizer"]["class"] == "NgramVectorizer"
    assert card["vectorizer"]["orders"] == [2, 3] and card["vectorizer"]["lowercase"] is True
    assert card["vectorizer"]["num_rows"] == vectorizer.num_rows
    assert card["dim"] == 6
    assert card["num_parameters"] == 6 * vectorizer.num_rows + 6
    files = [file for file in (tmp_path / "1").rglob("*") if file.is_file()]
    sizes = {file.name: file.stat().st_size for file in files}
    assert card["size_bytes"] == sum(sizes.values()) - sizes["model_card.json"]
    strings, vectors = {"dtype": "string", "shape": [-1]}, {"dtype": "float32", "shape": [-1, 6]}
    assert _model_card(fold(vectorizer, encoder), tmp_path / "1") == card
    for signature in card["signatures"].values():
        for tensor in (*signature["inputs"].values(), *signature["outputs"].values()):
            assert re.fullmatch(r"\w+:\d", tensor.pop("tensor"))
    assert card["signatures"] == {
        "serving_default": {"inputs": {"texts": strings}, "outputs": {"embedding": vectors}},
        "similarity": {
            "inputs": {"texts_a": strings, "texts_b": strings},
            "outputs": {"cosine": {"dtype": "float32", "shape": [-1]}},
        },
    }
    assert card["versions"]["tensorflow"] == tf.__version__
    assert card["versions"]["keras"] == keras.__version__
    assert "tf-charagram" in card["versions"]
    has_text = find_spec("tensorflow_text") is not None
    assert ("tensorflow-text" in card["versions"]) == has_text
    assert card["vectorizer"]["longest_only"] is True


@pytest.mark.parametrize("name", some_now(ENCODERS, "charagram", "word_average"))
def test_required_ops(name, tmp_path):
    _, encoder, card = exported(tmp_path / "1", name)
    needs = {"tensorflow-text": [WHITESPACE]} if encoder.vectorizer == "words" else {}
    assert card["required_ops"] == needs


def test_required_ops_of_normalization(tmp_path):
    _, _, card = exported(tmp_path / "1", "charagram", unicode_form="NFKC")
    assert card["required_ops"] == {"tensorflow-text": ["NormalizeUTF8"]}
