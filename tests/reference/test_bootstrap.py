"""Checks the bootstrap against hand-worked numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from . import bootstrap
from .correlation import pearson


def test_resampled_by_hand():
    """All four pairs: deviations (-3, -2, 0, 5) and (-3, -1, -2, 6): 41 / sqrt(38 * 50).

    (1, 1, 2, 4) and (1, 1, 3, 2): (-1, -1, 0, 2) and (-3, -3, 5, 1) / 4: 8 / sqrt(6 * 44). The last
    two twice lie on a rising line. The second one four times is constant.
    """
    counts = [[1, 1, 1, 1], [2, 1, 1, 0], [0, 0, 2, 2], [0, 4, 0, 0]]
    found = bootstrap.resampled(pearson, [1.0, 2.0, 4.0, 9.0], [1.0, 3.0, 2.0, 10.0], counts)
    assert_allclose(found, [0.9406045, 0.4923660, 1.0, np.nan], atol=1e-7)


def test_interval_by_hand():
    """Of 41 values 40 gaps, so one is left out on each side; what is not a number doesn't count.

    Of 5 values 4 gaps of 10: 0.025 * 4 = 0.1 gaps from each end.
    """
    shuffled = np.random.default_rng(0).permutation(41)
    assert bootstrap.interval([float("nan"), *shuffled]) == pytest.approx((1.0, 39.0))
    assert bootstrap.interval([40.0, 0.0, 30.0, 10.0, 20.0]) == pytest.approx((1.0, 39.0))
    assert bootstrap.interval([0.5]) == (0.5, 0.5)
