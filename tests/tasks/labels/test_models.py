"""Models that score or label texts and pairs: formulas, batches and errors, and their heads."""

from __future__ import annotations

import functools
import itertools
import json

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.models.answers import TEXTS, TOLERANCE, decided, parts, randomized
from tests.reference import supervised as reference
from tests.variants import some_now
from tf_charagram.errors import ConfigError
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.tasks.labels._heads.heads import PairLabelHead, PairScoreHead, TextHead
from tf_charagram.tasks.labels.models import PairClassifier, PairScorer, TextClassifier

LEFT, RIGHT = TEXTS, [*TEXTS[3:], *TEXTS[:3]]
LABELS = ("no", "maybe", "s\u00ed")
#: Kind -> class, head, the settings of the head, texts.
KINDS = {
    "scorer": (PairScorer, PairScoreHead, {"num_classes": 4}, (LEFT, RIGHT)),
    "classifier": (PairClassifier, PairLabelHead, {"labels": LABELS}, (LEFT, RIGHT)),
    "texts": (TextClassifier, TextHead, {"labels": LABELS}, (LEFT,)),
}
NAMES = {
    "product_kernel": "W*", "distance_kernel": "W+", "vector_kernel": "W", "bias": "b",
    "output_kernel": "Wp", "output_bias": "bp",
}  # fmt: skip


def make_head(kind, **settings):
    _, head, own, _ = KINDS[kind]
    return head(**{"dim": 6, **own, **settings})


@functools.cache
def make(kind, encoder="charagram"):
    vectorizer, made = parts(encoder)
    model = KINDS[kind][0](vectorizer, made, randomized(make_head(kind), seed=1))
    return model if kind == "scorer" else decided(model, model.embedder.encode([*LEFT, *RIGHT]))


def numbers(model, *sides, **settings):
    """Returns scores or probabilities."""
    method = model.score if isinstance(model, PairScorer) else model.probabilities
    return method(*sides, **settings)


@pytest.mark.parametrize(
    ("kind", "encoder"),
    some_now(
        pairs := [*itertools.product(KINDS, ["charagram", "cse"])],
        *(pair for pair in pairs if pair[1] == "charagram"),
        ("scorer", "cse"),
    ),
)
def test_equals_the_formulas(kind, encoder):
    """Of vectors over the scale of the head, which is 0.7."""
    model, sides = make(kind, encoder), KINDS[kind][-1]
    parameters = {NAMES[w.name]: w.numpy().astype(float) for w in model.head.trainable_variables}
    output = reference.text_output if kind == "texts" else reference.pair_output
    embedder = TextEmbedder(model.vectorizer, model.encoder)
    vectors = [embedder.encode(texts) / 0.7 for texts in sides]
    expected = np.array([output(*row, parameters) for row in zip(*vectors, strict=True)])
    found = numbers(model, *sides)
    assert found.dtype == np.float32
    if kind == "scorer":
        expected = np.array([reference.score(row) for row in expected])
        assert np.ptp(expected) > 0.5 and expected.min() >= 1.0 and expected.max() <= 4.0
    else:
        answers = model.classify(*sides)
        assert [answer.label for answer in answers] == [LABELS[i] for i in expected.argmax(axis=1)]
        assert_allclose([answer.score for answer in answers], expected.max(axis=1), rtol=1e-4)
        assert len({answer.label for answer in answers}) > 1
    assert_allclose(found, expected, **TOLERANCE)


