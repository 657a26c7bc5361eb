"""Checks the margin loss and its negatives against hand-worked numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from . import paraphrase

LEFT = np.array([[1.0, 0.0], [0.0, 1.0]])
RIGHT = np.array([[0.8, 0.6], [0.6, 0.8]])


def test_cosine_matrix():
    """(3, 4) . (1, 0) / 5 = 0.6, (3, 4) . (0, 2) / 10 = 0.8; a zero vector gives 0."""
    left = np.array([[3.0, 4.0], [0.0, 0.0]])
    right = np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    assert_allclose(paraphrase.cosine_matrix(left, right), [[0.6, 0.8, 0.0], [0.0, 0.0, 0.0]])
    assert_allclose(paraphrase.cosine_matrix(left), [[1.0, 0.0], [0.0, 0.0]])


def test_candidate_mask_by_hand():
    """Rows are a, b, c, x, a, y of the pairs (a, x), (b, a), (c, y).

    Pair 0 may not take the 'a' in row 4, pair 1 not that in row 0; pair 2 takes all others.
    """
    mask = paraphrase.candidate_mask(["a", "b", "c"], ["x", "a", "y"], mask_duplicates=True)
    pair_0 = [False, True, True, False, False, True]
    pair_1 = [False, False, True, True, False, True]
    pair_2 = [True, True, False, True, True, False]
    assert_array_equal(mask, 2 * [pair_0, pair_1, pair_2])
    mask = paraphrase.candidate_mask(["a", "b", "c"], ["x", "a", "y"], mask_duplicates=False)
    pair_0[4] = pair_1[0] = True
    assert_array_equal(mask, 2 * [pair_0, pair_1, pair_2])


def test_candidate_mask_of_related_pairs_by_hand():
    """Pairs (a, x) and (b, a) share 'a': neither may take the other's, also not 'b' and 'x'."""
    keys = ["a", "b", "c"], ["x", "a", "y"]
    not_one = [False, False, True, False, False, True]
    pair_2 = [True, True, False, True, True, False]
    mask = paraphrase.candidate_mask(*keys, mask_related=True)
    assert_array_equal(mask, 2 * [not_one, not_one, pair_2])


def test_candidate_mask_lengths():
    with pytest.raises(ValueError, match=r"Number of lefts \(1\) and of rights \(2\) differ"):
        paraphrase.candidate_mask(["a"], ["b", "c"])


def test_a_batch_of_one_pair_or_of_one_text_has_no_candidates():
    assert not paraphrase.candidate_mask(["a"], ["b"]).any()
    assert not paraphrase.candidate_mask(["a", "a"], ["a", "a"]).any()
    assert paraphrase.candidate_mask(["a", "a"], ["a", "a"], mask_duplicates=False).any()


def test_choose_max_by_hand():
    """Cosines of rows L0 L1 R0 R1: L0-R1 0.6 > L0-L1 0; R0-R1 0.96 > R0-L1 0.6."""
    similarity = paraphrase.cosine_matrix(np.concatenate([LEFT, RIGHT]))
    mask = paraphrase.candidate_mask("ab", "cd")
    assert_array_equal(paraphrase.choose_max(similarity, mask), [3, 2, 3, 2])
    assert_array_equal(paraphrase.choose_max(np.zeros((4, 4)), mask), [1, 0, 1, 0])
    mask[2] = False
    assert_array_equal(paraphrase.choose_max(similarity, mask), [3, 2, paraphrase.NONE, 2])
    assert_array_equal(paraphrase.choose_max(similarity - 5, mask), [3, 2, paraphrase.NONE, 2])


def test_choose_random_by_hand():
    """Allowed for rows of pair 0: 1 and 3, for rows of pair 1: 0 and 2."""
    mask = paraphrase.candidate_mask("ab", "cd")
    draws = np.array([0.0, 0.49, 0.5, 0.99])
    assert_array_equal(paraphrase.choose_random(mask, draws), [1, 0, 3, 2])
    assert_array_equal(paraphrase.choose_random(np.zeros((4, 4), bool), draws), [-1] * 4)


def test_choose_mix_by_hand():
    """Max [3, 2, 3, 2], random [1, 0, 1, 0]; the draws say max, random, random, max."""
    similarity = paraphrase.cosine_matrix(np.concatenate([LEFT, RIGHT]))
    mask = paraphrase.candidate_mask("ab", "cd")
    uniforms, random_choice = np.array([0.49, 0.5, 0.9, 0.0]), np.array([1, 0, 1, 0])
    chosen = paraphrase.choose_mix(similarity, mask, uniforms, random_choice)
    assert_array_equal(chosen, [3, 0, 1, 2])
    with pytest.raises(ValueError, match="Candidate 1 of 1 is not allowed"):
        paraphrase.choose_mix(similarity, mask, uniforms, np.array([1, 1, 1, 0]))


