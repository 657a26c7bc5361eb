"""Settings of layers from files: all that the package writes, and nothing that names code."""

from __future__ import annotations

import json

import pytest

from tests.contracts import some_now
from tf_charagram.encoders import ENCODERS, encoder_class
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.models.plain_settings import plain_settings
from tf_charagram.tasks.pairs.model import PairLabelHead, PairScoreHead
from tf_charagram.tasks.sentiment.model import TextHead
from tf_charagram.tasks.tagging.head import TaggingHead
from tf_charagram.text import VECTORIZERS, vectorizer_class

HEADS = [
    PairLabelHead(dim=3, labels=["a", "b"]),
    PairScoreHead(dim=3),
    TaggingHead(word_dim=3, labels=["a", "b"]),
    TextHead(dim=3, labels=["a", "b"]),
]


def assert_kept(layer_class, written):
    settings = json.loads(json.dumps(written))
    plain = plain_settings(layer_class, settings)
    assert plain["dtype"] == "float32"
    assert {**plain, "dtype": settings["dtype"]} == settings


@pytest.mark.parametrize("name", some_now(list(ENCODERS), "charagram", "cse", "gran"))
def test_encoders(name):
    assert_kept(encoder_class(name), encoder_class(name)(num_rows=5, dim=6).get_config())


@pytest.mark.parametrize("head", HEADS, ids=lambda head: type(head).__name__)
def test_heads(head):
    assert_kept(type(head), head.get_config())


@pytest.mark.parametrize("name", VECTORIZERS)
def test_vectorizers(name):
    assert_kept(vectorizer_class(name), vectorizer_class(name).from_texts(["a cat"]).settings())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ([], "the settings of the Charagram are not an object"),
        ({"dim": 2.0}, r"`dim` of the Charagram has a value of the wrong type: 2\.0"),
        ({"dim": None}, "`dim` of the Charagram has a value of the wrong type: None"),
        ({"num_layers": True}, "`num_layers` .* wrong type: True"),
        ({"activation": "selu"}, "`activation` .* wrong type: 'selu'"),
        ({"trainable": 1}, "`trainable` .* wrong type"),
        ({"x": [[1]]}, r"`x` .* wrong type: \[\[1\]\]"),
        ({"x": float("nan")}, "`x` .* wrong type: nan"),
        ({"x": [1] * 9}, "`x` of the Charagram has 9 elements"),
        ({"dtype": "int8"}, "`dtype` must be one of float32, .* Received: 'int8'"),
        ({"dtype": {"class_name": "Lambda", "config": {}}}, "Received: {'class_name': 'Lambda'"),
    ],
)
def test_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        plain_settings(Charagram, settings, longest=8)
