"""Sums by the parts of a table are those of the table, and so are their gradients."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.contracts import ragged
from tf_charagram.encoders import ENCODERS, encoder_class
from tf_charagram.layers.cut_table import CutTable, cut_tables, summed_tables, trained_variables
from tf_charagram.layers.embedding_table import tables_on
from tf_charagram.layers.ragged_sum import RaggedEmbeddingSum

NUM_ROWS, DIM = 11, 3
BATCHES = [
    [[0, 2, 2], [], [4, 1, 3, 10]],
    [[0, 2, 4], [6, 8]],  # nothing of part 1 of 2
    [[9], [], []],
    [[], []],
    [],
]


def make(num_parts, **kwargs):
    """Returns a layer and its table cut over one device, which several parts may share."""
    layer = RaggedEmbeddingSum(num_rows=NUM_ROWS, dim=DIM)
    return layer, CutTable(layer, ["CPU:0"] * num_parts, **kwargs)


def gradients(loss_of, variables, in_graph):
    def compute(ids):
        with tf.GradientTape() as tape:
            sums, loss = loss_of(ids)
        return sums, tape.gradient(loss, [variable.value for variable in variables])

    return tf.function(compute) if in_graph else compute


def loss_by(sum_of):
    def loss_of(ids):
        sums = sum_of(ids)
        return sums, tf.reduce_sum(tf.sin(sums))

    return loss_of


@pytest.mark.parametrize("in_graph", [False, True])
@pytest.mark.parametrize("num_parts", [1, 2, 3])
def test_sums_and_gradients(num_parts, in_graph):
    layer, cut = make(num_parts)
    whole = gradients(loss_by(layer), [layer.table], in_graph=False)
    by_parts = gradients(loss_by(lambda ids: layer(ids, training=True)), cut.parts, in_graph)
    for batch in BATCHES:
        ids = ragged(batch)
        expected_sums, (expected,) = whole(ids)
        sums, found = by_parts(ids)
        assert_allclose(sums, expected_sums, rtol=1e-6)
        for part, gradient in enumerate(found):
            assert isinstance(gradient, tf.IndexedSlices)
            touched = {row // num_parts for row in chain(*batch) if row % num_parts == part}
            assert sorted(gradient.indices.numpy()) == sorted(touched)
            dense = tf.convert_to_tensor(gradient)
            assert_allclose(dense, expected[part::num_parts], rtol=1e-6, atol=1e-7)


def test_processes_that_hold_some_parts_add_up():
    layer = RaggedEmbeddingSum(num_rows=NUM_ROWS, dim=DIM)
    ids = ragged(BATCHES[0])
    held = [
        CutTable(layer, ["CPU:0"], num_parts=3),
        CutTable(layer, ["CPU:0", "CPU:0"], num_parts=3, first_part=1),
    ]
    total = tf.add_n([cut.sums(ids) for cut in held])
    assert_allclose(total, layer(ids), rtol=1e-6, atol=1e-8)
    assert held[1].parts[0].shape == (4, DIM)


def test_the_table_follows_when_it_is_assembled():
    layer, cut = make(2)
    before = layer.table.numpy()
    ids = ragged([[1]])
    cut.parts[1].assign_add(np.ones(cut.parts[1].shape))
    assert_allclose(layer(ids, training=True)[0], before[1] + 1, rtol=1e-6)
    assert_allclose(layer(ids)[0], before[1], rtol=1e-6)
    cut.assemble()
    assert_allclose(layer(ids)[0], before[1] + 1, rtol=1e-6)
    assert_array_equal(layer.table[::2], before[::2])
    layer.table.assign(before)
    cut.cut()
    assert_allclose(layer(ids, training=True)[0], before[1], rtol=1e-6)


@pytest.mark.parametrize("name", ENCODERS)
def test_parts_take_the_place_of_the_table_in_order(name):
    encoder = encoder_class(name)(num_rows=NUM_ROWS, dim=6)
    assert cut_tables(encoder) == []
    whole = [id(variable) for variable in encoder.trainable_variables]
    assert [id(variable) for variable in trained_variables(encoder)] == whole
    for layer in summed_tables(encoder):
        cut = CutTable(layer, ["CPU:0", "CPU:0"])
        assert cut_tables(encoder) == [cut]
        place = whole.index(id(layer.table))
        found = [id(variable) for variable in trained_variables(encoder)]
        parts = [id(part) for part in cut.parts]
        assert found == [*whole[:place], *parts, *whole[place + 1 :]]


def test_a_table_is_made_and_summed_where_it_was_asked_for():
    with tables_on("CPU:0"):
        layer = RaggedEmbeddingSum(num_rows=NUM_ROWS, dim=DIM)
    assert layer.table.value.device.endswith("CPU:0")
    function = tf.function(layer).get_concrete_function(ragged(BATCHES[0]))
    calls = [op for op in function.graph.get_operations() if "PartitionedCall" in op.type]
    assert [op.device for op in calls] == ["/device:CPU:0"]
    plain = tf.function(make(2)[0]).get_concrete_function(ragged(BATCHES[0]))
    calls = [op for op in plain.graph.get_operations() if "PartitionedCall" in op.type]
    assert [op.device for op in calls] == [""]
