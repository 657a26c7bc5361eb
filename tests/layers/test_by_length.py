"""Rows in groups of similar length: the same results, and never too many steps at a time."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose

from tests.contracts import SPEC, ragged
from tf_charagram.layers.by_length import by_length
from tf_charagram.layers.padding import to_padded

BATCHES = {
    "plain": (3, 1, 4, 1, 5),
    "empty rows": (0, 2, 0, 0, 3),
    "only empty": (0, 0),
    "one": (7,),
    "none": (),
}


@pytest.mark.parametrize("max_steps", [1, 4, 6, 100])
@pytest.mark.parametrize("per_value", [False, True])
@pytest.mark.parametrize("in_graph", [False, True])
def test_groups_change_nothing(max_steps, per_value, in_graph):
    sizes = []

    def function(group):
        padded, _ = to_padded(group)
        if not in_graph:
            assert padded.shape[0] > 0
            sizes.append((tuple(padded.shape), int(tf.reduce_max(group.row_lengths()))))
        totals = tf.cast(tf.reduce_sum(group, axis=1), tf.float32)
        first = tf.cast(group.values, tf.float32) if per_value else totals
        second = tf.gather(totals, group.value_rowids()) if per_value else -totals
        return tf.stack([first, second], axis=1)

    def run(rows):
        return by_length(function, rows, max_steps, 2, per_value=per_value)

    run_groups = tf.function(run, input_signature=[SPEC]) if in_graph else run
    rng = np.random.default_rng(0)
    for name, lengths in BATCHES.items():
        rows = ragged([rng.integers(0, 9, size=length).tolist() for length in lengths])
        expected = function(rows) if lengths or in_graph else np.zeros((0, 2))
        sizes.clear()
        assert_allclose(run_groups(rows), expected, err_msg=name)
        for (num_rows, time), _ in sizes:
            assert num_rows == 1 or num_rows * time <= max_steps
