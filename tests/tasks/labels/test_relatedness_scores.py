"""Scores of predicted relatedness against the slow references, and by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.reference import bootstrap
from tf_charagram.evaluation._scores import statistics
from tf_charagram.evaluation._scores.statistics import resample_counts
from tf_charagram.tasks.labels._heads.relatedness import score_relatedness


def draw(num_pairs, seed, noise=0.5):
    random = np.random.default_rng(seed)
    gold = np.round(random.uniform(1, 5, num_pairs), 1)
    return gold, gold + noise * random.normal(size=num_pairs)


def test_by_hand():
    """Gold 1 2 4, predicted 1 3 3: errors 0 1 1, so MSE 2 / 3.

    Deviations -4/3 -1/3 5/3 and -4/3 2/3 2/3: r = (16 - 2 + 10) / sqrt(42 * 24) = 0.7559. Ranks
    1 2 3 and 1 2.5 2.5: rho = 1.5 / sqrt(2 * 1.5) = 0.8660.
    """
    score = score_relatedness([1, 2, 4], [1, 3, 3], num_resamples=0)
    assert score.metrics["mse"] == pytest.approx(2 / 3)
    assert score.metrics["pearson"] == pytest.approx(75.59, abs=0.005)
    assert score.metrics["spearman"] == pytest.approx(86.60, abs=0.005)
    assert (score.num_examples, score.intervals) == (3, {})


@pytest.mark.parametrize("seed", range(3))
def test_equals_reference(seed):
    gold, predicted = draw(12, seed)
    score = score_relatedness(gold, predicted, num_resamples=30, seed=seed)
    (counts,) = resample_counts(12, 30, np.random.default_rng(seed))
    for name in ("pearson", "spearman"):
        slow = getattr(statistics, name)
        assert score.metrics[name] == pytest.approx(100 * slow(gold.tolist(), predicted.tolist()))
        expected = bootstrap.resampled(slow, gold.tolist(), predicted.tolist(), counts.tolist())
        low, high = bootstrap.interval(expected)
        assert score.intervals[name] == pytest.approx((100 * low, 100 * high))
    errors = [sum(c * (p - g) ** 2 for c, p, g in zip(row, predicted, gold, strict=True)) / 12
              for row in counts]  # fmt: skip
    assert score.intervals["mse"] == pytest.approx(bootstrap.interval(errors))


def test_constant_predictions_have_no_correlation():
    score = score_relatedness([1, 2, 4], [3, 3, 3], num_resamples=20)
    assert (score.metrics["pearson"], score.metrics["spearman"]) == (None, None)
    assert score.metrics["mse"] == pytest.approx((4 + 1 + 1) / 3)
    assert score.intervals["pearson"] is None and score.intervals["mse"] is not None
    found = json.loads(json.dumps(score.to_dict()))
    assert (found["pearson"], found["num_examples"], found["intervals"]["spearman"]) == (
        None,
        3,
        None,
    )
    assert len(found["intervals"]["mse"]) == 2
