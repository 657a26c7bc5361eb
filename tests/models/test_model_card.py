"""The card beside an exported model: true, and complete about what the model needs."""

from __future__ import annotations

import json
import re
import sys

import numpy as np
import pytest
import tensorflow as tf

from tests.commands import run
from tests.contracts import some_now
from tf_charagram.encoders import ENCODERS, encoder_class
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.models.parts import Parts
from tf_charagram.models.prefix_sums import fold
from tf_charagram.models.saved_model import model_card
from tf_charagram.text import vectorizer_class
from tf_charagram.text.vectorizer import NgramVectorizer

TEXTS = ["the cat", "a dog"]
WHITESPACE = "TFText>WhitespaceTokenizeWithOffsetsV2"


def exported(path, name, **options):
    """Exports an encoder; returns it with its vectorizer and its card."""
    cls = encoder_class(name)
    vectorizer = vectorizer_class(cls.vectorizer).from_texts(TEXTS, **options)
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
    assert model_card(Parts(*fold(vectorizer, encoder)), tmp_path / "1") == card
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
    assert {"tf-charagram", "keras", "tensorflow-text"} <= card["versions"].keys()
    assert card["vectorizer"]["longest_only"] is True


@pytest.mark.parametrize("name", some_now(ENCODERS, "charagram", "char_cnn", "gran"))
def test_required_ops(name, tmp_path):
    _, encoder, card = exported(tmp_path / "1", name)
    needs = {"tensorflow-text": [WHITESPACE]} if encoder.vectorizer == "words" else {}
    assert card["required_ops"] == needs


def test_required_ops_of_normalization(tmp_path):
    _, _, card = exported(tmp_path / "1", "charagram", unicode_form="NFKC")
    assert card["required_ops"] == {"tensorflow-text": ["NormalizeUTF8"]}
    _, _, card = exported(tmp_path / "2", "word_average", unicode_form="NFKC")
    assert card["required_ops"] == {"tensorflow-text": ["NormalizeUTF8", WHITESPACE]}


LOAD_WITHOUT_AND_WITH_TEXT = """
import json, sys
import tensorflow as tf
errors = []
for imports in ("", "import tensorflow_text"):
    exec(imports)
    for folder in sys.argv[1:]:
        try:
            tf.saved_model.load(folder)
            errors.append(None)
        except Exception as error:
            errors.append(str(error))
print(json.dumps(errors))
"""


@pytest.mark.long
def test_it_needs_what_it_says(tmp_path):
    """A process with nothing but TensorFlow loads those models whose card asks for nothing."""
    needs = []
    for name, options in (("charagram", {}), ("charagram", {"unicode_form": "NFC"}), ("rnn", {})):
        card = exported(tmp_path / f"{name}{len(options)}", name, **options)[2]
        needs.append([op for ops in card["required_ops"].values() for op in ops])
    folders = [tmp_path / name for name in ("charagram0", "charagram1", "rnn0")]
    command = [sys.executable, "-c", LOAD_WITHOUT_AND_WITH_TEXT, *map(str, folders)]
    ended = run(command, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    errors = json.loads(ended.stdout.splitlines()[-1])
    for missing, error in zip(needs, errors[:3], strict=True):
        assert any(op in error for op in missing) if missing else error is None
    assert errors[3:] == [None] * 3


def test_the_card_disturbs_no_loading(tmp_path):
    vectorizer = NgramVectorizer.from_texts(TEXTS)
    encoder = encoder_class("charagram")(num_rows=vectorizer.num_rows, dim=3)
    TextEmbedder(vectorizer, encoder).export(tmp_path / "saved_model" / "1")
    assert [path.name for path in (tmp_path / "saved_model").iterdir()] == ["1"]
    serve = tf.saved_model.load(str(tmp_path / "saved_model" / "1")).signatures["serving_default"]
    expected = encoder(vectorizer(tf.constant(TEXTS)))
    np.testing.assert_allclose(serve(texts=tf.constant(TEXTS))["embedding"], expected, rtol=1e-6)
