"""Tables in bfloat16: updated in float32 and rounded, by the row-sparse optimizers."""

from __future__ import annotations

import functools

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_array_equal

from tests.optimizers.test_lazy import every_row, slices
from tests.reference.rounding import neighbours
from tf_charagram.optimizers import make_optimizer, row_sparse

SHAPE = (6, 3)
optimizers = pytest.mark.parametrize("name", ["adam", "adagrad"])


def built(name, values, dtype, rate=0.1, **options):
    optimizer = make_optimizer(name, rate, **options)
    table = keras.Variable(tf.cast(values, dtype), dtype=dtype)
    optimizer.build([table])
    return optimizer, table


def moments(optimizer):
    """Returns the variables that are as large as the table."""
    return [variable for variable in optimizer.variables if tuple(variable.shape) == SHAPE]


def numbers(variables):
    return [tf.cast(variable.value, tf.float32).numpy() for variable in variables]


@optimizers
@pytest.mark.parametrize("kind", ["sparse", "dense"])
@pytest.mark.parametrize("in_graph", [False, True])
def test_a_step_goes_to_a_neighbour_of_that_in_float32(name, kind, in_graph, monkeypatch):
    """Also in blocks of 4 rows; the moments are rounded, too."""
    monkeypatch.setattr(row_sparse, "_BLOCK_ROWS", 4)
    rng = np.random.default_rng(0)
    start = tf.cast(tf.cast(rng.normal(size=SHAPE), tf.bfloat16), tf.float32)
    gradient = slices(*every_row(rng, False))
    gradient = gradient if kind == "sparse" else tf.convert_to_tensor(gradient)
    states = []
    for dtype in ("float32", "bfloat16"):
        optimizer, table = built(name, start, dtype)
        step = functools.partial(optimizer.apply, [gradient], [table])
        (tf.function(step) if in_graph else step)()
        held = [table, *moments(optimizer)]
        assert [variable.dtype for variable in held] == [dtype] * (3 if name == "adam" else 2)
        states.append(numbers(held))
    for expected, found in zip(*states, strict=True):
        ends = np.vectorize(neighbours)(expected)
        # The last bit of float32 may differ between kernels.
        assert (np.abs(found - expected) <= np.abs(ends[1] - ends[0]) * 1.01).all()
    assert (states[1][0] != start.numpy()).all()


@optimizers
def test_updates_far_below_the_distance_of_numbers_count(name):
    """1 moves by 2^-12 at each of 300 steps, where the next numbers are 2^-8 and 2^-7 away."""
    start, rate = np.ones((6, 200)), 2.0**-12
    options = {}
    if name == "adagrad":
        options = {"initial_accumulator_value": 1e6}
        rate *= 1e3
    optimizer, table = built(name, start, "bfloat16", rate, **options)
    gradient = slices([1, 4, 2, 5], np.ones((4, 200)))
    step = tf.function(lambda: optimizer.apply([gradient], [table]))
    # Rows 0 and 3 are not named.
    for _ in range(300):
        step()
    moved = 1 - tf.cast(table.value, tf.float32).numpy()
    expected = 300 * 2.0**-12
    assert moved[[1, 2, 4, 5]].mean() == pytest.approx(expected, rel=0.1)
    assert (tf.cast(table.value, tf.float32).numpy()[[0, 3]] == 1).all()


@optimizers
def test_untouched_rows_stay_to_the_bit(name):
    rng = np.random.default_rng(0)
    optimizer, table = built(name, rng.normal(size=SHAPE), "bfloat16")
    optimizer.apply([slices(*every_row(rng, True))], [table])
    held = [table, *moments(optimizer)]
    before = numbers(held)
    optimizer.apply([slices([1, 4, 1], rng.normal(size=(3, 3)))], [table])
    for old, new in zip(before, numbers(held), strict=True):
        assert_array_equal(new[[0, 2, 3, 5]], old[[0, 2, 3, 5]])
        assert (new[[1, 4]] != old[[1, 4]]).any()


@optimizers
def test_blocks_and_order_change_nothing(name, monkeypatch):
    """Draws belong to rows: a dense gradient in blocks, and a sparse one in any order, agree."""
    found = []
    for block_rows, order in ((2, None), (4096, None), (3, [3, 0, 5, 1, 4, 2])):
        monkeypatch.setattr(row_sparse, "_BLOCK_ROWS", block_rows)
        rng = np.random.default_rng(0)
        optimizer, table = built(name, rng.normal(size=SHAPE), "bfloat16", rounding_seed=7)
        for _ in range(3):
            gradient = rng.normal(size=SHAPE)
            gradient = gradient if order is None else slices(order, gradient[order])
            optimizer.apply([tf.cast(gradient, tf.float32)], [table])
        found.append(numbers([table, *moments(optimizer)]))
    for first, *others in zip(*found, strict=True):
        for other in others:
            assert_array_equal(other, first)


@optimizers
def test_another_seed_rounds_differently(name):
    found = []
    for seed in (0, 1):
        optimizer, table = built(name, np.ones((6, 30)), "bfloat16", rounding_seed=seed)
        assert optimizer.get_config()["rounding_seed"] == seed
        optimizer.apply([slices([2, 3], np.full((2, 30), 0.3))], [table])
        found.append(tf.cast(table.value, tf.float32).numpy())
    assert (found[0] != found[1]).any()


@optimizers
def test_each_table_is_rounded_by_draws_of_its_own(name):
    """Two tables that are equal, with equal gradients, are not afterwards."""
    optimizer = make_optimizer(name, 0.1)
    tables = [keras.Variable(tf.ones([6, 30]), dtype="bfloat16") for _ in range(2)]
    optimizer.build(tables)
    gradient = slices([2, 3], np.full((2, 30), 0.3))
    optimizer.apply([gradient, gradient], tables)
    first, second = numbers(tables)
    assert (first != second).any()