@pytest.mark.parametrize("seed", range(5))
def test_choices_are_allowed_and_max_is_highest(seed):
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 4, size=(2, 5)).tolist()
    mask = paraphrase.candidate_mask(*keys)
    similarity = paraphrase.cosine_matrix(rng.normal(size=(10, 3)))
    hardest = paraphrase.choose_max(similarity, mask)
    random = paraphrase.choose_random(mask, rng.uniform(size=10))
    for anchor in range(10):
        if not mask[anchor].any():
            assert hardest[anchor] == random[anchor] == paraphrase.NONE
        else:
            assert mask[anchor, hardest[anchor]] and mask[anchor, random[anchor]]
            assert similarity[anchor, hardest[anchor]] == similarity[anchor][mask[anchor]].max()


def test_margin_loss_by_hand():
    """Both pairs have cosine 0.8; the negatives' are 0.6 (lefts) and 0.96 (rights).

    Each pair: max(0, 0.4 - 0.8 + 0.6) + max(0, 0.4 - 0.8 + 0.96) = 0.2 + 0.56 = 0.76.
    Margin 0.1: 0 + 0.26. Without R0's negative and margin 0.4: (0.2 + 0 + 0.76) / 2 = 0.48.
    """
    assert paraphrase.margin_loss(LEFT, RIGHT, [3, 2], [3, 2], 0.4) == pytest.approx(0.76)
    assert paraphrase.margin_loss(LEFT, RIGHT, [3, 2], [3, 2], 0.1) == pytest.approx(0.26)
    none = paraphrase.NONE
    assert paraphrase.margin_loss(LEFT, RIGHT, [3, 2], [none, 2], 0.4) == pytest.approx(0.48)
    assert paraphrase.margin_loss(LEFT, RIGHT, [none] * 2, [none] * 2, 0.4) == 0.0


def test_margin_loss_gradient_by_hand():
    """L0 = (1, 0) is nobody's negative: d/dL0 = (-2 d cos(L0, R0) + d cos(L0, R1)) / 2.

    d cos(L0, R0) = R0 - 0.8 L0 = (0, 0.6); d cos(L0, R1) = R1 - 0.6 L0 = (0, 0.8).
    (-2 (0, 0.6) + (0, 0.8)) / 2 = (0, -0.2).
    """
    gradient = paraphrase.margin_loss_gradient(LEFT, RIGHT, [3, 2], [3, 2], 0.4)
    assert_allclose(gradient[0], [0.0, -0.2], atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("margin", [0.2, 1.0])
def test_margin_loss_gradient_numerically(seed, margin):
    rng = np.random.default_rng(seed)
    embeddings = rng.normal(size=(10, 4))
    mask = paraphrase.candidate_mask(*rng.integers(0, 6, size=(2, 5)).tolist())
    negatives = paraphrase.choose_max(paraphrase.cosine_matrix(embeddings), mask)
    negatives[rng.integers(10)] = paraphrase.NONE

    def loss(x):
        return paraphrase.margin_loss(x[:5], x[5:], negatives[:5], negatives[5:], margin)

    gradient = paraphrase.margin_loss_gradient(
        embeddings[:5], embeddings[5:], negatives[:5], negatives[5:], margin
    )
    assert_allclose(gradient, paraphrase.numerical_gradient(loss, embeddings), atol=1e-8)


def test_zero_vectors_have_finite_loss_and_no_gradient():
    left = np.array([[0.0, 0.0], [0.0, 1.0]])
    loss = paraphrase.margin_loss(left, RIGHT, [3, 2], [3, 2], 0.4)
    # Pair 0: 0.4 - 0 + 0 and 0.4 - 0 + 0.96; pair 1 as before.
    assert loss == pytest.approx((0.4 + 1.36 + 0.76) / 2)
    gradient = paraphrase.margin_loss_gradient(left, RIGHT, [3, 2], [3, 2], 0.4)
    assert_array_equal(gradient[0], [0.0, 0.0])
    assert np.isfinite(gradient).all()


def test_numerical_gradient_by_hand():
    """d (x^2 + 3 x y) = (2 x + 3 y, 3 x) = (8, 3) at (1, 2)."""
    point = np.array([1, 2])
    gradient = paraphrase.numerical_gradient(lambda p: p[0] ** 2 + 3 * p[0] * p[1], point)
    assert_allclose(gradient, [8.0, 3.0], atol=1e-8)
    assert_array_equal(point, [1, 2])
