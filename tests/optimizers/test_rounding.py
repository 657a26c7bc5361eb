"""Stochastic rounding to bfloat16: to the bit, without bias, to a neighbour only."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_array_equal

from tests.reference import rounding as reference
from tf_charagram.optimizers.row_sparse import stochastic_round

LARGEST = float(tf.bfloat16.max)
SPECIAL = [0.0, -0.0, 1.5, -2.0, LARGEST, -LARGEST, np.inf, -np.inf, np.nan, 2.0**-133, 2.0**-126]


def rounded(values, rows=None, step=0, **options):
    values = np.asarray(values, np.float32)
    rows = np.arange(len(values)) if rows is None else rows
    result = stochastic_round(
        tf.constant(values), tf.constant(rows, tf.int32), tf.constant(step, tf.int64), **options
    )
    assert result.dtype == tf.bfloat16
    return result.numpy().astype(np.float32)


def some_values(seed, shape=(7, 5)):
    """Returns numbers of all sizes and both signs, subnormal ones among them."""
    rng = np.random.default_rng(seed)
    return (rng.normal(size=shape) * 10.0 ** rng.integers(-41, 38, size=shape)).astype(np.float32)


@pytest.mark.parametrize("seed", range(5))
def test_equals_the_reference(seed):
    rows = np.random.default_rng(seed).integers(0, 2**31, size=7)
    arguments = some_values(seed), rows, 10**seed
    options = {"seed": seed * 1000, "salt": seed}
    expected = reference.stochastic_round(*arguments, **options)
    assert_array_equal(rounded(*arguments, **options), expected)


@pytest.mark.parametrize("step", [0, 1, 2**40])
def test_what_bfloat16_has_stays(step):
    found = rounded([SPECIAL] * 9, step=step)
    assert_array_equal(found, np.array([SPECIAL] * 9, np.float32))
    assert_array_equal(np.signbit(found[:, :2]), [[False, True]] * 9)


def test_goes_to_a_neighbour():
    """Of the largest float32, and of the smallest: infinity and zero are among them."""
    ends = [[3.4028235e38, -3.4028235e38, 1.4e-45, -1.4e-45, 1e-40]]
    values = np.concatenate([some_values(seed) for seed in range(20)] + [ends] * 20)
    inner, outer = np.vectorize(reference.neighbours)(values.astype(np.float32))
    found = rounded(values)
    assert ((found == inner.astype(np.float32)) | (found == outer.astype(np.float32))).all()


@pytest.mark.parametrize("by_step", [False, True], ids=["rows", "steps"])
def test_has_no_bias(by_step):
    """Over 4,000 rows, or steps, 60 numbers between 1 and its neighbour go up as they should."""
    values = (1 + np.random.default_rng(0).integers(1, 2**16, size=60) / 2**23).astype("f4")
    if by_step:
        ups = [rounded([values] * 40, step=n) > values for n in range(100)]
    else:
        ups = [rounded([values] * 4000) > values]
    expected = np.vectorize(reference.probability)(values)
    deviation = np.concatenate(ups).mean(0) - expected
    deviation /= np.sqrt(expected * (1 - expected) / 4000)
    assert np.abs(deviation).max() < 4.5 and 0.4 < deviation.std() < 1.6


def test_errors_in_a_row_and_in_a_column_add_up_as_if_independent():
    """The variance of a sum of 30 errors is the sum of theirs: of 30 halves, 30 / 4."""
    values = np.full((30, 30), 1 + 2.0**-8, np.float32)
    ups = np.stack([rounded(values, step=n) > values for n in range(300)])
    for axis in (1, 2):
        assert ups.sum(axis=axis).var(axis=0).mean() == pytest.approx(30 / 4, rel=0.1)
    assert ups.sum(axis=(1, 2)).var() == pytest.approx(900 / 4, rel=0.35)
