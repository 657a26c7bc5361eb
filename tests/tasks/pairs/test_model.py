"""Heads and models of pairs: formulas, saved and served models, errors."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the operations of the exported models of words)
from numpy.testing import assert_allclose, assert_array_equal

from tests.layers.heads import check_adapt, check_config, check_not_saturated
from tests.layers.heads import randomized as randomized_head
from tests.models.answers import TEXTS, TOLERANCE, decided, parts, randomized
from tests.reference import supervised as reference
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.tasks.pairs.model import (
    PairClassifier,
    PairLabelHead,
    PairScoreHead,
    PairScorer,
    expected_score,
)
from tf_charagram.text.tensors import string_tensor

LEFT, RIGHT = TEXTS, [*TEXTS[3:], *TEXTS[:3]]
LABELS = ("no", "maybe", "s\u00ed")
HEAD_LABELS = ("no", "maybe", "yes")


@functools.cache
def scorer(encoder="charagram"):
    vectorizer, made = parts(encoder)
    return PairScorer(vectorizer, made, randomized(PairScoreHead(dim=6, num_classes=4), seed=1))


@functools.cache
def classifier(encoder="charagram"):
    vectorizer, made = parts(encoder)
    head = randomized(PairLabelHead(dim=6, labels=LABELS), seed=1)
    model = PairClassifier(vectorizer, made, head)
    return decided(model, model.embedder.encode([*LEFT, *RIGHT]))


MODELS = {"scorer": scorer, "classifier": classifier}


def numbers(model, left, right, **settings):
    """Returns scores or probabilities."""
    method = model.score if isinstance(model, PairScorer) else model.probabilities
    return method(left, right, **settings)


def served_numbers(outputs):
    return outputs["score"] if "score" in outputs else outputs["scores"]


@pytest.mark.parametrize("encoder", ["charagram", "cse"])
@pytest.mark.parametrize("name", MODELS)
def test_equals_the_formulas(name, encoder):
    model = MODELS[name](encoder)
    names = dict(zip(["W*", "W+", "b", "Wp", "bp"], model.head.trainable_variables, strict=True))
    parameters = {key: weight.numpy().astype(float) for key, weight in names.items()}
    embedder = TextEmbedder(model.vectorizer, model.encoder)
    left, right = embedder.encode(LEFT) / 0.7, embedder.encode(RIGHT) / 0.7
    expected = np.array([
        reference.pair_output(*pair, parameters) for pair in zip(left, right, strict=True)
    ])  # fmt: skip
    if name == "scorer":
        expected = np.array([reference.score(output) for output in expected])
        assert np.ptp(expected) > 0.5 and expected.min() >= 1.0 and expected.max() <= 4.0
    found = numbers(model, LEFT, RIGHT)
    assert found.dtype == np.float32
    assert_allclose(found, expected, **TOLERANCE)
    if name == "classifier":
        for answer, row in zip(model.classify(LEFT, RIGHT), expected, strict=True):
            assert answer.label == LABELS[int(np.argmax(row))]
            assert answer.score == pytest.approx(row.max(), rel=1e-4)


@pytest.mark.parametrize("encoder", ["charagram", "cse"])
@pytest.mark.parametrize("name", MODELS)
def test_other_pairs_and_batches_change_nothing(name, encoder):
    model = MODELS[name](encoder)
    expected = numbers(model, LEFT, RIGHT)
    alone = [numbers(model, [one], [other])[0] for one, other in zip(LEFT, RIGHT, strict=True)]
    assert_allclose(alone, expected, rtol=1e-5, atol=1e-6)
    for batch_size in (1, 4, 7):
        found = numbers(model, LEFT, RIGHT, batch_size=batch_size)
        assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    found = numbers(model, [*LEFT, "word " * 99], [*RIGHT, ""])[:-1]
    assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_sides_can_be_swapped(name):
    model = MODELS[name]()
    assert_allclose(numbers(model, RIGHT, LEFT), numbers(model, LEFT, RIGHT), rtol=1e-5)


def test_repeated_texts_are_encoded_once(monkeypatch):
    model, seen = scorer(), []
    encode = TextEmbedder.encode
    monkeypatch.setattr(
        TextEmbedder, "encode",
        lambda self, texts, **settings: encode(self, seen.extend(texts) or texts, **settings),
    )  # fmt: skip
    scores = model.score(["a cat", "a cat", "a dog", ""], ["a dog", "a man", "a cat", ""])
    assert sorted(seen) == ["", "a cat", "a dog", "a man"]
    assert scores[0] == pytest.approx(scores[2], rel=1e-6)


@pytest.mark.parametrize("name", MODELS)
class TestFolder:
    def test_saved_and_loaded(self, name, tmp_path):
        model = MODELS[name]()
        model.save(tmp_path / "model")
        loaded = type(model).load(tmp_path / "model")
        assert_array_equal(numbers(loaded, LEFT, RIGHT), numbers(model, LEFT, RIGHT))
        assert loaded.head.get_config() == model.head.get_config()

    def test_another_kind(self, name, tmp_path):
        model = MODELS[name]()
        model.save(tmp_path / "model")
        (other,) = {PairScorer, PairClassifier} - {type(model)}
        with pytest.raises(RunError, match=f"of the kind '{model.kind}'. Expected: '{other.kind}'"):
            other.load(tmp_path / "model")
        with pytest.raises(RunError, match="Expected: 'embedder'"):
            TextEmbedder.load(tmp_path / "model")


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Returns the models, the signatures that they are exported with, and their answers."""
    folder = tmp_path_factory.mktemp("pairs")
    models = {name: make() for name, make in MODELS.items()}
    signatures, answers = {}, {}
    for name, model in models.items():
        model.export(folder / name)
        signatures[name] = tf.saved_model.load(str(folder / name)).signatures["serving_default"]
        answers[name] = {
            number: signatures[name](
                texts_a=string_tensor(LEFT[:number]), texts_b=string_tensor(RIGHT[:number])
            )
            for number in (len(LEFT), 1, 0)
        }
    return models, signatures, answers


