"""Which texts may be negatives, and properties of the chosen ones, over several seeds."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_array_equal

from tests.reference import paraphrase as reference
from tests.variants import some_now
from tf_charagram.errors import ConfigError
from tf_charagram.losses import normalize_rows
from tf_charagram.losses.negatives import STRATEGIES, NegativeSampler, candidate_mask

SEEDS = range(5)


def batch(seed, num_pairs=9, num_texts=7, dim=5):
    """Returns unit vectors and text ids with many repeats, in NumPy."""
    rng = np.random.default_rng(seed)
    vectors = normalize_rows(tf.constant(rng.normal(size=(2 * num_pairs, dim)), tf.float32))
    return vectors.numpy(), rng.integers(0, num_texts, size=2 * num_pairs).astype(np.int32)


def mask_of(keys, **masks):
    num_pairs = len(keys) // 2
    return reference.candidate_mask(keys[:num_pairs].tolist(), keys[num_pairs:].tolist(), **masks)


def choose(sampler, vectors, keys, step=0):
    chosen, exists = sampler(tf.constant(vectors), tf.constant(keys), tf.constant(step, tf.int64))
    assert chosen.dtype == tf.int64 and chosen.shape == exists.shape == keys.shape
    return chosen.numpy(), exists.numpy()


def draws(sampler, vectors, keys, num_steps):
    """Returns the choices of many steps, `(num_steps, 2B)`."""
    vectors, keys = tf.constant(vectors), tf.constant(keys)
    one = tf.function(lambda step: sampler(vectors, keys, step)[0])
    return np.stack([one(tf.constant(step, tf.int64)) for step in range(num_steps)])


@pytest.mark.parametrize("masks", [{}, {"mask_duplicates": False}], ids=str)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", some_now(SEEDS, 0))
def test_only_allowed_candidates_are_chosen(seed, strategy, masks):
    """Never one of the same pair; with the mask never the text of one of its sides."""
    vectors, keys = batch(seed)
    sampler = NegativeSampler(strategy, **masks, seed=seed)
    mask = mask_of(keys, **masks)
    for step in range(10):
        chosen, exists = choose(sampler, vectors, keys, step)
        assert_array_equal(exists, mask.any(axis=1))
        for anchor in np.flatnonzero(exists):
            assert mask[anchor, chosen[anchor]]
            assert chosen[anchor] % 9 != anchor % 9


@pytest.mark.parametrize("mask_duplicates", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_max_equals_reference(seed, mask_duplicates):
    vectors, keys = batch(seed)
    mask = mask_of(keys, mask_duplicates=mask_duplicates)
    expected = reference.choose_max(reference.cosine_matrix(vectors), mask)
    chosen, exists = choose(NegativeSampler(mask_duplicates=mask_duplicates), vectors, keys)
    assert_array_equal(np.where(exists, chosen, reference.NONE), expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_max_takes_what_is_most_similar_even_if_all_are_opposite(seed):
    """All candidates have cosine -1; none of them is a masked one."""
    keys = np.arange(6, dtype=np.int32)
    vectors = np.array([[1.0, 0], [-1, 0], [-1, 0]] * 2, np.float32)
    chosen, exists = choose(NegativeSampler(seed=seed), vectors, keys)
    assert exists.all() and chosen[0] == 1 and chosen[3] == 1


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "keys", [[0, 1], [3, 3], [0, 0, 0, 0], [0, 1, 1, 0]], ids=lambda keys: f"keys{keys}"
)
def test_no_candidate(strategy, keys):
    keys = np.array(keys, np.int32)
    chosen, exists = choose(NegativeSampler(strategy), np.ones((len(keys), 2), np.float32), keys)
    assert not exists.any() and not chosen.any()


@pytest.mark.parametrize("seed", some_now(SEEDS, 0, 1))
def test_random_is_uniform_over_the_allowed(seed):
    """Chi-squared of 1000 draws of a text; a limit of 40 is beyond one in a million for 4 to 8."""
    vectors, keys = batch(seed, num_pairs=5, num_texts=8)
    chosen = draws(NegativeSampler("random", seed=seed), vectors, keys, 1000)
    for anchor, allowed in enumerate(mask_of(keys)):
        if allowed.any():
            counts = np.bincount(chosen[:, anchor], minlength=10)
            expected = 1000 / allowed.sum()
            assert not counts[~allowed].any()
            assert (((counts[allowed] - expected) ** 2) / expected).sum() < 40


@pytest.mark.parametrize("seed", some_now(SEEDS, 0, 1))
def test_mix_is_max_about_half_of_the_time(seed):
    """The random half hits the most similar of 38 too; the two sides of a pair toss separately.

    3000 tosses: 0.5 + 0.5 / 38 = 0.513, deviation 0.009.
    """
    vectors, _ = batch(seed, num_pairs=20)
    keys = np.arange(40, dtype=np.int32)
    hardest = reference.choose_max(reference.cosine_matrix(vectors), mask_of(keys))
    chosen = draws(NegativeSampler("mix", seed=seed), vectors, keys, 75)
    is_max = chosen == hardest
    assert is_max.mean() == pytest.approx(0.513, abs=0.05)
    same = is_max[:, :20] == is_max[:, 20:]
    assert same.mean() == pytest.approx(0.5, abs=0.07)
    others = chosen[~is_max]
    assert len(np.unique(others)) == 40


def test_the_coin_of_mix_does_not_lean_on_its_random_candidate():
    """Where the random half is taken, each of the 5 candidates but the hardest is as likely."""
    vectors, _ = batch(0, num_pairs=4)
    keys = np.arange(8, dtype=np.int32)
    hardest = reference.choose_max(reference.cosine_matrix(vectors), mask_of(keys))
    chosen = draws(NegativeSampler("mix"), vectors, keys, 1200)
    for anchor, allowed in enumerate(mask_of(keys)):
        counts = np.bincount(chosen[:, anchor], minlength=8)
        rest = counts[allowed & (np.arange(8) != hardest[anchor])]
        # 1200 / 2 / 6 = 100 each, deviation 10.
        assert len(rest) == 5 and rest.min() > 50 and rest.max() < 150


@pytest.mark.parametrize("strategy", ["mix", "random"])
def test_draws_are_a_function_of_seed_and_step(strategy):
    vectors, _ = batch(0, num_pairs=20)
    keys = np.arange(40, dtype=np.int32)
    one = draws(NegativeSampler(strategy, seed=1), vectors, keys, 5)
    assert_array_equal(one, draws(NegativeSampler(strategy, seed=1), vectors, keys, 5))
    other = draws(NegativeSampler(strategy, seed=2), vectors, keys, 5)
    assert (one != other).any(axis=1).all()
    assert len({tuple(row) for row in one}) == 5


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_pairs(strategy):
    """As a replica gets them, if a batch has fewer pairs than there are replicas."""
    choose(NegativeSampler(strategy), np.zeros((0, 5), np.float32), np.zeros(0, np.int64))


def make_ids(seed, num_texts):
    """Returns the texts of nine pairs, many of them equal."""
    return np.random.default_rng(seed).integers(0, num_texts, size=18)


@pytest.mark.parametrize("masks", [{}, {"mask_duplicates": False}], ids=str)
@pytest.mark.parametrize("seed", SEEDS)
def test_mask_equals_reference(seed, masks):
    ids = make_ids(seed, 12)
    mask = candidate_mask(tf.constant(ids), **masks).numpy()
    assert_array_equal(mask, reference.candidate_mask(ids[:9].tolist(), ids[9:].tolist(), **masks))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"strategy": "maxx"}, r"Unknown negatives 'maxx'. Did you mean 'max'\? Available: max, "),
        ({"mask_duplicates": "no"}, "`mask_duplicates` must be True or False"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ConfigError, match=message):
        NegativeSampler(**arguments)
