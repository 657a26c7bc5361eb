"""Training steps against NumPy, and what `fit` promises."""

from __future__ import annotations

import functools
import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.commands import assert_same_training
from tests.reference import charagram as charagram_reference
from tests.reference import optimizers as optimizer_reference
from tests.reference import paraphrase as reference
from tests.variants import some_now
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError
from tf_charagram.losses.negatives import NegativeSampler
from tf_charagram.optimizers.registry import OPTIMIZERS, make_optimizer
from tf_charagram.tasks.paraphrase._corpus.pair_stream import Pairs, PairStream
from tf_charagram.tasks.paraphrase.model import ParaphraseModel
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.training import step_model

PAIRS = [
    ("colour", "color"), ("grey", "gray"), ("cat", "cats"), ("theatre", "theater"),
    ("walk", "walking"), ("big house", "large house"), ("cat", "kitten"), ("centre", "center"),
    ("dog", "dogs"), ("gray", "greyish"), ("", "nothing"), ("talk", "talking"),
]  # fmt: skip


@functools.cache
def stream_of(pairs, batch_size):
    """Returns a vectorizer of the texts of pairs, and batches by their step."""
    texts = [text for pair in pairs for text in pair]
    vectorizer = NgramVectorizer.from_texts(texts, orders=[2, 3])
    keys = {text: key for key, text in enumerate(dict.fromkeys(texts))}
    ids = Pairs(
        vectorizer(tf.constant(texts)), tf.constant([keys[text] for text in texts], tf.int64)
    )
    stream = PairStream(len(pairs), lambda: ids, batch_size=batch_size)
    batches = [
        tf.data.Dataset.from_tensors(batch)
        for segment in stream.segments(0, 50)
        for batch in stream.dataset(segment)
    ]
    return vectorizer, batches


class Setup:
    """Pairs, their vectorizer and batches, and a model over them."""

    def __init__(self, *, pairs=PAIRS, batch_size=4, dim=5, num_layers=1, activation="linear"):
        self.texts = [text for pair in pairs for text in pair]
        self.vectorizer, self.all_batches = stream_of(tuple(pairs), batch_size)
        encoder = Charagram(
            num_rows=self.vectorizer.num_rows, dim=dim, activation=activation, num_layers=num_layers
        )
        self.model = ParaphraseModel(encoder)

    def compile(self, name="adam", learning_rate=0.02, **settings):
        # As the reference: from less, a mere rounding error of a gradient makes a whole step.
        options = {"initial_accumulator_value": 0.1} if name == "adagrad" else {}
        optimizer = make_optimizer(name, learning_rate, **options)
        self.model.compile(optimizer, **settings)
        return self.model

    def fit(self, num_steps, first_step=0):
        return self.model.fit(self.batches(num_steps, first_step), verbose=0).history["loss"][-1]

    def texts_at(self, step):
        """Returns the texts of a batch, lefts, then rights."""
        ((_, keys),) = self.batches(1, step)
        distinct = list(dict.fromkeys(self.texts))
        return [distinct[key] for key in keys.numpy()]

    def batches(self, num_steps, first_step=0):
        batches = self.all_batches[first_step : first_step + num_steps]
        assert len(batches) == num_steps
        return functools.reduce(lambda whole, batch: whole.concatenate(batch), batches)

    def variables(self):
        """Returns weights, then whatever the optimizer holds."""
        held = [*self.model.encoder.weights, *self.model.optimizer.variables]
        return [variable.numpy() for variable in held]


