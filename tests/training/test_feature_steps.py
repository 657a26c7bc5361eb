"""Steps on vectors in memory are those that `fit` takes on the same batches."""

from __future__ import annotations

from functools import partial

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.commands import assert_same_training
from tests.variants import some_now
from tf_charagram.optimizers.registry import OPTIMIZERS, make_optimizer
from tf_charagram.tasks.labels._heads.heads import PairLabelHead, PairScoreHead, TextHead
from tf_charagram.training._loop.steps import FeatureSteps, choose_steps, run_watched
from tf_charagram.training._loop.stream import ExampleStream
from tf_charagram.training.supervised_model import SupervisedModel

DIM, NUM_TEXTS, NUM_EXAMPLES, BATCH_SIZE = 6, 9, 23, 5
STEPS_PER_EPOCH = 5
HEADS = {
    "scores": lambda: PairScoreHead(dim=DIM, num_classes=3, hidden_dim=4),
    "labels": lambda: PairLabelHead(dim=DIM, labels=("a", "b"), hidden_dim=4),
    "texts": lambda: TextHead(dim=DIM, labels=("a", "b", "c"), hidden_dim=4),
}


def examples(head, bad=()):
    """Returns the function that makes batches; the vectors of some texts are not finite."""
    random = np.random.default_rng(1)
    vectors = random.normal(size=(NUM_TEXTS, DIM)).astype(np.float32)
    vectors[list(bad)] = np.nan
    rows = random.integers(0, NUM_TEXTS, (1 if head == "texts" else 2, NUM_EXAMPLES))
    scores = random.uniform(1, 3, NUM_EXAMPLES).astype(np.float32)
    targets = tf.constant(scores if head == "scores" else scores.astype(np.int64) - 1)
    vectors, rows = tf.constant(vectors), tf.constant(rows)

    def batch(chosen):
        texts = tf.reshape(tf.gather(rows, chosen, axis=1), [-1])
        return tf.gather(vectors, texts), tf.gather(targets, chosen)

    return batch


def make(head="scores", optimizer="adam", bad=(), *, steps_per_execution=2, is_plain=False):
    """Returns a model, its stream, and how a segment runs: by `fit` if it is plain."""
    batch = examples(head, bad)
    model = SupervisedModel(None, HEADS[head]())
    weights = [1.0, 2.0, 0.5][: len(model.head.labels)] if head != "scores" else None
    model.compile(
        make_optimizer(optimizer, 0.05), class_weights=weights, l2_head=1e-3, clip_norm=1.0,
        steps_per_execution=steps_per_execution,
    )  # fmt: skip
    stream = ExampleStream(NUM_EXAMPLES, batch, batch_size=BATCH_SIZE, unit="pairs", seed=4)
    if is_plain:
        return model, stream, choose_steps(model, stream)
    return model, stream, partial(run_watched, model, FeatureSteps(model, stream, batch).run)


def train(model, stream, run_segment, num_steps, callbacks=()):
    """Trains on; returns the mean loss of the last epoch."""
    for segment in stream.segments(int(model.step), num_steps):
        run_segment(segment, callbacks)
    return float(model.loss_tracker.result())


def state_of(model):
    return [np.array(variable) for variable in [*model.head.weights, *model.optimizer.variables]]


# A head does not depend on the optimizer.
@pytest.mark.parametrize(
    ("head", "optimizer"),
    sorted({(head, "adam") for head in HEADS} | {("scores", name) for name in OPTIMIZERS}),
)
def test_as_fit(head, optimizer):
    losses, states = [], []
    for is_plain in (True, False):
        model, *rest = make(head, optimizer, is_plain=is_plain)
        losses.append(train(model, *rest, 2 * STEPS_PER_EPOCH))
        states.append(state_of(model))
    assert_same_training(losses[1], losses[0])
    for plain, found in zip(*states, strict=True):
        assert_same_training(found, plain)


@pytest.mark.parametrize("steps_per_execution", some_now([1, 3, 50], 3))
def test_any_step_can_be_the_last(steps_per_execution):
    whole, *rest = make()
    train(whole, *rest, 2 * STEPS_PER_EPOCH)
    parts, *rest = make(steps_per_execution=steps_per_execution)
    for num_steps in (3, 1, 4, 2):
        train(parts, *rest, num_steps)
    for one, other in zip(state_of(whole), state_of(parts), strict=True):
        assert_same_training(one, other)
    assert int(parts.step) == int(whole.step) == 2 * STEPS_PER_EPOCH


def test_stops_before_a_loss_that_is_not_finite():
    """The weights are those before the step, and the steps before it have been counted."""
    model, stream, run_segment = make(bad=[2])
    (order,) = stream.orders(next(stream.segments(0, STEPS_PER_EPOCH)), STEPS_PER_EPOCH)
    steps = np.split(order, range(BATCH_SIZE, NUM_EXAMPLES, BATCH_SIZE))
    vectors = [examples("scores", [2])(tf.constant(step))[0] for step in steps]
    num_good = next(i for i, batch in enumerate(vectors) if np.isnan(batch).any())
    expected, *rest = make(bad=[2])
    train(expected, *rest, num_good)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not finite"):
        train(model, stream, run_segment, STEPS_PER_EPOCH)
    assert int(model.step) == num_good
    for one, other in zip(model.head.weights, expected.head.weights, strict=True):
        assert_same_training(one, other)


def test_callbacks_are_told_and_can_stop():
    told = []

    class Watch(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            told.append("begin")

        def on_train_batch_end(self, batch, logs=None):
            told.append((batch, int(self.model.step), round(float(logs["loss"]), 6)))
            self.model.stop_training = batch == 1

        def on_train_end(self, logs=None):
            told.append("end")

    model, *rest = make()
    train(model, *rest, STEPS_PER_EPOCH, [Watch()])
    loss = round(float(model.loss_tracker.result()), 6)
    assert told == ["begin", (0, 2, told[1][2]), (1, 4, loss), "end"]
