"""Checks the reference versions against hand-worked numbers, numerical gradients and SciPy."""

from collections import Counter

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from . import charagram, correlation, optimizers, paraphrase, text

SEEDS = range(5)

# Slow machines must not fail a property by its time.
property_settings = settings(deadline=None, max_examples=50)

# --- text -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("Cat", " cat "),
        ("  The \t\n CAT\u3000sat\u00a0", " the cat sat "),
        ("", ""),
        (" \t\u2028", ""),
        (b"a\xffB", " a\ufffdb "),
        (b"\xe2\x82 x", " \ufffd x "),
        ("\u0130X", " \u0130x "),
        ("\u039f\u03a3", " \u03bf\u03c3 "),
        ("\u1e9e", " \u00df "),
        ("a\u200bb", " a\u200bb "),
        ("a\x1cb", " a\x1cb "),
        ("\U00010400", " \U00010428 "),
    ],
)
def test_normalize(raw, expected):
    assert text.normalize(raw) == expected


def test_normalize_switches():
    assert text.normalize(" A  B ", lower=False) == " A B "
    assert text.normalize(" A \t B ", collapse=False) == " a \t b "
    assert text.normalize(" A  B ", strip=False) == "  a b  "
    assert text.normalize(" A  B ", pad=False) == "a b"
    assert text.normalize("   ", collapse=False, strip=False) == ""


def test_max_chars_counts_before_padding_and_strips_again():
    assert text.normalize("  ab cd", max_chars=4) == " ab c "
    assert text.normalize("  ab cd", max_chars=3) == " ab "
    assert text.normalize("  ab cd", max_chars=3, strip=False) == "  ab "
    assert text.normalize("ab", max_chars=0) == ""


def test_white_space_is_the_unicode_set():
    python = {chr(code) for code in range(0x110000) if chr(code).isspace()}
    assert python - text.WHITE_SPACE == {"\x1c", "\x1d", "\x1e", "\x1f"}
    assert text.WHITE_SPACE <= python
    assert len(text.WHITE_SPACE) == 25


def test_only_one_code_point_has_a_longer_lower_case():
    longer = [code for code in range(0x110000) if len(chr(code).lower()) != 1]
    assert longer == [0x130]


@property_settings
@given(st.text(), st.integers(0, 8) | st.none())
def test_normalize_is_idempotent(raw, max_chars):
    once = text.normalize(raw, max_chars=max_chars)
    assert text.normalize(once, max_chars=max_chars) == once
    assert once == "" or (once[0] == once[-1] == " " and "  " not in once)
    assert max_chars is None or len(once) <= max_chars + 2
    assert text.normalize(raw.encode(), max_chars=max_chars) == once


@property_settings
@given(st.text())
def test_normalize_without_stripping_keeps_the_length(raw):
    kept = text.normalize(raw, collapse=False, strip=False, pad=False)
    assert len(kept) in (0, len(raw))


def test_ngrams_by_position_then_order():
    """' ab ' has 4 characters: 3 of order 2 and 2 of order 3."""
    assert text.ngrams("ab", (3, 2)) == [" a", " ab", "ab", "ab ", "b "]
    assert text.ngrams(" ab ", (2, 3, 3)) == [" a", " ab", "ab", "ab ", "b "]
    assert text.ngrams("a", (4,)) == []
    assert text.ngrams(" ", (1, 2)) == []
    assert text.ngrams("a a", (2,)) == [" a", "a ", " a", "a "]


@property_settings
@given(st.text(), st.sets(st.integers(1, 6), min_size=1))
def test_number_of_ngrams(raw, orders):
    length = len(text.normalize(raw))
    expected = sum(max(0, length - n + 1) for n in orders)
    assert len(text.ngrams(raw, orders)) == expected


@pytest.mark.parametrize("orders", [(), (0, 2)])
def test_bad_orders(orders):
    with pytest.raises(ValueError, match="`orders` must be integers of at least 1"):
        text.ngrams("ab", orders)


def test_counts_and_vocabulary():
    """' ab ' twice and ' b ' once.

    Order 2: 'b ' 3, ' a' 2, 'ab' 2, ' b' 1. Order 3: ' ab' 2, 'ab ' 2, ' b ' 1.
    """
    texts = ["ab", "AB", "b"]
    assert text.count_ngrams(texts, (2, 3)) == Counter(
        {"b ": 3, " a": 2, "ab": 2, " b": 1, " ab": 2, "ab ": 2, " b ": 1}
    )
    everything = ["b ", " a", "ab", " b", " ab", "ab ", " b "]
    assert text.vocabulary(texts, (3, 2)) == everything
    assert text.vocabulary(texts, (2, 3), min_count=2) == ["b ", " a", "ab", " ab", "ab "]
    assert text.vocabulary(texts, (2, 3), max_per_order=2) == ["b ", " a", " ab", "ab "]
    assert text.vocabulary(texts, (2, 3), 3, 2) == ["b "]
    assert text.count_ngrams(iter(texts), iter((2,)))["b "] == 3


def test_ties_break_by_code_point_not_by_utf16():
    """U+FFFD is below U+1F600 by code point, above it by UTF-16 unit."""
    found = text.vocabulary(["\U0001f600", "\ufffd"], (1,))
    assert found == [" ", "\ufffd", "\U0001f600"]


# --- charagram --------------------------------------------------------------------------------


