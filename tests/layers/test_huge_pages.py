"""Tables in huge pages keep their numbers."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tf_charagram.layers.huge_pages import use_huge_pages


@pytest.mark.parametrize("num_rows", [0, 1, 7_000, 100_000])
def test_numbers_stay(num_rows):
    values = np.random.default_rng(0).normal(size=(num_rows, 75)).astype(np.float32)
    table = tf.Variable(values)
    use_huge_pages(table)
    np.testing.assert_array_equal(table, values)
