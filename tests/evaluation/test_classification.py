"""Scores of predicted labels against a slow reference, and by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import classification as reference
from tf_charagram.evaluation._scores.statistics import resample_counts
from tf_charagram.evaluation.classification import score_labels

LABELS = ("a", "b", "c", "d")


def times_100(value):
    return None if value is None else pytest.approx(100 * value)


def draw(num_examples, seed, right=0.6):
    """Returns labels, and predictions of which that share and some more are right."""
    random = np.random.default_rng(seed)
    gold = random.choice(["a", "b", "c"], num_examples)
    predicted = random.choice(["a", "b", "c"], num_examples)
    return gold.tolist(), np.where(random.random(num_examples) < right, gold, predicted).tolist()


def test_by_hand():
    """Gold a a a b, predicted a a b b.

    Accuracy 3 / 4. a: precision 2 / 2, recall 2 / 3, F1 4 / 5. b: precision 1 / 2, recall 1 / 1,
    F1 2 / 3. Macro-F1 (4 / 5 + 2 / 3) / 2 = 11 / 15, because c is nowhere.
    """
    score = score_labels(["a", "a", "a", "b"], ["a", "a", "b", "b"], ["a", "b", "c"])
    assert score.metrics["accuracy"] == 75 and score.metrics["macro_f1"] == pytest.approx(1100 / 15)
    a, b, c = score.labels
    assert (a.support, a.precision, a.f1) == (3, 100, 80) and a.recall == pytest.approx(200 / 3)
    assert (b.support, b.precision, b.recall) == (1, 50, 100) and b.f1 == pytest.approx(200 / 3)
    assert (c.support, c.precision, c.recall, c.f1) == (0, None, None, None)
    assert score.confusion.tolist() == [[2, 1, 0], [0, 1, 0], [0, 0, 0]]


PAIRS = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1)


@settings(max_examples=100)
@given(PAIRS)
def test_equals_reference(pairs):
    gold, predicted = (list(side) for side in zip(*pairs, strict=True))
    score = score_labels(gold, predicted, LABELS, num_resamples=0)
    assert score.metrics["accuracy"] == times_100(reference.accuracy(gold, predicted))
    assert score.metrics["macro_f1"] == times_100(reference.macro_f1(gold, predicted))
    assert score.confusion.tolist() == reference.confusion(gold, predicted, LABELS)
    for found in score.labels:
        assert found.support == gold.count(found.label)
        for name in ("precision", "recall", "f1"):
            expected = getattr(reference, name)(gold, predicted, found.label)
            assert getattr(found, name) == times_100(expected)
    assert score.intervals == {}


@pytest.mark.parametrize("seed", range(3))
def test_intervals_equal_reference(seed):
    """Ten examples, so that labels are missing in some resamples."""
    gold, predicted = draw(10, seed)
    score = score_labels(gold, predicted, LABELS, num_resamples=40, seed=seed)
    (counts,) = resample_counts(10, 40, np.random.default_rng(seed))
    resamples = [[reference.written_out(side, row) for side in (gold, predicted)] for row in counts]
    for name in ("accuracy", "macro_f1"):
        draws = [100 * getattr(reference, name)(*sides) for sides in resamples]
        assert score.intervals[name] == pytest.approx(np.quantile(draws, [0.025, 0.975]))


def test_to_dict():
    score = score_labels(["a", "b"], ["a", "a"], ["a", "b"], num_resamples=50)
    found = json.loads(json.dumps(score.to_dict()))
    assert (found["num_examples"], found["accuracy"]) == (2, 50)
    assert found["confusion"] == [[1, 0], [1, 0]]
    assert found["labels"][1]["precision"] is None
    assert found["intervals"]["accuracy"] == [0, 100]
