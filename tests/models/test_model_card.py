"""Tests of the model card."""

from __future__ import annotations

import json
import re

import pytest
import tensorflow as tf

from tests.contracts import some_now
from tf_charagram.encoders import ENCODERS, encoder_class
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.models.prefix_sums import fold
from tf_charagram.models.saved_model import model_card
from tf_charagram.text import vectorizer_class

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
    assert model_card(fold(vectorizer, encoder), tmp_path / "1") == card
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
