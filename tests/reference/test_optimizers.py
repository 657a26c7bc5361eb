"""Checks optimizers, clipping and penalties against hand-worked numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from . import optimizers, paraphrase


def test_adam_by_hand():
    """Gradients 2 and -1, rate 0.1, epsilon 0, from 1.

    t=1: m = 0.2, v = 0.004; m/0.1 = 2, v/0.001 = 4, step 2/2 = 1: w = 0.9.
    t=2: m = 0.18 - 0.1 = 0.08, v = 0.003996 + 0.001 = 0.004996;
    m/0.19 = 0.4210526, v/0.001999 = 2.4992496, root 1.5808984; step 0.2663376: w = 0.8733662.
    """
    adam = optimizers.Adam(learning_rate=0.1, epsilon=0.0)
    w = adam.step(np.array([1.0]), np.array([2.0]))
    assert_allclose(w, [0.9])
    assert_allclose(adam.step(w, np.array([-1.0])), [0.8733662], atol=1e-7)


def test_adam_epsilon_is_added_to_the_uncorrected_root():
    """t=1, g=2: alpha = 0.1 sqrt(0.001) / 0.1; step alpha 0.2 / (sqrt(0.004) + 0.5)."""
    w = optimizers.Adam(learning_rate=0.1, epsilon=0.5).step(np.array([1.0]), np.array([2.0]))
    assert_allclose(w, [1 - 0.031622777 * 0.2 / (0.063245553 + 0.5)])


def test_adagrad_by_hand():
    """a = 0.1 + 0.45^2 = 0.3025, root 0.55; 0.11 * 0.45 / 0.55 = 0.09: w = 0.91.

    With epsilon 0.0575 the root is that of 0.36: 0.11 * 0.45 / 0.6 = 0.0825: w = 0.9175.
    """
    for epsilon, expected in ((0.0, 0.91), (0.0575, 0.9175)):
        adagrad = optimizers.Adagrad(learning_rate=0.11, epsilon=epsilon)
        assert_allclose(adagrad.step(np.array([1.0]), np.array([0.45])), [expected])


def test_momentum_sgd_by_hand():
    """m = -0.1 * 2 = -0.2: w = 0.8; m = 0.5 (-0.2) - 0.1 * 1 = -0.2: w = 0.6."""
    sgd = optimizers.MomentumSgd(learning_rate=0.1, momentum=0.5)
    w = sgd.step(np.array([1.0]), np.array([2.0]))
    assert_allclose(w, [0.8])
    assert_allclose(sgd.step(w, np.array([1.0])), [0.6])


def test_sum_rows():
    rows, gradients = optimizers.sum_rows([3, 1, 3], [[1.0, 2.0], [5.0, 5.0], [10.0, 20.0]])
    assert_array_equal(rows, [1, 3])
    assert_allclose(gradients, [[5.0, 5.0], [11.0, 22.0]])
    rows, gradients = optimizers.sum_rows([], np.zeros((0, 2)))
    assert rows.shape == (0,) and gradients.shape == (0, 2)


DENSE_AND_LAZY = [
    (optimizers.Adam, optimizers.LazyAdam),
    (optimizers.Adagrad, optimizers.LazyAdagrad),
]


@pytest.mark.parametrize(("dense_class", "lazy_class"), DENSE_AND_LAZY)
@pytest.mark.parametrize("seed", range(5))
def test_lazy_equals_dense_if_every_row_is_touched(dense_class, lazy_class, seed):
    rng = np.random.default_rng(seed)
    dense, lazy = dense_class(0.1), lazy_class(0.1)
    w = lazy_w = rng.normal(size=(6, 3))
    for _ in range(4):
        rows = rng.permutation(np.concatenate([np.arange(6), rng.integers(0, 6, size=5)]))
        gradients = rng.normal(size=(len(rows), 3))
        gradient = np.zeros((6, 3))
        np.add.at(gradient, rows, gradients)
        w, lazy_w = dense.step(w, gradient), lazy.step(lazy_w, rows, gradients)
        assert_allclose(lazy_w, w, rtol=1e-12)


@pytest.mark.parametrize(("_", "lazy_class"), DENSE_AND_LAZY)
def test_untouched_rows_keep_everything(_, lazy_class):
    rng = np.random.default_rng(0)
    lazy, w = lazy_class(0.1), rng.normal(size=(4, 2))
    w = lazy.step(w, np.arange(4), rng.normal(size=(4, 2)))
    state = [value.copy() for value in vars(lazy).values() if isinstance(value, np.ndarray)]
    after = lazy.step(w, [1, 1], rng.normal(size=(2, 2)))
    new_state = [value for value in vars(lazy).values() if isinstance(value, np.ndarray)]
    assert len(state) >= 1
    for before, later in zip([w, *state], [after, *new_state], strict=True):
        assert_array_equal(before[[0, 2, 3]], later[[0, 2, 3]])
        assert (before[1] != later[1]).all()


def test_lazy_adam_counts_steps_globally():
    """Row 1 is first touched in step 2: m = 0.2, v = 0.004, corrected by 0.19 and 0.001999.

    0.2 / 0.19 = 1.0526316; sqrt(0.004 / 0.001999) = 1.4145674; step 0.1 * 0.7441368.
    """
    lazy = optimizers.LazyAdam(learning_rate=0.1, epsilon=0.0)
    w = lazy.step(np.ones((2, 1)), [0], [[2.0]])
    w = lazy.step(w, [1], [[2.0]])
    assert_allclose(w, [[0.9], [0.9255863]], atol=1e-7)
    lazy.step(w, [], np.zeros((0, 1)))
    assert lazy.t == 3


def test_clip_by_global_norm():
    """(3, 0), ((4)) has norm 5: clipped at 1 all numbers are divided by 5."""
    gradients = [np.array([3.0, 0.0]), np.array([[4.0]])]
    assert optimizers.global_norm(gradients) == 5.0
    clipped = optimizers.clip_by_global_norm(gradients, 1.0)
    assert_allclose(clipped[0], [0.6, 0.0])
    assert_allclose(clipped[1], [[0.8]])
    for clip_norm in (5.0, 6.0):
        for old, new in zip(
            gradients, optimizers.clip_by_global_norm(gradients, clip_norm), strict=True
        ):
            assert_array_equal(old, new)
    assert_array_equal(optimizers.clip_by_global_norm([np.zeros(2)], 1.0)[0], [0.0, 0.0])


def test_l2_by_hand():
    """0.5 * 0.1 * (1 + 4 + 9 + 16) = 1.5; row 1 only: 0.5 * 0.1 * (9 + 16) = 1.25.

    Pulled to (1, 2), (3, 2) only 4 - 2 = 2 is left: 0.5 * 0.1 * 4 = 0.2.
    """
    w, initial = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 2.0], [3.0, 2.0]])
    assert optimizers.l2_penalty(w, 0.1) == pytest.approx(1.5)
    assert optimizers.l2_penalty(w, 0.1, rows=[1, 1]) == pytest.approx(1.25)
    assert optimizers.l2_penalty(w, 0.1, initial) == pytest.approx(0.2)
    assert optimizers.l2_penalty(w, 0.1, initial, rows=[0]) == 0.0
    assert_allclose(optimizers.l2_gradient(w, 0.1), 0.1 * w)
    assert_allclose(optimizers.l2_gradient(w, 0.1, rows=[1, 1]), [[0.0, 0.0], [0.3, 0.4]])
    assert_allclose(optimizers.l2_gradient(w, 0.1, initial), [[0.0, 0.0], [0.0, 0.2]])


@pytest.mark.parametrize("rows", [None, [2, 0, 2]])
def test_l2_gradient_numerically(rows):
    rng = np.random.default_rng(0)
    w, initial = rng.normal(size=(2, 4, 3))
    numerical = paraphrase.numerical_gradient(
        lambda x: optimizers.l2_penalty(x, 0.3, initial, rows), w
    )
    assert_allclose(optimizers.l2_gradient(w, 0.3, initial, rows), numerical, atol=1e-8)
