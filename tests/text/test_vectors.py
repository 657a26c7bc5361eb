"""Operations on flat vectors."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tf_charagram.text.vectors import (
    after_zero,
    between,
    column,
    interleaved,
    masked,
    selected,
    without_few,
)


@pytest.mark.parametrize("dropped", [[], [0], [6], [2, 3, 6], [0, 1, 2, 3, 4, 5, 6]])
def test_values_that_are_dropped(dropped):
    values, positions = np.arange(10, 17, dtype=np.int32), np.array([0, 0, 3, 4, 7], np.int32)
    keep = ~np.isin(np.arange(7), dropped)
    expected = [values[keep].tolist(), [int(keep[:stop].sum()) for stop in positions]]
    for found in (masked(values, keep, positions), without_few(values, ~keep, positions)):
        assert [part.numpy().tolist() for part in found] == expected


def test_small_operations():
    values = tf.constant([3, 1, 2])
    assert column(values).numpy().tolist() == [[3], [1], [2]]
    assert selected(values, tf.constant([True, False, True])).numpy().tolist() == [3, 2]
    assert after_zero(values).numpy().tolist() == [0, 3, 1, 2]
    assert interleaved(values, 10 * values).numpy().tolist() == [3, 30, 1, 10, 2, 20]
    assert between(values, [0, 1, 1], [2, 1, 3]).to_list() == [[3, 1], [], [1, 2]]
