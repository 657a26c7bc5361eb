"""Supervised training steps against NumPy, and what `fit` promises."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.contracts import ragged
from tests.reference import supervised as reference
from tests.reference import words as words_reference
from tests.variants import some_now
from tf_charagram.encoders.averaging import WordAverage
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.encoders.cse import Cse
from tf_charagram.optimizers.registry import make_optimizer
from tf_charagram.tasks.labels._heads.heads import PairLabelHead, PairScoreHead, TextHead
from tf_charagram.training.supervised_model import SupervisedModel

NUM_ROWS, DIM = 6, 4
#: Six texts: of three pairs, or single ones. One has no ids, one repeats an id.
ROWS = [[1, 2, 3], [4], [], [2, 2, 5, 2, 1], [0, 3], [1, 2]]
SCORES, PAIR_LABELS, TEXT_LABELS = [4.7, 1.0, 2.5], [2, 0, 2], [1, 0, 0, 1, 1, 0]
CLASS_WEIGHTS = [1.0, 0.5, 4.0]
RATE = 0.3


def charagram(ids, p):
    """The sum of the rows, and a bias."""
    return p["W"][list(ids)].sum(axis=0) + p["b"]


#: Encoder, names of its weights in the reference, the reference.
ENCODERS = {
    "charagram": (Charagram, lambda e: {"W": e.sum.table, "b": e.bias}, charagram),
    "word_average": (
        WordAverage, lambda e: {"W": e.word_table}, words_reference.word_average,
    ),
    "cse": (
        lambda **settings: Cse(widths=(1, 2), activation="tanh", **settings),
        lambda e: {"W": e.word_table} | {
            f"{name}{width}": weight
            for width, conv in zip(e.widths, e.filters.convolutions, strict=True)
            for name, weight in (("K", conv.kernel), ("b", conv.bias))
        },
        words_reference.cse("tanh", (1, 2)),
    ),
}  # fmt: skip


def outputs_of_pairs(vectors, p):
    half = len(vectors) // 2
    pairs = zip(vectors[:half], vectors[half:], strict=True)
    return [reference.pair_output(left, right, p) for left, right in pairs]


def outputs_of_texts(vectors, p):
    return [reference.text_output(vector, p) for vector in vectors]


#: Head, its outputs in the reference, the loss in the reference, targets, settings.
TASKS = {
    "similarity": (
        lambda: PairScoreHead(dim=DIM, num_classes=5, hidden_dim=3),
        outputs_of_pairs, reference.kl_loss, SCORES, {},
    ),
    "entailment": (
        lambda: PairLabelHead(dim=DIM, labels=["no", "maybe", "yes"], hidden_dim=3),
        outputs_of_pairs,
        lambda outputs, labels: reference.label_loss(outputs, labels, CLASS_WEIGHTS),
        PAIR_LABELS, {"class_weights": CLASS_WEIGHTS},
    ),
    "sentiment": (
        lambda: TextHead(dim=DIM, labels=["bad", "good"], hidden_dim=3),
        outputs_of_texts, reference.label_loss, TEXT_LABELS, {},
    ),
}  # fmt: skip
HEAD_NAMES = {
    "W*": "product_kernel", "W+": "distance_kernel", "W": "vector_kernel", "b": "bias",
    "Wp": "output_kernel", "bp": "output_bias",
}  # fmt: skip


class Setup:
    """A model with random weights, and the same loss in NumPy.

    `weights` and `parameters` have names such as "encoder W" and "head Wp".
    """

    def __init__(self, encoder="charagram", task="similarity", frozen=False, seed=0):
        make, names, self.encode = ENCODERS[encoder]
        make_head, self.outputs, self.reference_loss, targets, self.settings = TASKS[task]
        self.encoder, self.head = make(num_rows=NUM_ROWS, dim=DIM), make_head()
        of_head = {weight.name: weight for weight in self.head.trainable_variables}
        self.weights = {f"encoder {name}": weight for name, weight in names(self.encoder).items()}
        self.weights |= {
            f"head {name}": of_head[own] for name, own in HEAD_NAMES.items() if own in of_head
        }
        rng = np.random.default_rng(seed)
        for weight in self.weights.values():
            weight.assign(rng.normal(scale=0.6, size=weight.shape))
        self.frozen = frozen
        self.model = SupervisedModel(None if frozen else self.encoder, self.head)
        self.targets = targets
        self.inputs = self.encoder(ragged(ROWS)) if frozen else ragged(ROWS)

    @property
    def batch(self):
        dtype = tf.float32 if isinstance(self.targets[0], float) else tf.int32
        return self.inputs, tf.constant(self.targets, dtype)

    def parameters(self):
        return {name: weight.numpy().astype(float) for name, weight in self.weights.items()}

    def expected_loss(self, parameters):
        parts = {"encoder": {}, "head": {}}
        for name, value in parameters.items():
            part, own = name.split()
            parts[part][own] = value
        vectors = words_reference.embed(self.encode, ROWS, parts["encoder"])
        return self.reference_loss(self.outputs(vectors, parts["head"]), self.targets)

    def compile(self, optimizer=None, **settings):
        optimizer = optimizer or keras.optimizers.SGD(RATE)
        self.model.compile(optimizer, **{**self.settings, **settings})

    def fit(self, num_steps=1):
        data = tf.data.Dataset.from_tensors(self.batch).repeat(num_steps)
        return self.model.fit(data, verbose=0).history["loss"][-1]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_loss_and_gradients_equal_numpy(encoder, task):
    setup = Setup(encoder, task)
    setup.compile()
    parameters = setup.parameters()
    expected = reference.gradients(setup.expected_loss, parameters)
    for training in (False, True):
        with tf.GradientTape() as tape:
            loss = setup.model.loss_of(*setup.batch, training=training)
        assert float(loss) == pytest.approx(setup.expected_loss(parameters), rel=1e-5)
        found = tape.gradient(loss, {name: w.value for name, w in setup.weights.items()})
        assert found.keys() == expected.keys()
        for name, gradient in found.items():
            gradient = tf.convert_to_tensor(gradient)
            assert np.any(gradient), name
            assert_allclose(gradient, expected[name], rtol=2e-3, atol=1e-5, err_msg=name)


def strengths(name, settings):
    """Returns lambda of a weight, and whether it is pulled to its value at the beginning."""
    own = {"encoder W": "l2_words"}.get(name, "l2_composition")
    if name.startswith("head"):
        own = "l2_head"
    is_pulled = own == "l2_words" or (own == "l2_composition" and settings.get("pull_back"))
    return settings.get("l2", 0.0), settings.get(own, 0.0), is_pulled


@pytest.mark.parametrize(
    ("encoder", "task", "settings"),
    [
        ("word_average", "similarity", {"l2_words": 0.3, "l2_head": 0.1}),
        ("cse", "entailment", {"l2_words": 0.3, "l2_composition": 0.2, "l2_head": 0.1}),
        ("cse", "sentiment", {"l2_composition": 0.2, "pull_back": True}),
        pytest.param("cse", "similarity", {"l2": 0.2}, marks=pytest.mark.variant),
    ],
    ids=str,
)
def test_fit_equals_numpy(encoder, task, settings):
    """Three steps of gradient descent; at the first, a pull to the beginning has no effect."""
    setup = Setup(encoder, task)
    start = expected = setup.parameters()
    setup.compile(**settings, dense_l2=True)
    for _ in range(3):
        assert setup.fit() == pytest.approx(setup.expected_loss(expected), rel=1e-4)
        gradients = reference.gradients(setup.expected_loss, expected)
        for name, value in expected.items():
            l2, own, is_pulled = strengths(name, settings)
            gradients[name] += l2 * value + own * (value - (start[name] if is_pulled else 0.0))
        expected = {name: value - RATE * gradients[name] for name, value in expected.items()}
        for name, weight in setup.weights.items():
            assert_allclose(weight, expected[name], rtol=1e-3, atol=1e-5, err_msg=name)
    assert int(setup.model.step) == 3


@pytest.mark.parametrize("task", TASKS)
def test_frozen_features_train_the_head_as_it_would_be_trained(task):
    """The encoder stays as it is, to the bit; the head gets the gradients it always does."""
    setup = Setup("cse", task, frozen=True)
    expected = setup.parameters()
    before = [weight.numpy() for weight in setup.encoder.weights]
    setup.compile(l2_head=0.1)
    for _ in range(2):
        assert setup.fit() == pytest.approx(setup.expected_loss(expected), rel=1e-4)
        gradients = reference.gradients(setup.expected_loss, expected)
        for name, value in expected.items():
            if name.startswith("head"):
                expected[name] = value - RATE * (gradients[name] + 0.1 * value)
    for name, weight in setup.weights.items():
        assert_allclose(weight, expected[name], rtol=1e-3, atol=1e-5, err_msg=name)
    for old, weight in zip(before, setup.encoder.weights, strict=True):
        assert_array_equal(old, weight)
    assert setup.model.trained_variables == setup.head.trainable_variables


@pytest.mark.parametrize("encoder", ["charagram", "cse"])
def test_other_pairs_of_the_batch_change_nothing(encoder):
    """Also long ones, which make others padded: the loss of a batch is the mean of its pairs'."""
    setup = Setup(encoder, "similarity")
    setup.compile()
    rows = [*ROWS[:3], [1] * 30, *ROWS[3:], []]
    scores = tf.constant([*SCORES, 3.25])
    together = setup.model.loss_of(ragged(rows), scores, training=True)
    alone = [
        setup.model.loss_of(ragged([rows[i], rows[i + 4]]), scores[i : i + 1], training=True)
        for i in range(4)
    ]
    assert_allclose(together, np.mean(alone), rtol=1e-5)