class NumpyTraining:
    """The same training with the reference alone: raw texts, the loss with `max`, L2, clipping."""

    def __init__(self, setup, name, learning_rate, *, margin, l2, dense_l2, clip_norm):
        encoder = setup.model.encoder
        self.vocabulary = setup.vectorizer.vocabulary.ngrams()
        self.activation, self.margin = encoder.activation, margin
        self.l2, self.dense_l2, self.clip_norm = l2, dense_l2, clip_norm
        self.weights = {"W": encoder.sum.table.numpy(), "b": encoder.bias.numpy()}
        if encoder.dense is not None:
            self.weights |= {"K": encoder.dense.kernel.numpy(), "b2": encoder.dense.bias.numpy()}
        lazy, dense = {
            "adam": (optimizer_reference.LazyAdam, optimizer_reference.Adam),
            "adagrad": (optimizer_reference.LazyAdagrad, optimizer_reference.Adagrad),
            # Not lazy: a row without a gradient moves on.
            "sgd": (optimizer_reference.MomentumSgd, optimizer_reference.MomentumSgd),
        }[name]
        self.optimizers = {
            key: (lazy if key == "W" and not (dense_l2 and l2) else dense)(learning_rate)
            for key in self.weights
        }

    def step(self, texts):
        """Trains on lefts then rights; returns the loss before the step."""
        count, w = len(texts) // 2, self.weights
        dense = (w["K"], w["b2"]) if "K" in w else None
        arguments = (texts, self.vocabulary, w["W"], w["b"], self.activation, dense)
        embeddings = charagram_reference.embed(*arguments)
        mask = reference.candidate_mask(texts[:count], texts[count:])
        chosen = reference.choose_max(reference.cosine_matrix(embeddings), mask)
        sides = embeddings[:count], embeddings[count:], chosen[:count], chosen[count:]
        upstream = reference.margin_loss_gradient(*sides, self.margin)
        gradients = charagram_reference.embed_gradient(upstream, *arguments)
        counts = charagram_reference.count_matrix(texts, self.vocabulary)
        rows = None if self.dense_l2 else np.flatnonzero(counts.any(axis=0))
        for key in gradients:
            gradients[key] = gradients[key] + optimizer_reference.l2_gradient(
                w[key], self.l2, rows=rows if key == "W" else None
            )
        if self.clip_norm is not None:
            clipped = optimizer_reference.clip_by_global_norm([*gradients.values()], self.clip_norm)
            gradients = dict(zip(gradients, clipped, strict=True))
        for key, gradient in gradients.items():
            optimizer = self.optimizers[key]
            if type(optimizer).__name__.startswith("Lazy"):
                named = np.flatnonzero(counts.any(axis=0))
                w[key] = optimizer.step(w[key], named, gradient[named])
            else:
                w[key] = optimizer.step(w[key], gradient)
        return reference.margin_loss(*sides, self.margin)


FITTED = {
    "loss": {},
    "penalty": {"l2": 0.1},
    "dense penalty": {"l2": 0.1, "dense_l2": True},
    "norm": {"clip_norm": 0.05},
    "all": {"l2": 0.1, "clip_norm": 0.2, "num_layers": 2, "activation": "tanh"},
}


# A penalty and a norm are parts of the gradient, whatever the optimizer.
@pytest.mark.parametrize(
    ("name", "kind"),
    some_now(
        pairs := [*itertools.product(OPTIMIZERS, FITTED)],
        *(pair for pair in pairs if pair[0] == "adam" or pair[1] == "all"),
    ),
)
def test_fit_equals_numpy(name, kind):
    """Two epochs of three batches, so that rows are left alone and moments are old."""
    settings = {"margin": 0.4, "l2": 0.0, "dense_l2": False, "clip_norm": None} | FITTED[kind]
    shape = {key: settings.pop(key) for key in ("num_layers", "activation") if key in settings}
    setup = Setup(**shape)
    rng = np.random.default_rng(0)
    for weight in setup.model.encoder.weights:
        weight.assign(rng.normal(scale=0.5, size=weight.shape))
    expected = NumpyTraining(setup, name, 0.02, **settings)
    setup.compile(name, 0.02, **settings)
    for step in range(6):
        loss = expected.step(setup.texts_at(step))
        assert setup.fit(1, first_step=step) == pytest.approx(loss, rel=1e-4)
        encoder = setup.model.encoder
        found = {"W": encoder.sum.table, "b": encoder.bias}
        if encoder.dense is not None:
            found |= {"K": encoder.dense.kernel, "b2": encoder.dense.bias}
        assert found.keys() == expected.weights.keys()
        for key, weight in found.items():
            assert_allclose(weight, expected.weights[key], rtol=1e-3, atol=2e-5, err_msg=key)
    assert int(setup.model.step) == 6


def assert_stops_and_changes_nothing(setup):
    before = setup.variables()
    with pytest.raises(tf.errors.InvalidArgumentError, match="not finite"):
        setup.fit(1)
    for old, new in zip(before, setup.variables(), strict=True):
        assert_array_equal(old, new)
    assert int(setup.model.step) == 0


@pytest.mark.parametrize(
    ("which", "value"),
    some_now(
        weights := [("table", np.nan), ("table", np.inf), ("bias", -np.inf), ("kernel", np.nan)],
        *weights[1:3],
    ),
)
def test_weights_that_are_not_finite(which, value):
    setup = Setup(num_layers=2)
    encoder = setup.model.encoder
    weight = {
        "table": encoder.sum.table, "bias": encoder.bias, "kernel": encoder.dense.kernel
    }[which]  # fmt: skip
    setup.compile("adagrad", l2=0.1, clip_norm=1.0)
    weight.assign(np.full(weight.shape, value))
    assert_stops_and_changes_nothing(setup)


