"""Which texts may be the negative of which, compared with the slow version."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_array_equal

from tests.reference import paraphrase as reference
from tf_charagram.losses.negatives import candidate_mask

SEEDS = range(5)


def make_ids(seed, num_texts):
    """Returns the texts of nine pairs, many of them equal."""
    return np.random.default_rng(seed).integers(0, num_texts, size=18)


@pytest.mark.parametrize(
    "masks",
    [{"mask_duplicates": False}, {"mask_duplicates": True}, {"mask_related": True}],
    ids=str,
)
@pytest.mark.parametrize("seed", SEEDS)
def test_equals_reference(seed, masks):
    ids = make_ids(seed, 12)
    mask = candidate_mask(tf.constant(ids), **masks).numpy()
    assert_array_equal(mask, reference.candidate_mask(ids[:9].tolist(), ids[9:].tolist(), **masks))
    share = candidate_mask(tf.constant(ids), tf.constant(2), tf.constant(5), **masks)
    assert_array_equal(share, mask[[2, 3, 4, 11, 12, 13]])


@pytest.mark.parametrize("seed", SEEDS)
def test_related_texts_are_left_out(seed):
    """Of nine pairs of twelve texts, some are joined to one of the same pair by another pair."""
    ids = tf.constant(make_ids(seed, 12))
    related = candidate_mask(ids, mask_related=True).numpy()
    assert related.sum() < candidate_mask(ids).numpy().sum()


@pytest.mark.parametrize(("num_groups", "size"), [(2, 5), (3, 3)])
@pytest.mark.parametrize("mask_duplicates", [True, False])
def test_groups_keep_to_themselves(mask_duplicates, num_groups, size):
    ids = tf.constant(make_ids(1, 12))
    group = np.arange(18) % 9 // size
    all_pairs = candidate_mask(ids, mask_duplicates=mask_duplicates).numpy()
    mask = candidate_mask(ids, mask_duplicates=mask_duplicates, num_groups=num_groups)
    assert_array_equal(mask, all_pairs & (group[:, np.newaxis] == group))
