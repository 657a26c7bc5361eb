"""Training of word encoders: pulled back, frozen, with dropout, and resumed."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_array_equal

from tests.commands import assert_same_training
from tests.contracts import SPEC, ragged
from tests.variants import some_now
from tf_charagram.encoders import encoder_class
from tf_charagram.encoders.averaging import Projection
from tf_charagram.encoders.recurrent import Rnn
from tf_charagram.optimizers import LazyAdam
from tf_charagram.optimizers.registry import make_optimizer
from tf_charagram.tasks.paraphrase.model import ParaphraseModel

NUM_ROWS = 9
#: Texts by their word ids: of every batch the lefts, then the rights. Row 8 is in the last only.
BATCHES = [
    [[1, 2], [3], [4, 4, 5], [2, 1], [3, 6], [5]],
    [[6, 1], [0, 2], [7], [1], [2, 3], [7, 7]],
    [[5], [8, 3], [0], [5, 4], [3, 8], [1, 0]],
]


@functools.cache
def train_step(model):
    """Returns the traced step of a model."""
    signature = [SPEC, tf.TensorSpec([None], tf.int32)]
    return tf.function(lambda *batch: model.train_step(batch), input_signature=signature)


def train(model, num_steps, first_step=0):
    """Returns the losses before each step."""
    losses = []
    for step in range(first_step, first_step + num_steps):
        rows = BATCHES[step % len(BATCHES)]
        model.loss_tracker.reset_state()
        losses.append(float(train_step(model)(ragged(rows), tf.range(len(rows)))["loss"]))
    return losses


def make(name, dim=6, seed=0, *, optimizer="adam", freeze=False, dropout=0.0, **settings):
    """Returns a compiled model."""
    encoder = encoder_class(name)(num_rows=NUM_ROWS, dim=dim, seed=seed, dropout=dropout)
    encoder.table.trainable = not freeze
    model = ParaphraseModel(encoder)
    model.compile(make_optimizer(optimizer, 0.05), **settings)
    return model


def state(model):
    """Returns the variables in a checkpoint."""
    held = [*model.encoder.variables, *model.optimizer.variables]
    return [*(variable.value for variable in held), *model.state]


def results(model):
    """Returns the same without seeds: some layers have a random one, which they never use."""
    return [*model.encoder.weights, *model.optimizer.variables, *model.state]


@pytest.mark.long
@pytest.mark.parametrize("name", some_now(["dan", "identity_rnn", "cse"], "identity_rnn"))
def test_goes_on_as_if_never_stopped(name):
    """A checkpoint is enough: the second model starts from other word vectors."""
    settings = {"dropout": 0.3, "l2_words": 0.1, "l2_composition": 0.1, "negatives": "mix"}
    whole = make(name, **settings)
    initial = whole.encoder.word_table.numpy()
    train(whole, 6)
    first = make(name, **settings)
    train(first, 3)
    second = make(name, seed=1, **settings)
    for old, new in zip(state(first), state(second), strict=True):
        new.assign(old)
    assert_array_equal(second.penalties.initial_words, initial)
    train(second, 3, first_step=3)
    for one, other in zip(results(whole), results(second), strict=True):
        assert_same_training(one, other)


def test_state():
    """Nothing is kept that no penalty needs."""
    assert [variable.name for variable in make("dan", l2=0.1).state] == ["step:0"]
    names = [variable.name for variable in make("dan", l2_words=0.1).state]
    assert names == ["step:0", "initial_words:0"]
    assert len(ParaphraseModel(Projection(num_rows=2, dim=2)).state) == 1


@pytest.mark.parametrize(
    "name",
    some_now(["projection", "dan", "rnn", "identity_rnn", "lstm", "cse", "gran"], "dan", "gran"),
)
def test_frozen_words(name):
    """Their bits stay, all else is trained, and the optimizer has no room for them."""
    model = make(name, freeze=True, l2=1e-3, l2_composition=1e-3, clip_norm=1.0)
    encoder = model.encoder
    encoder.word_table.assign(np.random.default_rng(0).normal(size=encoder.word_table.shape))
    table = encoder.word_table.numpy()
    others = {weight.path: weight.numpy() for weight in encoder.trainable_variables}
    losses = train(model, 30)
    assert_array_equal(encoder.word_table, table)
    for weight in encoder.trainable_variables:
        assert (weight.numpy() != others[weight.path]).any(), weight.path
    assert (NUM_ROWS, 6) not in [variable.shape for variable in model.optimizer.variables]
    assert np.mean(losses[-3:]) < np.mean(losses[:3])


def test_a_gradient_that_overflows_changes_no_weight():
    """The loss and the gradients of the vectors are finite, those of the weights are not."""
    random = np.random.default_rng(0)
    encoder = Rnn(num_rows=50, dim=30, activation="tanh")
    for weight in encoder.weights:
        if len(weight.shape) == 2 and weight is not encoder.word_table:
            weight.assign(random.normal(0.0, 2.0, weight.shape))
    ids = tf.ragged.constant([random.integers(1, 50, 400).tolist() for _ in range(8)], tf.int32)
    model = ParaphraseModel(encoder)
    model.compile(LazyAdam(0.001))
    before = [weight.numpy() for weight in encoder.weights]
    batch = tf.data.Dataset.from_tensors((ids, tf.range(8, dtype=tf.int64)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not finite"):
        model.fit(batch, verbose=0)
    for weight, old in zip(encoder.weights, before, strict=True):
        np.testing.assert_array_equal(weight, old)
