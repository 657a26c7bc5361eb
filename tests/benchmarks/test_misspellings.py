"""Recall of right forms against a slow reference and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from misspellings import RECALL_AT, MisspellingQueries, edit_blocks, recalls

from tests.reference import spelling as reference
from tf_charagram.data.readers.misspellings import Misspelling

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
    assert queries.ranks([(0, scores)]).tolist() == [2, 1]
    assert queries.ranks([(1, scores[1:])]).tolist() == [1]
    assert queries_of(("the", ("their",))).ranks([(0, scores[:1])]).tolist() == [1]


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
    assert queries.ranks([(0, scores)]).tolist() == expected
    by_reference = [reference.recall(expected, k) for k in RECALL_AT]
    assert list(recalls(np.array(expected)).values()) == pytest.approx(by_reference)


def test_recall_by_hand():
    """Ranks 0, 0, 9, 10: half are first, three of four among ten, all among fifty."""
    found = recalls(np.array([0, 0, 9, 10]))
    assert found == {"recall_at_1": 50, "recall_at_10": 75, "recall_at_50": 100}


def test_edit_distance_equals_reference():
    [(_, scores)] = edit_blocks(["thier", "x"], VOCABULARY)
    expected = [[255 - reference.osa_distance(a, b) for b in VOCABULARY] for a in ("thier", "x")]
    assert scores.tolist() == expected
