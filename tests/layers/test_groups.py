"""Ids taken apart into words, against a loop; and vectors of groups of ids."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.contracts import SPEC, ragged, row_sparse
from tests.reference.words import word_runs
from tests.text.strategies import slow_property_settings
from tf_charagram.layers.groups import grouped
from tf_charagram.layers.padding import PaddedEmbedding, to_padded_groups

ids_of_texts = st.lists(st.lists(st.integers(0, 6), max_size=6), max_size=5)


@pytest.mark.parametrize("row_splits", [tf.int32, tf.int64])
@slow_property_settings
@given(ids_of_texts, st.integers(0, 6))
def test_grouped(row_splits, rows, num_words):
    found = grouped(ragged(rows).with_row_splits_dtype(row_splits), num_words)
    assert found.to_list() == [word_runs(row, num_words) for row in rows]


@slow_property_settings
@given(ids_of_texts)
def test_to_padded_groups(rows):
    groups, mask = to_padded_groups(grouped(ragged(rows), 3))
    runs = [word_runs(row, 3) for row in rows]
    time = max([1, *map(len, runs)])
    assert mask.numpy().tolist() == [[t < len(row) for t in range(time)] for row in runs]
    assert groups.to_list() == [g for row in runs for g in row + [[]] * (time - len(row))]


@pytest.mark.long
@slow_property_settings
@given(ids_of_texts)
def test_embedding_of_groups(rows):
    """Sums, and a gradient that names each row once, in eager mode and in a graph."""
    layer, rng = PaddedEmbedding(num_rows=7, dim=2), np.random.default_rng(0)
    table = rng.normal(size=(7, 2))
    layer.table.assign(table)
    _optimizer = row_sparse(layer)
    runs = [word_runs(row, 3) for row in rows]
    time = max([1, *map(len, runs)])
    expected, slope = np.zeros((len(rows), time, 2)), np.zeros((7, 2))
    upstream = rng.normal(size=expected.shape)
    for r, row in enumerate(runs):
        for t, run in enumerate(row):
            for i in run:
                expected[r, t] += table[i]
                slope[i] += upstream[r, t]

    def function(ids):
        with tf.GradientTape() as tape:
            vectors, _ = layer(grouped(ids, 3))
        target = tf.constant(upstream, tf.float32)
        return vectors, tape.gradient(vectors, layer.table.value, output_gradients=target)

    for call in (function, tf.function(function, input_signature=[SPEC])):
        vectors, gradient = call(ragged(rows))
        assert_allclose(vectors, expected, rtol=1e-5, atol=1e-6)
        assert sorted(gradient.indices.numpy()) == sorted({i for row in rows for i in row})
        assert_allclose(tf.convert_to_tensor(gradient), slope, rtol=1e-5, atol=1e-6)
