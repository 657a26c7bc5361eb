"""Scores against their definition; weights learned from labels."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import search as reference
from tests.texts import NASTY, words
from tf_charagram.errors import ConfigError
from tf_charagram.search import TextScorer
from tf_charagram.search._pairs.learning import best_threshold, predicts_better
from tf_charagram.search.scoring import LONG, SINGLE

LISTED = [
    "", "cat", "Cats", "dog 12", "Dog, 12 doggedly", "horse kd55x9000", "hoarse KD-55 X9000 bird",
    "horse kd55x9001", "byrd byrd cat", "?!", "caf\u00e9 catalogue", "hosre ab1234567890",
]  # fmt: skip
UNLISTED = [
    "kd 55 x9",
    "bird kd55x9",
    "cta",
    "cafe catalog",
    "dogedly bird ab1234567890",
    "zzz",
    "horse kd5599",
    # Common words of a long text count by their share in the shorter one.
    "bird cta cats " + " ".join(f"word{number}" for number in range(20)),
]


@pytest.mark.parametrize("has_model", [False, True])
def test_equals_the_definition(embedder, has_model):
    scorer = TextScorer(LISTED, embedder if has_model else None)
    pairs = [(left, right) for left in LISTED + UNLISTED for right in LISTED + UNLISTED]
    lefts, rights = zip(*pairs, strict=True)
    cosines = embedder.similarity(lefts, rights) if has_model else [None] * len(pairs)
    expected = [
        reference.score(left, right, LISTED, cosine, LONG, SINGLE)
        for (left, right), cosine in zip(pairs, cosines, strict=True)
    ]
    np.testing.assert_allclose(scorer.score(lefts, rights), expected, atol=1e-5)
    texts = scorer.prepare(LISTED + UNLISTED)
    places = np.indices((len(texts), len(texts))).reshape(2, -1).T
    rarest = [reference.rarest(left, right, LISTED) for left, right in pairs]
    found = scorer.pair_evidence(texts, texts, places)
    np.testing.assert_allclose(found.rarest, rarest, atol=1e-5)


@pytest.mark.parametrize("has_model", [False, True])
def test_only_pairs_below_the_minimum_change(embedder, has_model):
    scorer = TextScorer(LISTED, embedder if has_model else None)
    texts = scorer.prepare(LISTED + UNLISTED)
    rows = np.arange(len(texts))
    pairs = np.stack([np.repeat(rows, len(rows)), np.tile(rows, len(rows))], axis=1)
    scores = scorer.pair_scores(texts, texts, pairs)
    for minimum in (0.3, 0.7, 1.0):
        found = scorer.pair_scores(texts, texts, pairs, minimum)
        is_skipped = (found == 0) & (scores > 0)
        assert is_skipped.any() and (scores[is_skipped] < minimum).all()
        np.testing.assert_allclose(found[~is_skipped], scores[~is_skipped], atol=1e-6)


def test_vectors_only(embedder):
    scorer = TextScorer(LISTED, embedder, lexical=False)
    cosines = embedder.similarity(LISTED, LISTED[::-1])
    np.testing.assert_allclose(
        scorer.score(LISTED, LISTED[::-1]), np.clip(cosines, 0, 1), atol=1e-6
    )
    with pytest.raises(ConfigError, match="there is nothing to compare"):
        TextScorer(LISTED, None, lexical=False)


def test_long_texts():
    """The first 250 words are compared one by one."""
    start = "".join(f"x{number} " for number in range(250))
    ones, others = [start + "cat", "y" * 40 + "ab"], [start + "dog", "y" * 40 + "cd"]
    scorer = TextScorer(ones, None)
    assert (scorer.score(ones, others) > 0.7).all()
    found = scorer.score(list(NASTY.values()), list(NASTY.values()))
    empty = np.array([name in ("empty", "spaces") for name in NASTY])
    assert (found[empty] == 0).all() and (found[~empty] > 0.5).all()


def labelled(seed):
    """Returns pairs that match if their first words do, whatever their codes."""
    names, draw = words(80, seed), np.random.default_rng(seed)
    lefts = [f"{name} {draw.integers(10_000, 99_999)}" for name in names]
    is_match = draw.random(80) < 0.5
    rights = [
        f"{name}s {draw.integers(10_000, 99_999)}" if matches else f"{other} {left.split()[1]}"
        for name, other, left, matches in zip(names, names[::-1], lefts, is_match, strict=True)
    ]
    return lefts, rights, is_match


def f1(found, is_match):
    return 2 * (found & is_match).sum() / (found.sum() + is_match.sum())


@pytest.mark.parametrize("seed", range(3))
def test_learned_weights_are_better(seed):
    lefts, rights, is_match = labelled(seed)
    scorer = TextScorer(lefts + rights, None)
    *unseen, matches = labelled(seed + 10)
    before = f1(scorer.score(*unseen) >= 0.7, matches)
    learned = scorer.learn(lefts, rights, is_match)
    assert 0 < learned.threshold < 1 and learned.precision > 0.9 and learned.recall > 0.9
    assert f1(scorer.score(*unseen) >= learned.threshold, matches) > max(before + 0.1, 0.9)
    same = TextScorer.from_settings(scorer.settings(), scorer.statistics, None)
    np.testing.assert_array_equal(same.score(*unseen), scorer.score(*unseen))


@pytest.mark.parametrize("seed", range(5))
def testbest_threshold_equals_trying_all(seed):
    draw = np.random.default_rng(seed)
    scores, is_match = draw.integers(1, 9, 20) / 10, draw.random(20) < 0.4
    threshold, precision, recall = best_threshold(scores, is_match)
    found = scores >= threshold
    assert f1(found, is_match) == pytest.approx(max(f1(scores >= s, is_match) for s in scores))
    assert precision == pytest.approx(is_match[found].mean())
    assert recall == pytest.approx(found[is_match].mean())


@pytest.mark.parametrize(
    "labels", [[], [1, 1, 0], [1, 0, 0], [1, 1, 1], [1, 1, 0, 0], ["1", "0", "no"]]
)
def test_too_few_labels(labels):
    scorer = TextScorer(["cat"], None)
    with pytest.raises(ConfigError, match=r"`labels` must be 1 or 0 .* at least twice\. Received"):
        scorer.learn(["cat"] * 3, ["dog"] * 3, labels)


def test_errors():
    scorer = TextScorer(["cat"], None)
    assert scorer.score([], []).shape == (0,)
    with pytest.raises(ConfigError, match=r"left texts \(1\) does not match .* right texts \(2\)"):
        scorer.score(["cat"], ["cat", "dog"])
    with pytest.raises(ConfigError, match=r"`left` must be a list of texts"):
        scorer.score("cat", ["cat"])


def test_texts_may_be_prepared_in_parts(embedder):
    texts = ["wal mart 24", "walmart", "", "C++ horses", "the hoarse", "wal-mart AB1234", "byrd"]
    for model in (embedder, None):
        scorer = TextScorer(texts, model)
        whole = scorer.prepare(texts)
        parts = scorer.prepare([])
        for start in (0, 3, 4):
            stop = {0: 3, 3: 4, 4: 7}[start]
            parts = parts.followed(scorer.prepare(texts[start:stop]))
        pairs = np.stack(np.divmod(np.arange(49), 7), axis=1)
        expected = scorer.pair_scores(whole, whole, pairs)
        np.testing.assert_allclose(scorer.pair_scores(parts, parts, pairs), expected, atol=1e-6)
        every = np.arange(7)
        assert parts.letters(every) == whole.letters(every)
        assert parts.num_letters.tolist() == [len(text) for text in whole.letters(every)]
        assert (parts.word_hashes == whole.word_hashes).all()
        assert parts.codes.lists.strings(every) == whole.codes.lists.strings(every)
        np.testing.assert_allclose(parts.lengths, whole.lengths, rtol=1e-6)


def test_labels_decide_only_if_they_change_answers_for_the_better():
    is_match = np.arange(20) % 2 == 0
    right = np.where(is_match, 0.9, 0.1)
    unsure = np.where(is_match, 0.6, 0.4)
    # Surer, but the same answers.
    assert not predicts_better(right, unsure, is_match)

    def flipped(number):
        return np.where(np.arange(20) < number, 1 - unsure, unsure)

    assert not predicts_better(right, flipped(1), is_match)
    assert predicts_better(right, flipped(2), is_match)
    assert not predicts_better(flipped(2), right, is_match)
    for lost, is_better in ((2, True), (3, False)):
        mixed = right.copy()
        mixed[-lost:] = 1 - mixed[-lost:]
        assert predicts_better(mixed, flipped(4), is_match) == is_better