@pytest.mark.parametrize(
    ("name", "value"),
    some_now(rates := [*((name, np.nan) for name in OPTIMIZERS), ("adam", np.inf)], rates[0]),
)
def test_learning_rate_that_is_not_finite(name, value):
    setup = Setup()
    setup.compile(name)
    setup.model.optimizer.learning_rate = value
    assert_stops_and_changes_nothing(setup)


@pytest.mark.parametrize(
    ("name", "strategy"), some_now([("adam", "mix"), ("adagrad", "random")], ("adam", "mix"))
)
def test_same_seed_same_weights_to_the_bit(name, strategy):
    runs = []
    for _ in range(2):
        setup = Setup(num_layers=2, activation="tanh")
        sampler = NegativeSampler(strategy, seed=3)
        setup.compile(name, negatives=sampler, l2=1e-3, clip_norm=1.0)
        setup.fit(30)
        runs.append(setup.variables())
    for one, other in zip(*runs, strict=True):
        assert_same_training(one, other)


def test_fit_asks_for_huge_pages_of_the_table_and_its_moments(monkeypatch):
    asked = []
    monkeypatch.setattr(step_model, "use_huge_pages", asked.append)
    setup = Setup()
    optimizer = setup.compile().optimizer
    setup.fit(1)
    tables = optimizer.tables_of(setup.model.encoder.ngram_table.value)
    assert len(tables) == 3
    assert {id(table) for table in tables} <= {id(variable) for variable in asked}


def test_fit_before_compile():
    with pytest.raises(ValueError, match="compile"):
        Setup().fit(1)


@pytest.mark.parametrize(
    ("name", "strategy"), some_now([("adam", "max"), ("adagrad", "mix")], ("adam", "max"))
)
def test_the_loss_goes_down(name, strategy):
    setup = Setup()
    setup.compile(name, negatives=strategy)
    before = setup.model.evaluate(setup.batches(3), verbose=0)
    first = setup.fit(3)
    setup.fit(30, first_step=3)
    after = setup.model.evaluate(setup.batches(3), verbose=0)
    assert setup.fit(3, first_step=33) < 0.7 * first
    assert after < 0.7 * before


def test_evaluate_gives_the_mean_over_batches():
    setup = Setup()
    setup.compile()
    setup.fit(3)
    before = setup.variables()
    losses = [float(setup.model.loss_of(*batch, training=False)) for batch in setup.batches(3)]
    assert len({round(loss, 3) for loss in losses}) == 3
    for _ in range(2):
        found = setup.model.evaluate(setup.batches(3), verbose=0)
        assert found == pytest.approx(np.mean(losses), rel=1e-5)
    for old, new in zip(before, setup.variables(), strict=True):
        assert_array_equal(old, new)


def test_batches_without_ids_or_negatives_change_no_weight():
    """Texts that are empty, a batch of one pair, one text throughout: loss 0 and no gradient."""
    setup = Setup()
    setup.compile("adagrad")
    before = [weight.numpy() for weight in setup.model.encoder.weights]
    cases = (([""] * 4, [0, 1, 2, 3]), (["cat", "cats"], [0, 1]), (["cat"] * 4, [0] * 4))
    for texts, keys in cases:
        ids = setup.vectorizer(tf.constant(texts))
        batch = (ids, tf.constant(keys, tf.int32))
        if texts[0]:
            assert float(setup.model.loss_of(*batch, training=True)) == 0.0
        setup.model.fit(tf.data.Dataset.from_tensors(batch), verbose=0)
        for old, weight in zip(before, setup.model.encoder.weights, strict=True):
            assert_array_equal(old, weight)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pull_back": "no"}, "`pull_back` must be True or False. Received: pull_back='no'"),
        ({"l2_composition": 1e30}, "`l2_composition` must be in .* Received: .*=1e[+]30"),
        ({"clip_norm": 0.0}, "`clip_norm` must be above 0 and finite .* Received: clip_norm=0.0"),
    ],
)
def test_errors(settings, message):
    with pytest.raises(ConfigError, match=message):
        Setup().compile(**settings)


def test_optimizers_by_their_name():
    model = Setup().model
    model.compile("sgd")
    assert isinstance(model.optimizer, keras.optimizers.SGD)