@pytest.mark.parametrize("name", MODELS)
class TestServed:
    def test_answers(self, exported, name):
        models, _, answers = exported
        expected = numbers(models[name], LEFT, RIGHT)
        assert np.isfinite(expected).all() and np.ptp(expected, axis=0).min() > 0.05
        assert_allclose(served_numbers(answers[name][len(LEFT)]), expected, **TOLERANCE)
        assert_allclose(served_numbers(answers[name][1]), expected[:1], **TOLERANCE)
        assert served_numbers(answers[name][0]).shape == (0, *expected.shape[1:])

    def test_labels(self, exported, name):
        models, _, answers = exported
        if name == "scorer":
            assert set(answers[name][1]) == {"score"}
        else:
            expected = [answer.label for answer in models[name].classify(LEFT, RIGHT)]
            assert len(set(expected)) > 1
            found = answers[name][len(LEFT)]["label"].numpy()
            assert [label.decode() for label in found] == expected
            assert answers[name][0]["label"].shape == (0,)

    def test_sides_that_differ(self, exported, name):
        answer = exported[1][name]
        texts_a, texts_b = tf.constant(["a", "b", "c"]), tf.constant(["a"])
        with pytest.raises(tf.errors.InvalidArgumentError, match="differ in length"):
            answer(texts_a=texts_a, texts_b=texts_b)


@pytest.mark.parametrize("name", MODELS)
class TestErrors:
    def test_no_pairs(self, name):
        model = MODELS[name]()
        width = () if name == "scorer" else (3,)
        assert numbers(model, [], []).shape == (0, *width)
        assert name == "scorer" or model.classify([], []) == []

    @pytest.mark.parametrize(
        ("left", "right", "message"),
        [
            (["a", "b"], ["a"], r"left texts \(2\) does not match number of right texts \(1\)"),
            ("a", ["a"], "`left` must be a list of texts. Received a single string"),
            (["a"], [None], "`right` must hold strings. Row 0 is missing"),
            (["a"], b"a", "`right` must be a list of texts. Received a single string"),
        ],
    )
    def test_sides(self, name, left, right, message):
        with pytest.raises(ConfigError, match=message):
            numbers(MODELS[name](), left, right)

    def test_batch_size(self, name):
        with pytest.raises(
            ConfigError, match=r"`batch_size` must be at least 1. Received: batch_size=0"
        ):
            numbers(MODELS[name](), ["a"], ["b"], batch_size=0)


def score_head(**settings):
    return PairScoreHead(**{"dim": 4, "num_classes": 5, "hidden_dim": 3, **settings})


def label_head(**settings):
    return PairLabelHead(**{"dim": 4, "labels": HEAD_LABELS, "hidden_dim": 3, **settings})


@pytest.mark.parametrize("make", [score_head, label_head])
class TestHeads:
    def test_equals_the_formulas(self, make):
        head, parameters = randomized_head(make())
        vectors = np.random.default_rng(1).normal(size=(14, 4))
        probabilities = tf.nn.softmax(head(vectors.astype(np.float32))).numpy()
        expected = [
            reference.pair_output(left, right, parameters)
            for left, right in zip(vectors[:7], vectors[7:], strict=True)
        ]
        assert_allclose(probabilities, expected, rtol=1e-4, atol=1e-6)

    def test_scale_is_a_part_of_the_kernels(self, make):
        """W* / scale^2 and W+ / scale are the matrices of the formula."""
        head, parameters = randomized_head(make())
        head.scale.assign(2.0)
        parameters |= {"W*": parameters["W*"] / 4.0, "W+": parameters["W+"] / 2.0}
        left, right = np.random.default_rng(1).normal(size=(2, 4))
        found = tf.nn.softmax(head(np.float32([left, right])))[0]
        assert_allclose(found, reference.pair_output(left, right, parameters), rtol=1e-4)

    def test_config(self, make):
        check_config(make)

    @pytest.mark.parametrize("factor", [0.01, 20.0])
    def test_adapt(self, make, factor):
        check_adapt(make(), factor)

    @pytest.mark.parametrize("dim", [30, 300, 2400])
    def test_not_saturated(self, make, dim):
        check_not_saturated(make(dim=dim, hidden_dim=50))

    def test_no_pairs(self, make):
        head = make()
        assert head(np.zeros((0, 4), np.float32)).shape == (0, head.output_bias.shape[0])

    @pytest.mark.parametrize("name", ["dim", "hidden_dim"])
    def test_errors(self, make, name):
        with pytest.raises(ConfigError, match=f"`{name}` must be at least 1. Received: {name}=0"):
            make(**{name: 0})


def test_scores():
    head, parameters = randomized_head(score_head())
    left, right = np.random.default_rng(1).normal(size=(2, 4))
    expected = reference.score(reference.pair_output(left, right, parameters))
    assert 1.0 < expected < 5.0
    assert_allclose(expected_score(head(np.float32([left, right]))), [expected], rtol=1e-5)


def test_one_class():
    with pytest.raises(ConfigError, match=r"`num_classes` must be at least 2. Received.*=1"):
        score_head(num_classes=1)


def test_bad_labels():
    for labels in ([], ["yes"], ["yes", "no", "yes"]):
        with pytest.raises(ConfigError, match=r"`labels` must be at least 2, all different. Rec"):
            label_head(labels=labels)
    with pytest.raises(ConfigError, match=r"`labels` must be strings. Received: \[0, 1\]"):
        label_head(labels=[0, 1])
