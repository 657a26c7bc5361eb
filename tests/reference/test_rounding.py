"""Checks stochastic rounding against hand-worked and published numbers."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from . import rounding

QUARTER = 1 + 2**-9
"""A quarter of the way from 1 to the next number of bfloat16, 1 + 2^-7."""


@pytest.mark.parametrize("sign", [1, -1])
def test_neighbours_by_hand(sign):
    assert rounding.neighbours(sign * QUARTER) == (sign, sign * (1 + 2**-7))
    assert rounding.probability(sign * QUARTER) == 1 / 4
    assert rounding.neighbours(sign * 1.5) == (sign * 1.5, sign * 1.5)
    assert rounding.probability(sign * 1.5) == 0
    largest = (2 - 2**-7) * 2.0**127
    assert rounding.neighbours(sign * (2 - 2**-8) * 2.0**127) == (sign * largest, sign * math.inf)


def test_mix_gives_the_published_numbers():
    """SplitMix64 with seed 0 mixes 1, 2 and 3 times the golden ratio's 64 bits."""
    states = [number * 0x9E3779B97F4A7C15 % 2**64 for number in (1, 2, 3)]
    published = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert [rounding.mix(state) for state in states] == published


def test_draw_by_hand():
    """Row 0 and column -1 both have index 0: the draw is twice the high bits of mix(seed's ratio).

    2 * 0xE220 = 0x1C440 for seed 1, 2 * 0x6E78 = 0xDCF0 for seed 2, both modulo 2^16.
    """
    found = [rounding.draw(row=0, column=-1, step=0, seed=seed, salt=0) for seed in (1, 2)]
    assert found == [0xC440, 0xDCF0]


def test_rounds_outwards_from_three_quarters_of_the_draws(monkeypatch):
    """Below the last bit of bfloat16 stands 0x4000: 0xBFFF does not carry it, 0xC000 does."""
    draws = {(7, 0): 0xBFFF, (7, 1): 0xC000, (8, 0): 0xC000, (8, 1): 0}
    monkeypatch.setattr(rounding, "draw", lambda row, column, *_: draws.get((row, column)))
    values = [[QUARTER, QUARTER, math.inf], [-QUARTER, 1.5, math.nan]]
    found = rounding.stochastic_round(np.array(values), np.array([7, 8]), 1)
    assert_array_equal(found, [[1, 1 + 2**-7, math.inf], [-1 - 2**-7, 1.5, math.nan]])