@pytest.mark.parametrize("encoder", ["charagram", "cse"])
@pytest.mark.parametrize("kind", KINDS)
def test_other_texts_and_batches_change_nothing(kind, encoder):
    model, sides = make(kind, encoder), KINDS[kind][-1]
    expected = numbers(model, *sides)
    alone = [numbers(model, *([text] for text in row))[0] for row in zip(*sides, strict=True)]
    assert_allclose(alone, expected, rtol=1e-5, atol=1e-6)
    for batch_size in (1, 4, 7):
        found = numbers(model, *sides, batch_size=batch_size)
        assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    found = numbers(model, *(["word " * 99, *side] for side in sides))[1:]
    assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_repeated_texts_are_encoded_once(monkeypatch):
    model, seen = make("scorer"), []
    encode = TextEmbedder.encode
    monkeypatch.setattr(
        TextEmbedder, "encode",
        lambda self, texts, **settings: encode(self, seen.extend(texts) or texts, **settings),
    )  # fmt: skip
    scores = model.score(["a cat", "a cat", "a dog", ""], ["a dog", "a man", "a cat", ""])
    assert sorted(seen) == ["", "a cat", "a dog", "a man"]
    assert scores[0] == pytest.approx(scores[2], rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing(kind):
    model, nothing = make(kind), [[] for _ in KINDS[kind][-1]]
    assert numbers(model, *nothing).shape == ((0,) if kind == "scorer" else (0, 3))
    assert kind == "scorer" or model.classify(*nothing) == []


def test_served_sides_that_differ():
    answer = make("classifier").signatures()["serving_default"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="differ in length"):
        answer(tf.constant(["a", "b", "c"]), tf.constant(["a"]))


@pytest.mark.parametrize(
    ("kind", "sides", "message"),
    [
        ("scorer", (["a", "b"], ["a"]), r"left texts \(2\) does not match number of right texts"),
        ("scorer", ("a", ["a"]), "`left` must be a list of texts. Received a single string"),
        ("classifier", (["a"], [None]), "`right` must hold strings. Row 0 is missing"),
        ("texts", ("good",), "`texts` must be a list of texts. Received a single string"),
    ],
)
def test_bad_texts(kind, sides, message):
    with pytest.raises(ConfigError, match=message):
        numbers(make(kind), *sides)


def test_batch_size():
    with pytest.raises(ConfigError, match="`batch_size` must be at least 1"):
        make("texts").classify(["a"], batch_size=0)


@pytest.mark.parametrize("kind", KINDS)
class TestHeads:
    def test_config(self, kind):
        """It goes through JSON, and the seed fixes the weights."""
        head = make_head(kind)
        restored = type(head).from_config(json.loads(json.dumps(head.get_config())))
        assert restored.get_config() == head.get_config()
        assert len({weight.path for weight in head.weights}) == len(head.weights)
        for one, other in zip(head.weights, restored.weights, strict=True):
            assert one.path == other.path
            assert_array_equal(one, other)

    @pytest.mark.parametrize("factor", [0.01, 20.0])
    def test_adapt(self, kind, factor):
        """Vectors of any size give the logits that vectors of size 1 do."""
        head = make_head(kind)
        vectors = np.random.default_rng(0).normal(size=(40, head.dim)).astype(np.float32)
        vectors /= np.sqrt(np.mean(np.square(vectors)))
        head.adapt(vectors)
        assert_allclose(head.scale, 1.0, rtol=1e-5)
        expected = head(vectors).numpy()
        head.adapt(factor * vectors)
        assert_allclose(head.scale, factor, rtol=1e-5)
        assert_allclose(head(factor * vectors), expected, rtol=1e-4, atol=1e-5)
        for nothing in (vectors[:0], np.zeros((3, head.dim)), np.full((1, head.dim), np.inf)):
            head.adapt(nothing)
            assert_allclose(head.scale, factor, rtol=1e-5)

    @pytest.mark.parametrize("dim", [30, 2400])
    def test_not_saturated(self, kind, dim):
        """At the start each sigmoid is near its middle, for vectors of any width."""
        head = make_head(kind, dim=dim, hidden_dim=50)
        vectors = np.random.default_rng(0).normal(size=(200, dim)).astype(np.float32)
        features = head._features(tf.constant(vectors))
        inside = sum(f @ k for f, k in zip(features, head.kernels, strict=True))
        hidden = reference.sigmoid(inside.numpy())
        assert hidden.min() > 0.1 and hidden.max() < 0.9
        assert hidden.std(axis=0).min() > 0.01


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        ("scorer", {"num_classes": 1}, r"`num_classes` must be at least 2. Received.*=1"),
        ("scorer", {"dim": 0}, "`dim` must be at least 1. Received: dim=0"),
        ("texts", {"hidden_dim": 0}, "`hidden_dim` must be at least 1. Received: hidden_dim=0"),
        ("classifier", {"labels": ["yes"]}, "`labels` must be at least 2, all different. Rec"),
        ("texts", {"labels": ["yes", "no", "yes"]}, "`labels` must be at least 2, all different"),
        ("classifier", {"labels": [0, 1]}, r"`labels` must be strings. Received: \[0, 1\]"),
    ],
)
def test_errors_of_heads(kind, settings, message):
    with pytest.raises(ConfigError, match=message):
        make_head(kind, **settings)


def test_time_distributed():
    head = make_head("texts")
    vectors = np.random.default_rng(1).normal(size=(2, 3, 6)).astype(np.float32)
    inputs = keras.Input((3, 6))
    model = keras.Model(inputs, keras.layers.TimeDistributed(head)(inputs))
    assert_allclose(model(vectors)[:, 1], head(vectors[:, 1]), rtol=1e-6)
