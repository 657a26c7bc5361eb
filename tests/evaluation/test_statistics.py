"""Correlations and their bootstrap against slow references."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import bootstrap as reference
from tf_charagram.evaluation._scores import statistics as module
from tf_charagram.evaluation._scores.statistics import (
    bootstrap,
    interval,
    pearson,
    resample_counts,
    resampled_pearson,
    resampled_spearman,
    spearman,
)

TWINS = [
    (resampled_pearson, pearson),
    (resampled_spearman, spearman),
]


def correlated(num_pairs, seed=0):
    x, noise = np.random.default_rng(seed).normal(size=(2, num_pairs))
    return x, x + noise


class TestCorrelation:
    def test_by_hand(self):
        """Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4: 4.5 / sqrt(4.5 * 5) = 0.9486833.

        Deviations -1, 0, 1 and -4/3, -1/3, 5/3: 3 / sqrt(2 * 42/9) = 0.9819805.
        """
        assert spearman(np.array([1, 2, 2, 3]), np.array([1, 3, 2, 4])) == pytest.approx(0.9486833)
        assert pearson(np.array([1, 2, 3]), np.array([1, 2, 4])) == pytest.approx(0.9819805)

    @pytest.mark.parametrize("function", [spearman, pearson])
    def test_undefined_is_none_without_a_warning(self, function):
        constant, varied = np.full(3, 0.1), np.array([1.0, 2.0, 3.0])
        assert function(constant, varied) is None
        assert function(varied, constant) is None
        assert function(np.array([1.0]), np.array([2.0])) is None
        assert function(np.zeros(0), np.zeros(0)) is None
        assert function(np.array([1.0, np.nan, 2.0]), varied) is None
        found = function(np.array([1.0, 1.0 + 1e-15, 1.0]), varied)
        assert found is None or -1.0 <= found <= 1.0


@pytest.mark.parametrize(("function", "slow"), TWINS)
@pytest.mark.parametrize("num_values", [2, 1000])
def test_equals_reference(function, slow, num_values):
    """Few distinct values make ties; two values make resamples that are constant."""
    for seed in range(3):
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
    found = function(1e6 + 1e-3 * x, 1e6 + 1e-3 * y, np.ones((1, 30)))
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