def test_adapt_takes_ids_and_vectors():
    one, other = Setup("charagram"), Setup("charagram", frozen=True)
    size = np.sqrt(np.mean(np.square(one.encoder(ragged(ROWS)))))
    for setup in (one, other):
        setup.model.adapt(setup.inputs)
        assert_allclose(setup.head.scale, size, rtol=1e-5)
        setup.compile()
        setup.fit()
        assert_allclose(setup.head.scale, size, rtol=1e-5)
        values = [variable.ref() for variable in setup.model.checkpoint_variables]
        assert setup.head.scale.value.ref() in values


def test_adapt_outside_of_the_replicas_of_several_gpus(monkeypatch):
    monkeypatch.setattr(SupervisedModel, "shares_batches", True)
    with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
        setup = Setup("charagram")
        setup.model.adapt(setup.inputs)
    size = np.sqrt(np.mean(np.square(setup.encoder(ragged(ROWS)))))
    assert_allclose(setup.head.scale, size, rtol=1e-5)


@pytest.mark.parametrize("task", some_now(TASKS, "entailment"))
def test_an_empty_batch_changes_nothing(task):
    setup = Setup("charagram", task)
    setup.compile()
    before = setup.parameters()
    targets = setup.batch[1][:0]
    setup.model.fit(tf.data.Dataset.from_tensors((ragged([]), targets)), verbose=0)
    for name, weight in setup.weights.items():
        assert_array_equal(weight, before[name].astype(np.float32), err_msg=name)


@pytest.mark.parametrize(
    ("name", "value", "frozen"),
    [
        pytest.param("encoder W", "nan", False, marks=pytest.mark.variant),
        ("encoder W", "1e30", False),
        pytest.param("head Wp", "inf", False, marks=pytest.mark.variant),
        ("head W+", "nan", True),
    ],
)
def test_what_is_not_finite_stops_and_changes_nothing(name, value, frozen):
    """1e30 is finite, but its square is not: then the loss is, and a gradient is not."""
    setup = Setup("charagram", frozen=frozen)
    setup.compile(make_optimizer("adam", 0.1), clip_norm=1.0, l2_head=0.1)
    setup.weights[name].assign(np.full(setup.weights[name].shape, float(value)))
    if frozen:
        setup.inputs = setup.encoder(ragged(ROWS))
    variables = [*setup.weights.values(), *setup.model.optimizer.variables, setup.model.step]
    before = [variable.numpy() for variable in variables]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not finite"):
        setup.fit()
    for old, variable in zip(before, variables, strict=True):
        assert_array_equal(old, variable)
