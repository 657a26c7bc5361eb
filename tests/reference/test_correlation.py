"""Checks the correlations against hand-worked numbers and SciPy."""

import numpy as np
import pytest
import scipy.stats
from numpy.testing import assert_allclose

from . import correlation


def test_spearman_by_hand():
    """Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4, mean 2.5 both.

    Products 2.25 + 0 + 0 + 2.25 = 4.5; squares 4.5 and 5: 4.5 / sqrt(22.5) = 0.9486833.
    """
    assert correlation.average_ranks([1, 2, 2, 3]) == [1.0, 2.5, 2.5, 4.0]
    assert correlation.spearman([1, 2, 2, 3], [1, 3, 2, 4]) == pytest.approx(0.9486833)


def test_pearson_by_hand():
    """Deviations -1, 0, 1 and -4/3, -1/3, 5/3: 3 / sqrt(2 * 42/9) = 0.9819805."""
    assert correlation.pearson([1, 2, 3], [1, 2, 4]) == pytest.approx(0.9819805)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("num_values", [5, 1000])
def test_correlation_against_scipy(seed, num_values):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, 40))
    y[:20] += x[:20]
    # Few distinct values make ties.
    x, y = np.round(x * num_values), np.round(y * num_values / 10)
    assert_allclose(correlation.average_ranks(x), scipy.stats.rankdata(x))
    assert correlation.pearson(x, y) == pytest.approx(scipy.stats.pearsonr(x, y)[0])
    assert correlation.spearman(x, y) == pytest.approx(scipy.stats.spearmanr(x, y)[0])


@pytest.mark.parametrize("function", [correlation.pearson, correlation.spearman])
def test_correlation_is_never_nan(function):
    assert function([0.1, 0.1, 0.1], [1, 2, 3]) is None
    assert function([1, 2, 3], [0.1, 0.1, 0.1]) is None
    assert function([1], [2]) is None
    assert function([], []) is None
    assert function([1e-200, 2e-200], [1e200, 3e200]) == pytest.approx(1.0)
    assert function([1, 2], [3, -1]) == pytest.approx(-1.0)
    with pytest.raises(ValueError, match="All values must be finite"):
        function([1, float("nan")], [1, 2])
    with pytest.raises(ValueError, match=r"Number of x \(1\) and of y \(2\) differ"):
        function([1], [1, 2])
