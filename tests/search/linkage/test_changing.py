"""Columns that change together, next to counts from the definition."""

from __future__ import annotations

import numpy as np
import pytest

from tf_charagram.search.linkage._fellegi_sunter.changing import count_changes, sets_that_differ


def test_columns_that_change_together_count_once():
    sets = np.array([0, 0b001, 0b010, 0b100, 0b111, -1])
    # Of 1,000 matches, 20 change each column alone, and 240 all of them.
    rises = count_changes(sets, np.array([700.0, 20, 20, 20, 240, 5000]), num_sets=8)
    alone, together, never = rises[[0b001, 0b111, 0b110]]
    assert alone == never == 0
    # Half of the counted share, and half of three independent changes.
    expected = np.log(0.5 * 0.239 / 0.26**3 + 0.5)
    assert together == pytest.approx(expected)
    # Pairs that do not agree in what identifies are not counted.
    assert rises[-1] == 0


def test_sets_of_columns_that_change():
    is_identifying = np.array([True, True, False, False])
    ratios = np.array([[9, 9, 2, -1], [9, 9, -1, -1], [9, -1, -1, -1], [9, 0, -1, -1.0]])
    # The third pair differs in what identifies, the fourth lacks a value.
    sets = sets_that_differ(ratios, is_identifying, is_identifying)
    assert sets.tolist() == [0b10, 0b11, -1, -1]
