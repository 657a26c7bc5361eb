"""Training steps of the tagger against NumPy, for each way to compose words."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose

from tests.reference import charagram as charagram_reference
from tests.reference import lstm as lstm_reference
from tests.reference import optimizers as optimizer_reference
from tests.reference import tagger as reference
from tests.reference import text as text_reference
from tests.variants import some_now
from tf_charagram.encoders.characters import CharLstm
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.optimizers.registry import make_optimizer
from tf_charagram.tasks.tagging.head import TaggingHead, has_capital
from tf_charagram.tasks.tagging.task import TaggingModel
from tf_charagram.text.characters import CharacterVectorizer
from tf_charagram.text.vectorizer import NgramVectorizer

SENTENCES = [
    ["The", "cat", "sat"], ["I"], [], ["A", "cat", "saw", "the", "cat"], ["", "Unseen", "cat"],
]  # fmt: skip
KNOWN = ["the", "cat", "sat", "I", "a", "saw", "The"]
LABELS = [0, 1, 2, 1, 0, 1, 2, 0, 1, 2, 0, 1]
DIM = 3
HEAD_NAMES = [f"{way}_{name}" for way in ("forward", "backward") for name in "KRb"]
HEAD_NAMES += ["H", "bh", "S", "bs"]


def charagram_composer(num_layers):
    vectorizer = NgramVectorizer.from_texts(KNOWN, orders=[2, 3])
    vocabulary = vectorizer.vocabulary.ngrams()
    encoder = Charagram(
        num_rows=vectorizer.num_rows, dim=DIM, activation="tanh", num_layers=num_layers
    )

    def compose(word, w):
        dense = (w["K"], w["b2"]) if num_layers == 2 else None
        return charagram_reference.embed([word], vocabulary, w["W"], w["b"], "tanh", dense)[0]

    return vectorizer, encoder, ["W", "b", "K", "b2"][: 2 * num_layers], compose


def character_rows(table, word):
    """Returns the vectors of the characters of a word; capitals are kept."""
    alphabet = sorted({char for known in KNOWN for char in known})
    symbols = text_reference.normalize(word, lower=False)
    ids = [1 if c == " " else 3 + alphabet.index(c) if c in alphabet else 2 for c in symbols]
    return table[np.array(ids, int)]


def char_lstm_composer():
    vectorizer = CharacterVectorizer.from_texts(KNOWN, lowercase=False)
    encoder = CharLstm(num_rows=vectorizer.num_rows, dim=DIM, input_dim=2)

    def compose(word, w):
        rows = character_rows(w["table"], word)
        states = lstm_reference.states(rows, w["K"], w["R"], w["b"], w["p"])
        return states[-1] if len(rows) else np.zeros(DIM)

    return vectorizer, encoder, ["table", "K", "R", "b", "p"], compose


COMPOSERS = {
    "charagram": lambda: charagram_composer(1),
    "2 layers": lambda: charagram_composer(2),
    "char_lstm": char_lstm_composer,
}


def batch_of(vectorizer, sentences, labels):
    words = [word for sentence in sentences for word in sentence]
    _, composed, places = np.unique(words, return_index=True, return_inverse=True)
    texts = tf.constant([words[i] for i in composed], tf.string, [len(composed)])
    positions = tf.RaggedTensor.from_row_lengths(
        tf.constant(places, tf.int32), tf.constant([len(s) for s in sentences], tf.int64)
    )
    return vectorizer(texts), has_capital(texts), positions, tf.constant(labels, tf.int32)


class Setup:
    """A model with random weights, and the same in NumPy."""

    def __init__(self, name, use_capitals=True):
        self.vectorizer, encoder, names, self.compose = COMPOSERS[name]()
        head = TaggingHead(
            labels=["A", "B", "C"], word_dim=DIM, lstm_dim=2, hidden_dim=4,
            use_capitals=use_capitals,
        )  # fmt: skip
        self.model, self.use_capitals = TaggingModel(encoder, head), use_capitals
        self.num_encoder_weights = len(names)
        self.variables = dict(zip(
            [f"encoder {name}" for name in names] + HEAD_NAMES,
            [*encoder.weights, *head.weights], strict=True,
        ))  # fmt: skip
        rng = np.random.default_rng(0)
        for variable in self.variables.values():
            variable.assign(rng.normal(scale=0.5, size=variable.shape))

    def weights(self):
        return {name: w.numpy().astype(np.float64) for name, w in self.variables.items()}

    def batch(self):
        return batch_of(self.vectorizer, SENTENCES, LABELS)

    def expected_loss(self, weights):
        own = {name[8:]: w for name, w in weights.items() if name.startswith("encoder ")}
        scores = reference.logits(
            SENTENCES, lambda word: self.compose(word, own), weights, self.use_capitals
        )
        return reference.loss(scores, LABELS)


@pytest.mark.parametrize("use_capitals", some_now([False, True], True))
@pytest.mark.parametrize("name", COMPOSERS)
def test_loss_and_gradients_equal_numpy(name, use_capitals):
    """Gradients along random directions, weight by weight."""
    setup = Setup(name, use_capitals)
    weights = setup.weights()
    with tf.GradientTape() as tape:
        loss = setup.model.loss_of(*setup.batch(), training=True)
    assert float(loss) == pytest.approx(setup.expected_loss(weights), rel=1e-5)
    sources = [variable.value for variable in setup.variables.values()]
    rng = np.random.default_rng(1)
    for key, gradient in zip(weights, tape.gradient(loss, sources), strict=True):
        for _ in range(2):
            direction = rng.normal(size=weights[key].shape)
            ends = [
                setup.expected_loss({**weights, key: weights[key] + step * direction})
                for step in (1e-7, -1e-7)  # less would lose digits, more meet kinks of relu
            ]
            slope = np.sum(tf.convert_to_tensor(gradient) * direction)
            assert slope == pytest.approx((ends[0] - ends[1]) / 2e-7, rel=2e-3, abs=1e-5), key


def numerical_gradient(setup, weights):
    arrays = {name: np.zeros(w.shape) for name, w in weights.items()}
    for name, w in weights.items():
        for place in np.ndindex(w.shape):
            ends = []
            for step in (1e-5, -1e-5):
                moved = w.copy()
                moved[place] += step
                ends.append(setup.expected_loss({**weights, name: moved}))
            arrays[name][place] = (ends[0] - ends[1]) / 2e-5
    return arrays


@pytest.mark.parametrize("dense_l2", some_now([False, True], False))
def test_fit_equals_numpy(dense_l2):
    """SGD with momentum on all weights, with all penalties."""
    setup = Setup("charagram")
    settings = {"l2": 0.02, "l2_composition": 0.05, "l2_head": 0.1, "dense_l2": dense_l2}
    setup.model.compile(make_optimizer("sgd", 0.2), **settings)
    weights = setup.weights()
    optimizers = {name: optimizer_reference.MomentumSgd(0.2, 0.95) for name in weights}
    touched = np.unique(setup.batch()[0].values)
    data = tf.data.Dataset.from_tensors(setup.batch())
    for _ in range(3):
        loss = setup.model.fit(data, verbose=0).history["loss"][0]
        assert loss == pytest.approx(setup.expected_loss(weights), rel=1e-4)
        gradients = numerical_gradient(setup, weights)
        for name, gradient in gradients.items():
            own = 0.05 if name.startswith("encoder") else 0.1
            rows = touched if name == "encoder W" and not dense_l2 else None
            gradient += optimizer_reference.l2_gradient(weights[name], 0.02 + own, rows=rows)
            weights[name] = optimizers[name].step(weights[name], gradient)
            assert_allclose(setup.variables[name], weights[name], rtol=1e-3, atol=1e-4)
    assert int(setup.model.step) == 3
