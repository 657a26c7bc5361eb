"""Cosines on the scale of human scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from research.pair_scores import on_gold_scale
from tf_charagram.data.readers.scored import ScoredPairs


def test_gold_scale():
    """The scale is that of the set, else that of its scores; equal cosines get the middle."""
    pairs = ScoredPairs("x", ["a"] * 3, ["b"] * 3, np.array([2.0, 4, 10]))
    cosines = np.array([0.5, 0.25, 1.0])
    np.testing.assert_allclose(on_gold_scale(cosines, pairs), [2 + 8 / 3, 2, 10])
    with_scale = replace(pairs, scale=(0, 5))
    np.testing.assert_allclose(on_gold_scale(cosines, with_scale), [5 / 3, 0, 5])
    np.testing.assert_allclose(on_gold_scale(np.ones(3), with_scale), [2.5] * 3)
