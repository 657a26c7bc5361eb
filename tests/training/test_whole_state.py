"""Training with a cut table: the weights of the whole one, and the same checkpoints."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.contracts import ragged, some_now
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.layers.cut_table import CutTable
from tf_charagram.layers.embedding_table import tables_in
from tf_charagram.optimizers import OPTIMIZERS, make_optimizer
from tf_charagram.tasks.paraphrase.model import ParaphraseModel
from tf_charagram.training.checkpoints import Checkpoints
from tf_charagram.training.whole_state import slots_of

NUM_ROWS, NUM_STEPS = 23, 20
SETTINGS = {
    "plain": {},
    "touched": {"l2": 0.01, "clip_norm": 0.5},
    "dense": {"l2": 0.01, "dense_l2": True, "clip_norm": 0.5},
    "pulled": {"l2_composition": 0.05, "pull_back": True},
}


def batches(seed=0):
    """Returns batches of the ids of 8 texts, some empty, and most of them without some rows."""
    random = np.random.default_rng(seed)
    return [
        (
            ragged([random.integers(NUM_ROWS, size=random.integers(4)).tolist() for _ in range(8)]),
            tf.range(8, dtype=tf.int64),
        )
        for _ in range(NUM_STEPS)
    ]


def make(num_parts, optimizer="adam", **settings):
    """Returns a compiled model whose table is in parts, or whole if there is only one."""
    encoder = Charagram(num_rows=NUM_ROWS, dim=4, num_layers=2, activation="tanh", seed=1)
    if num_parts > 1:
        CutTable(encoder.sum, ["CPU:0"] * num_parts)
    model = ParaphraseModel(encoder)
    model.compile(make_optimizer(optimizer, 0.05), **settings)
    return model


def train(model, steps=slice(None)):
    step = tf.function(lambda ids, keys: model.train_step((ids, keys)))
    for batch in batches()[steps]:
        step(*batch)
    model.assemble()
    return model


def state(model):
    with model.assembled_state():
        return [variable.numpy() for variable in model.checkpoint_variables]


@pytest.mark.parametrize(
    ("optimizer", "settings"),
    some_now(
        [*itertools.product(OPTIMIZERS, SETTINGS)],
        ("adam", "dense"), ("adagrad", "touched"), ("sgd", "pulled"),
    ),
)  # fmt: skip
def test_weights_and_moments_are_those_of_the_whole_table(optimizer, settings):
    whole = train(make(1, optimizer, **SETTINGS[settings]))
    expected = state(whole)
    start = Charagram(num_rows=NUM_ROWS, dim=4, seed=1).ngram_table
    assert np.abs(whole.encoder.ngram_table - start).max() > 0.05
    for num_parts in (2, 3):
        found = state(train(make(num_parts, optimizer, **SETTINGS[settings])))
        assert [array.shape for array in found] == [array.shape for array in expected]
        for array, other in zip(found, expected, strict=True):
            assert_allclose(array, other, rtol=1e-4, atol=1e-5)


def test_pools():
    models = [make(num_parts, batch_size=2) for num_parts in (1, 2)]
    whole, cut = (train(model).encoder.ngram_table.numpy() for model in models)
    assert_allclose(cut, whole, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("optimizer", "before", "after"),
    some_now(
        [*itertools.product(OPTIMIZERS, (1, 2, 3), (1, 2, 3))],
        ("adam", 1, 3), ("adagrad", 3, 2),
    ),
)  # fmt: skip
def test_a_checkpoint_goes_on_with_any_number_of_parts(optimizer, before, after, tmp_path):
    settings = {"l2_composition": 0.05, "pull_back": True}
    saved = train(make(before, optimizer, **settings), slice(10))
    expected = state(saved)
    with saved.assembled_state():
        Checkpoints(tmp_path, saved.checkpoint_variables).save(10)
    model = make(after, optimizer, **settings)
    model.encoder.ngram_table.assign(np.zeros((NUM_ROWS, 4)))
    assert Checkpoints(tmp_path, model.checkpoint_variables).restore_latest()
    model.take_over_state()
    for array, other in zip(state(model), expected, strict=True):
        assert_array_equal(array, other)
    ends = [state(train(one, slice(10, None))) for one in (saved, model)]
    for array, other in zip(*ends, strict=True):
        assert_allclose(array, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("optimizer", "before", "after"),
    some_now([*itertools.product(OPTIMIZERS, (1, 2, 3), (1, 2, 3))], ("adam", 2, 2)),
)
def test_a_checkpoint_in_bfloat16(optimizer, before, after, tmp_path):
    """It is taken over to the bit, and goes on so with the same number of parts."""
    settings = {"l2_composition": 0.05, "pull_back": True}
    with tables_in("bfloat16"):
        saved, model = (make(number, optimizer, **settings) for number in (before, after))
    train(saved, slice(10))
    with saved.assembled_state():
        large = [v for v in saved.checkpoint_variables if tuple(tf.shape(v)) == (NUM_ROWS, 4)]
        assert len(large) > 2 and {v.dtype for v in large} == {tf.bfloat16}
        Checkpoints(tmp_path, saved.checkpoint_variables).save(10)
    expected = state(saved)
    assert Checkpoints(tmp_path, model.checkpoint_variables).restore_latest()
    model.take_over_state()
    for array, other in zip(state(model), expected, strict=True):
        assert_array_equal(array, other)
    if before == after:
        ends = [state(train(one, slice(10, None))) for one in (saved, model)]
        for array, other in zip(*ends, strict=True):
            assert_array_equal(array, other)


def test_what_is_whole_takes_no_memory_between_checkpoints():
    model = make(2)
    whole = [v for v in model.checkpoint_variables if v.shape.rank == 2 and v.shape[0] is None]
    assert len(whole) == 2
    with model.assembled_state():
        assert [tf.shape(v).numpy().tolist() for v in whole] == [[NUM_ROWS, 4]] * 2
    assert [tf.shape(v).numpy().tolist() for v in whole] == [[0, 4]] * 2


@pytest.mark.parametrize(
    ("name", "options", "number"),
    [("adam", {}, 2), ("adagrad", {}, 1), ("sgd", {}, 1), ("sgd", {"momentum": 0.0}, 0)],
)
def test_moments_of_parts(name, options, number):
    encoder = Charagram(num_rows=NUM_ROWS, dim=4)
    cut = CutTable(encoder.sum, ["CPU:0"] * 2)
    model = ParaphraseModel(encoder)
    model.compile(make_optimizer(name, 0.1, **options))
    kinds = slots_of(model.optimizer, cut.parts)
    assert len(kinds) == number
    for kind in kinds:
        assert [slot.shape for slot in kind] == [part.shape for part in cut.parts]


def test_an_empty_batch_changes_no_row():
    model = train(make(2), slice(5))
    before = model.encoder.ngram_table.numpy()
    model.train_step((ragged([[], [], [], []]), tf.range(4, dtype=tf.int64)))
    model.assemble()
    assert_array_equal(model.encoder.ngram_table, before)