def test_embed_by_hand():
    """' a a ' has ' a' and 'a ' twice each, so b + 2 W[' a'] + 2 W['a '].

    = (1, -1) + 2 (1, 2) + 2 (0, -3) = (3, -3). ' x ' has none: b.
    """
    W, b = np.array([[1.0, 2.0], [0.0, -3.0]]), np.array([1.0, -1.0])
    texts, vocabulary = ["A a", "x", ""], [" a", "a "]
    linear = np.array([[3.0, -3.0], [1.0, -1.0], [1.0, -1.0]])
    assert_allclose(charagram.embed(texts, vocabulary, W, b, "linear"), linear)
    assert_allclose(charagram.embed(texts, vocabulary, W, b, "tanh"), np.tanh(linear))
    relu = [[3.0, 0.0], [1.0, 0.0], [1.0, 0.0]]
    assert_allclose(charagram.embed(texts, vocabulary, W, b, "relu"), relu)


def test_two_layers_by_hand():
    """relu first gives (3, 0); (3, 0) @ [[2, -1], [5, 5]] + (1, 1) = (7, -2); relu: (7, 0)."""
    W, b = np.array([[1.0, 2.0], [0.0, -3.0]]), np.array([1.0, -1.0])
    dense = np.array([[2.0, -1.0], [5.0, 5.0]]), np.array([1.0, 1.0])
    assert_allclose(charagram.embed(["a a"], [" a", "a "], W, b, "relu", dense), [[7.0, 0.0]])


def test_embed_gradient_by_hand():
    """Linear: the gradient of W is counts^T upstream: 2 (1, 10) for both n-grams."""
    gradients = charagram.embed_gradient(
        [[1.0, 10.0], [5.0, 5.0]], ["a a", "x"], [" a", "a "], np.ones((2, 2)), np.zeros(2)
    )
    assert_allclose(gradients["W"], [[2.0, 20.0], [2.0, 20.0]])
    assert_allclose(gradients["b"], [6.0, 15.0])


@pytest.mark.parametrize("h", ["linear", "tanh", "relu"])
@pytest.mark.parametrize("layers", [1, 2])
def test_embed_gradient_numerically(h, layers):
    rng = np.random.default_rng(layers)
    texts = ["banana", "an apple", "", "zzz"]
    vocabulary = text.vocabulary(texts[:2], (2, 3), min_count=2)
    values = {
        "W": 0.3 * rng.normal(size=(len(vocabulary), 3)),
        "b": 0.3 * rng.normal(size=3),
        "K": rng.normal(size=(3, 2)),
        "b2": rng.normal(size=2),
    }
    names = ["W", "b", "K", "b2"][: 2 * layers]
    upstream = rng.normal(size=(len(texts), 3 if layers == 1 else 2))

    def arguments(**changed):
        p = values | changed
        return texts, vocabulary, p["W"], p["b"], h, (p["K"], p["b2"]) if layers == 2 else None

    gradients = charagram.embed_gradient(upstream, *arguments())
    assert sorted(gradients) == sorted(names)
    for name in names:
        numerical = paraphrase.numerical_gradient(
            lambda x, name=name: (upstream * charagram.embed(*arguments(**{name: x}))).sum(),
            values[name],
        )
        assert_allclose(gradients[name], numerical, atol=1e-7, err_msg=name)


def test_vocabulary_must_be_distinct():
    with pytest.raises(ValueError, match="`vocabulary` must hold distinct n-grams"):
        charagram.count_matrix(["a"], ["a ", "a "])


def test_empty_vocabulary_gives_the_bias():
    embedded = charagram.embed(["a", ""], [], np.zeros((0, 2)), np.array([1.0, 2.0]))
    assert_allclose(embedded, [[1.0, 2.0], [1.0, 2.0]])


# --- paraphrase -------------------------------------------------------------------------------

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


@pytest.mark.parametrize("seed", SEEDS)
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


@pytest.mark.parametrize("seed", SEEDS)
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


# --- optimizers -------------------------------------------------------------------------------


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
@pytest.mark.parametrize("seed", SEEDS)
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


# --- correlation ------------------------------------------------------------------------------


def test_spearman_by_hand():
    """Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4, mean 2.5 both.

    Products 2.25 + 0 + 0 + 2.25 = 4.5; squares 4.5 and 5: 4.5 / sqrt(22.5) = 0.9486833.
    """
    assert correlation.average_ranks([1, 2, 2, 3]) == [1.0, 2.5, 2.5, 4.0]
    assert correlation.spearman([1, 2, 2, 3], [1, 3, 2, 4]) == pytest.approx(0.9486833)


def test_pearson_by_hand():
    """Deviations -1, 0, 1 and -4/3, -1/3, 5/3: 3 / sqrt(2 * 42/9) = 0.9819805."""
    assert correlation.pearson([1, 2, 3], [1, 2, 4]) == pytest.approx(0.9819805)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("num_values", [5, 1000])
def test_correlation_against_scipy(seed, num_values):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, 40))
    y[:20] += x[:20]
    # Few distinct values make ties.
    x, y = np.round(x * num_values), np.round(y * num_values / 10)
    assert_allclose(correlation.average_ranks(x), scipy.stats.rankdata(x))
    assert correlation.pearson(x, y) == pytest.approx(scipy.stats.pearsonr(x, y)[0])
    assert correlation.spearman(x, y) == pytest.approx(scipy.stats.spearmanr(x, y)[0])


@pytest.mark.parametrize("function", [correlation.pearson, correlation.spearman])
def test_correlation_is_never_nan(function):
    assert function([0.1, 0.1, 0.1], [1, 2, 3]) is None
    assert function([1, 2, 3], [0.1, 0.1, 0.1]) is None
    assert function([1], [2]) is None
    assert function([], []) is None
    assert function([1e-200, 2e-200], [1e200, 3e200]) == pytest.approx(1.0)
    assert function([1, 2], [3, -1]) == pytest.approx(-1.0)
    with pytest.raises(ValueError, match="All values must be finite"):
        function([1, float("nan")], [1, 2])
    with pytest.raises(ValueError, match=r"Number of x \(1\) and of y \(2\) differ"):
        function([1], [1, 2])
