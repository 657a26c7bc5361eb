"""Recall of right forms against a slow reference and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import spelling as reference
from tf_charagram.data.readers.misspellings import Misspelling
from tf_charagram.evaluation._scores.misspellings import RECALL_AT, MisspellingQueries, score_ranks

VOCABULARY = ["the", "there", "their", "form"]


def queries_of(*pairs):
    return MisspellingQueries.of([Misspelling(*pair) for pair in pairs], VOCABULARY)


def test_queries():
    """Case is ignored, equal wrong forms are one query, and what cannot be found is counted."""
    queries = queries_of(
        ("Ther", ("Their", "nowhere")), ("ther", ("there",)), ("form", ("from", "form")),
        ("tha", ("that",)), ("THE", ("the",)), ("there", ("their", "there")),
    )  # fmt: skip
    assert queries.wrong == ["ther", "there"]
    assert [right.tolist() for right in queries.right] == [[1, 2], [2]]
    assert queries.own.tolist() == [-1, 1]
    assert len(queries) == 2
    assert queries.num_left_out == 3
    assert len(queries_of(("a", ("b",)))) == 0


def test_ranks_by_hand():
    """`the` is before `their` by its score, `there` by its position; no word answers itself."""
    queries = queries_of(("ther", ("their",)), ("there", ("their",)))
    scores = np.array([[0.9, 0.5, 0.5, 0.1], [0.9, 1.0, 0.5, 0.1]])
    assert queries.ranks(scores).tolist() == [2, 1]
    assert queries.ranks(scores[1:], start=1).tolist() == [1]
    assert queries_of(("the", ("their",))).ranks(scores[:1]).tolist() == [1]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", [np.float32, np.uint8])
def test_ranks_equal_reference(seed, kind):
    """Few distinct scores make ties."""
    random = np.random.default_rng(seed)
    words = [f"w{number}" for number in range(30)]
    forms = [(f"w{number}", tuple(random.choice(words, 3))) for number in range(20, 40)]
    queries = MisspellingQueries.of([Misspelling(*pair) for pair in forms], words)
    scores = random.integers(0, 6, (len(queries), len(words))).astype(kind)
    expected = [
        reference.rank(row, set(right), own)
        for row, right, own in zip(scores, queries.right, queries.own, strict=True)
    ]
    assert queries.ranks(scores).tolist() == expected
    score = score_ranks(np.array(expected), num_resamples=0)
    recalls = [reference.recall(expected, k) for k in RECALL_AT]
    assert list(score.metrics.values()) == pytest.approx(recalls)
    assert score.intervals == {}


def test_recall_by_hand():
    """Ranks 0, 0, 9, 10: half are first, three of four among ten, all among fifty."""
    score = score_ranks(np.array([0, 0, 9, 10]), num_resamples=200)
    assert dict(score.metrics) == {"recall_at_1": 50, "recall_at_10": 75, "recall_at_50": 100}
    low, high = score.intervals["recall_at_1"]
    assert low < 50 < high and score.intervals["recall_at_50"] == (100, 100)
    assert score.to_dict()["intervals"]["recall_at_1"] == (low, high)
