"""The bootstrap against its slow reference, and what an interval promises."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import bootstrap as reference
from tests.reference import correlation
from tf_charagram.evaluation import bootstrap as module
from tf_charagram.evaluation.bootstrap import (
    bootstrap,
    interval,
    resample_counts,
    resampled_pearson,
    resampled_spearman,
)

TWINS = [
    (resampled_pearson, correlation.pearson),
    (resampled_spearman, correlation.spearman),
]


def correlated(num_pairs, seed=0, noise=1.0):
    random = np.random.default_rng(seed)
    x = random.normal(size=num_pairs)
    return x, x + noise * random.normal(size=num_pairs)


@pytest.mark.parametrize(("function", "slow"), TWINS)
@pytest.mark.parametrize("num_values", [2, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_equals_reference(function, slow, num_values, seed):
    """Few distinct values make ties; two values make resamples that are constant."""
    x, y = (np.round(num_values * side) for side in correlated(12, seed))
    (counts,) = resample_counts(12, 40, np.random.default_rng(seed))
    expected = reference.resampled(slow, x.tolist(), y.tolist(), counts.tolist())
    np.testing.assert_allclose(function(x, y, counts), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("function", "slow"), TWINS)
def test_constant_resamples_are_not_a_number(function, slow):
    x, y = np.array([0.0, 0.0, 1.0]), np.array([3.0, 4.0, 5.0])
    counts = np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 3.0], [1.0, 1.0, 1.0]])
    found = function(x, y, counts)
    assert np.isnan(found).tolist() == [True, True, False]
    assert found[2] == pytest.approx(slow(x.tolist(), y.tolist()))


@pytest.mark.parametrize(("function", "slow"), TWINS)
def test_far_from_zero(function, slow):
    """Sums of squares of such numbers would lose all digits."""
    x, y = correlated(30)
    counts = np.ones((1, 30))
    found = function(1e6 + 1e-3 * x, 1e6 + 1e-3 * y, counts)
    assert found[0] == pytest.approx(slow(x.tolist(), y.tolist()), abs=1e-5)


@pytest.mark.parametrize("metric", ["pearson", "spearman"])
def test_same_seed_and_name_give_the_same_pairs(metric):
    x, y = correlated(50)
    arguments = {"metric": metric, "num_resamples": 20}
    first = bootstrap(x, y, seed=1, name="a", **arguments)
    # Three times the cosine: the correlation of the same pairs is the same.
    np.testing.assert_allclose(bootstrap(3 * x, y, seed=1, name="a", **arguments), first)
    assert not np.allclose(bootstrap(x, y, seed=2, name="a", **arguments), first)
    assert not np.allclose(bootstrap(x, y, seed=1, name="b", **arguments), first)


def test_chunks_change_nothing(monkeypatch):
    x, y = correlated(50)
    whole = bootstrap(x, y, metric="spearman", num_resamples=20, seed=0)
    monkeypatch.setattr(module, "_MAX_CELLS", 150)
    chunks = [len(counts) for counts in resample_counts(50, 20, np.random.default_rng(0))]
    assert chunks == [3, 3, 3, 3, 3, 3, 2]
    found = bootstrap(x, y, metric="spearman", num_resamples=20, seed=0)
    np.testing.assert_array_equal(found, whole)


def test_resamples_hold_as_many_pairs_as_the_set():
    (counts,) = resample_counts(30, 200, np.random.default_rng(0))
    assert (counts.sum(axis=1) == 30).all()
    # A pair is in a resample once on average, and in none of 1 / e of them.
    assert counts.mean() == 1
    assert (counts == 0).mean() == pytest.approx(np.exp(-1), abs=0.02)


def test_interval_equals_reference():
    draws = np.random.default_rng(0).normal(size=101)
    assert interval(draws) == pytest.approx(reference.interval(draws.tolist()))
    draws[::4] = np.nan
    assert interval(draws) == pytest.approx(reference.interval(draws.tolist()))
    draws[::2] = draws[1::4][0] = np.nan
    assert interval(draws) is None
    assert interval(np.empty(0)) is None


def test_interval_holds_the_correlation_of_the_population():
    """True r: 1 / sqrt(1 + 1) = 0.7071; of 40 intervals of 95 %, at least 33 hold it."""
    held = 0
    for seed in range(40):
        x, y = correlated(150, seed)
        low, high = interval(bootstrap(x, y, metric="pearson", num_resamples=300, seed=seed))
        held += low < np.sqrt(0.5) < high
    assert held >= 33
