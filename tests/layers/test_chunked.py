"""Texts cut into chunks, against loops; XLA compiles all of it, here for a CPU."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.contracts import row_sparse
from tf_charagram.layers._ops.chunked import PADDING, chunked_ids, cut_into_chunks
from tf_charagram.layers.embedding_table import PaddedEmbedding, RaggedEmbeddingSum

NUM_ROWS, DIM = 300, 3
WIDTH = 4
ROWS = [[5, 5, 7], [], [1, 2, 3, 4, 5, 6, 7, 8, 9], [], [0], [299, 5, 0, 1]]


def chunked(rows, *, is_padded, num_slots=14):
    lengths = np.array([len(row) for row in rows], np.int32)
    width, num_chunks = WIDTH, sum(-(-length // WIDTH) for length in lengths) + 2
    if is_padded:
        width, num_chunks = lengths.max(), None

    @tf.function(jit_compile=True, autograph=False)
    def make(values, starts, lengths):
        cut = cut_into_chunks(starts, lengths, tf.range(width), num_chunks)
        ids = tf.where(cut.is_real, tf.gather(values, cut.positions), PADDING)
        return chunked_ids(ids, cut.texts, lengths, NUM_ROWS, num_slots)

    values = np.array([i for row in rows for i in row], np.int32)
    return make(values, np.cumsum(lengths, dtype=np.int32) - lengths, lengths)


@pytest.mark.parametrize("is_padded", [False, True])
def test_ids_of_each_text(is_padded):
    ids, num_distinct = chunked(ROWS, is_padded=is_padded)
    distinct = {i for row in ROWS for i in row}
    assert num_distinct == len(distinct) == 11
    assert sorted(ids.rows.numpy()) == [*sorted(distinct), *[PADDING] * 3]
    found = [[] for _ in ROWS]
    for slots, text in zip(ids.slots.numpy(), ids.texts.numpy(), strict=True):
        real = slots[slots < 14]
        assert (slots[len(real) :] == 14).all()
        if len(real):
            found[text] += ids.rows.numpy()[real].tolist()
    assert found == ROWS
    assert ids.row_lengths().numpy().tolist() == [len(row) for row in ROWS]
    if is_padded:
        assert ids.texts.numpy().tolist() == [*range(len(ROWS))]


def test_too_little_room_is_told():
    _, num_distinct = chunked(ROWS, is_padded=False, num_slots=5)
    assert num_distinct == 11


@pytest.mark.parametrize("layer_class", [RaggedEmbeddingSum, PaddedEmbedding])
def test_layers(layer_class):
    """Sums and padded vectors, and the gradient of the table, which names each row once."""
    layer = layer_class(num_rows=NUM_ROWS, dim=DIM)
    rng = np.random.default_rng(0)
    table = rng.normal(size=(NUM_ROWS, DIM)).astype(np.float32)
    layer.table.assign(table)
    _optimizer = row_sparse(layer)
    ids, _ = chunked(ROWS, is_padded=layer_class is PaddedEmbedding)

    @tf.function(jit_compile=True, autograph=False)
    def run(ids):
        with tf.GradientTape() as tape:
            outputs = layer(ids, training=True)
            vectors = outputs[0] if layer_class is PaddedEmbedding else outputs
            loss = tf.reduce_sum(vectors * vectors)
        return vectors, tape.gradient(loss, layer.table.value)

    vectors, gradient = run(ids)
    if layer_class is PaddedEmbedding:
        expected = np.zeros((len(ROWS), 9, DIM), np.float32)
        for text, row in enumerate(ROWS):
            expected[text, : len(row)] = table[row]
    else:
        expected = np.array([table[row].sum(axis=0) for row in ROWS])
    assert_allclose(vectors, expected, rtol=1e-5, atol=1e-6)
    expected_gradient = np.zeros_like(table)
    for text, row in enumerate(ROWS):
        for step, i in enumerate(row):
            is_sum = layer_class is RaggedEmbeddingSum
            expected_gradient[i] += 2 * (expected[text] if is_sum else expected[text, step])
    assert isinstance(gradient, tf.IndexedSlices)
    indices = gradient.indices.numpy()
    assert_array_equal(np.sort(indices), np.sort(ids.rows))
    is_real = indices != PADDING
    found = np.zeros_like(table)
    found[indices[is_real]] = gradient.values.numpy()[is_real]
    assert_allclose(found, expected_gradient, rtol=1e-4, atol=1e-5)
