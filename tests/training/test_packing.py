"""Packed batches hold the ids of the batches, in arrays of few shapes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tf_charagram.training._loop import packing
from tf_charagram.training._loop.packing import Sizes, pack
from tf_charagram.training._loop.stream import TextRanges


def make_batches(num_steps, num_texts, *, is_shared, max_length=40, seed=0):
    """Returns batches of texts of many lengths, some of them empty, with a number per text."""
    rng = np.random.default_rng(seed)
    corpus = rng.integers(0, 1000, size=500, dtype=np.int32)
    batches = []
    for _ in range(num_steps):
        starts = rng.integers(0, 400, size=num_texts)
        lengths = np.minimum(rng.integers(0, max_length, size=num_texts), 100)
        values = corpus if is_shared else corpus.copy()
        batches.append((TextRanges(values, starts, lengths), rng.normal(size=num_texts)))
    return batches


def texts_of(batch):
    ranges, _ = batch
    ends = ranges.starts + ranges.lengths
    return [ranges.values[s:e].tolist() for s, e in zip(ranges.starts, ends, strict=True)]


def unpacked(packed, step):
    """Returns the texts of a step of packed batches."""
    starts, ends = packed.starts[step], packed.starts[step] + packed.lengths[step]
    return [packed.values[s:e].tolist() for s, e in zip(starts, ends, strict=True)]


@pytest.mark.parametrize("is_padded", [False, True])
@pytest.mark.parametrize("is_shared", [False, True])
@pytest.mark.parametrize("max_resident", [100, 10_000])
def test_packed_batches_are_the_batches(is_padded, is_shared, max_resident, monkeypatch):
    """Whether or not all batches share an array of ids, and whether or not it may stay there."""
    monkeypatch.setattr(packing, "MAX_RESIDENT", max_resident)
    batches = make_batches(7, 5, is_shared=is_shared)
    (packed,) = pack(batches, 7, Sizes(), is_padded=is_padded)
    assert packed.num_steps == 7
    assert (packed.values is batches[0][0].values) == (is_shared and max_resident == 10_000)
    for step, batch in enumerate(batches):
        assert unpacked(packed, step) == texts_of(batch)
        assert_array_equal(packed.lengths[step], batch[0].lengths)
        assert_array_equal(packed.others[0][step], batch[1])
        num_chunks = sum(-(-len(text) // packed.width) for text in texts_of(batch))
        assert num_chunks <= packed.num_chunks
    if is_padded:
        assert packed.num_chunks == 5 and packed.width >= packed.lengths.max()


def test_batches_of_other_shapes_are_packed_apart():
    """The last batch of an epoch has fewer texts, and programs are of equal size."""
    batches = make_batches(230, 4, is_shared=True) + make_batches(1, 3, is_shared=True)
    found = list(pack(batches, 231, Sizes(), is_padded=False))
    assert [packed.num_steps for packed in found] == [77, 77, 76, 1]
    assert [packed.lengths.shape[1] for packed in found] == [4, 4, 4, 3]
    assert len({packed.starts.shape for packed in found}) == 2


def test_texts_without_ids():
    empty = TextRanges(np.zeros(0, np.int32), np.zeros(3, np.int64), np.zeros(3, np.int64))
    for is_padded in (False, True):
        (packed,) = pack([(empty,)], 1, Sizes(), is_padded=is_padded)
        assert unpacked(packed, 0) == [[], [], []]


def test_a_long_text_costs_no_padding():
    """A text of 10,000 ids among short ones: one chunk per text would take 200 times the room."""
    batches = make_batches(2, 400, is_shared=True, max_length=8)
    values = np.arange(10_000, dtype=np.int32)
    long = TextRanges(values, np.array([0] * 400), np.array([10_000] + [5] * 399))
    (packed,) = pack([*batches, (long, np.zeros(400))], 3, Sizes(), is_padded=False)
    assert packed.num_chunks * packed.width < 2 * (10_000 + 5 * 400)


def test_few_sizes():
    """All sizes from 1 to 10,000 need few programs, and none wastes more than a third."""
    sizes = Sizes()
    order = np.random.default_rng(0).permutation(np.arange(1, 10_001))
    found = {int(needed): sizes.at_least("chunks", int(needed)) for needed in order}
    assert all(needed <= size <= 1.5 * needed + 2 for needed, size in found.items())
    assert len(set(found.values())) < 40
    assert sizes.fixed("width", 8) == sizes.fixed("width", 16) == 8
