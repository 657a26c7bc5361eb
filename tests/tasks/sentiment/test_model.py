"""Head and model of single texts: formulas, saved and served models, errors."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.layers.heads import check_adapt, check_config, check_not_saturated
from tests.layers.heads import randomized as randomized_head
from tests.models.answers import TEXTS, TOLERANCE, decided, parts, randomized
from tests.reference import supervised as reference
from tf_charagram.errors import ConfigError
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.tasks.sentiment.model import TextClassifier, TextHead
from tf_charagram.text.batches import to_bytes

LABELS = ("negative", "positive")


def make(encoder="charagram"):
    vectorizer, made = parts(encoder)
    model = TextClassifier(vectorizer, made, randomized(TextHead(dim=6, labels=LABELS), seed=3))
    return decided(model, model.embedder.encode(TEXTS))


@pytest.mark.parametrize("encoder", ["charagram", "cse"])
def test_equals_the_formulas(encoder):
    model = make(encoder)
    names = dict(zip(["W", "b", "Wp", "bp"], model.head.trainable_variables, strict=True))
    parameters = {key: weight.numpy().astype(float) for key, weight in names.items()}
    vectors = TextEmbedder(model.vectorizer, model.encoder).encode(TEXTS) / 0.7
    expected = np.array([reference.text_output(vector, parameters) for vector in vectors])
    found = model.probabilities(TEXTS)
    assert found.dtype == np.float32 and np.ptp(expected) > 0.1
    assert_allclose(found, expected, **TOLERANCE)
    for answer, row in zip(model.classify(TEXTS), expected, strict=True):
        assert answer.label == LABELS[int(np.argmax(row))]
        assert answer.score == pytest.approx(row.max(), rel=1e-4)


@pytest.mark.parametrize("encoder", ["charagram", "cse"])
def test_other_texts_and_batches_change_nothing(encoder):
    model = make(encoder)
    expected = model.probabilities(TEXTS)
    alone = np.concatenate([model.probabilities([text]) for text in TEXTS])
    assert_allclose(alone, expected, rtol=1e-5, atol=1e-6)
    for batch_size in (1, 5):
        found = model.probabilities(TEXTS, batch_size=batch_size)
        assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    found = model.probabilities(["word " * 99, *TEXTS])[1:]
    assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_saved_loaded_and_served(tmp_path):
    model = make()
    expected = model.probabilities(TEXTS)
    assert np.isfinite(expected).all()
    model.save(tmp_path / "model")
    assert_array_equal(TextClassifier.load(tmp_path / "model").probabilities(TEXTS), expected)
    model.export(tmp_path / "1")
    served = tf.saved_model.load(str(tmp_path / "1")).signatures["serving_default"]
    answers = served(texts=tf.constant([to_bytes(text) for text in TEXTS]))
    assert set(answers) == {"label", "scores"}
    assert_allclose(answers["scores"], expected, **TOLERANCE)
    labels = [answer.label for answer in model.classify(TEXTS)]
    assert set(labels) == set(LABELS)
    assert [label.decode() for label in answers["label"].numpy()] == labels
    none = served(texts=tf.constant([], tf.string))
    assert none["scores"].shape == (0, 2) and none["label"].shape == (0,)


def test_no_texts():
    assert make().probabilities([]).shape == (0, 2)
    assert make().classify([]) == []


def test_errors():
    with pytest.raises(ConfigError, match=r"`texts` must be a list of texts. Received a single st"):
        make().classify("good")
    with pytest.raises(
        ConfigError, match=r"`batch_size` must be at least 1. Received: batch_size=0"
    ):
        make().classify(["good"], batch_size=0)
    for batch_size in (None, 1.5):
        with pytest.raises(ConfigError, match=f"must be an integer. .*: batch_size={batch_size}"):
            make().classify(["good"], batch_size=batch_size)
    for texts, message in ((None, "must be a list of texts"), ([["good"]], "must hold strings")):
        with pytest.raises(ConfigError, match=f"`texts` {message}"):
            make().classify(texts)


def make_head(**settings):
    return TextHead(**{"dim": 4, "labels": ("bad", "good"), "hidden_dim": 3, **settings})


def test_head_equals_the_formulas():
    head, parameters = randomized_head(make_head())
    vectors = np.random.default_rng(1).normal(size=(7, 4))
    probabilities = tf.nn.softmax(head(vectors.astype(np.float32)))
    expected = [reference.text_output(vector, parameters) for vector in vectors]
    assert_allclose(probabilities, expected, rtol=1e-4, atol=1e-6)


def test_config():
    check_config(make_head)


@pytest.mark.parametrize("factor", [0.01, 20.0])
def test_adapt(factor):
    check_adapt(make_head(), factor)


@pytest.mark.parametrize("dim", [30, 300, 2400])
def test_not_saturated(dim):
    check_not_saturated(make_head(dim=dim, hidden_dim=50))


def test_time_distributed():
    head = make_head()
    vectors = np.random.default_rng(1).normal(size=(2, 3, 4)).astype(np.float32)
    inputs = keras.Input((3, 4))
    model = keras.Model(inputs, keras.layers.TimeDistributed(head)(inputs))
    assert_allclose(model(vectors)[:, 1], head(vectors[:, 1]), rtol=1e-6)


def test_head_errors():
    with pytest.raises(ConfigError, match=r"`labels` must be at least 2, all different. Received"):
        make_head(labels=["good"])
    with pytest.raises(ConfigError, match=r"`dim` must be at least 1. Received: dim=0"):
        make_head(dim=0)
