"""Correlations against the slow reference and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import correlation as reference
from tf_charagram.evaluation.correlation import pearson, spearman

PAIRS = [(spearman, reference.spearman), (pearson, reference.pearson)]


@pytest.mark.parametrize(("function", "expected"), PAIRS)
@pytest.mark.parametrize("num_values", [3, 1000])
@pytest.mark.parametrize("seed", range(5))
def test_equals_reference(seed, num_values, function, expected):
    """Few distinct values make ties."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, 40))
    x, y = np.round(x * num_values), np.round((x + y) * num_values)
    assert function(x, y) == pytest.approx(expected(x, y), abs=1e-9)


def test_by_hand():
    """Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4: 4.5 / sqrt(4.5 * 5) = 0.9486833.

    Deviations -1, 0, 1 and -4/3, -1/3, 5/3: 3 / sqrt(2 * 42/9) = 0.9819805.
    """
    assert spearman(np.array([1, 2, 2, 3]), np.array([1, 3, 2, 4])) == pytest.approx(0.9486833)
    assert pearson(np.array([1, 2, 3]), np.array([1, 2, 4])) == pytest.approx(0.9819805)


@pytest.mark.parametrize("function", [spearman, pearson])
def test_undefined_is_none_without_a_warning(function):
    constant, varied = np.full(3, 0.1), np.array([1.0, 2.0, 3.0])
    assert function(constant, varied) is None
    assert function(varied, constant) is None
    assert function(np.array([1.0]), np.array([2.0])) is None
    assert function(np.zeros(0), np.zeros(0)) is None
    assert function(np.array([1.0, np.nan, 2.0]), varied) is None


@pytest.mark.parametrize("function", [spearman, pearson])
def test_almost_constant(function):
    almost = np.array([1.0, 1.0 + 1e-15, 1.0])
    found = function(almost, np.array([1.0, 2.0, 3.0]))
    assert found is None or -1.0 <= found <= 1.0


@pytest.mark.parametrize("function", [spearman, pearson])
def test_perfect(function):
    x = np.array([0.5, 0.25, 0.75, 0.0])
    assert function(x, 2 * x + 1) == pytest.approx(1.0)
    assert function(x, -x) == pytest.approx(-1.0)
    assert function(x[:2], 2 * x[:2]) == pytest.approx(1.0)
