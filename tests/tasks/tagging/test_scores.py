"""Scores of tags: a hand-worked case, a slow count, and intervals."""

from __future__ import annotations

import json
from collections import Counter
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import bootstrap as reference
from tf_charagram.evaluation.bootstrap import resample_counts
from tf_charagram.tasks.tagging.scores import TagScore, score_tags, tagging_tables

GOLD = [["DT", "NN", "VB"], ["NN", "NN"], ["FW"]]
PREDICTED = [["DT", "NN", "NN"], ["NN", "NN"], ["VB"]]
WORDS = [["the", "cat", "eats"], ["cat", "food"], ["vin"]]


def hand_worked(num_resamples=0):
    return score_tags(
        GOLD, PREDICTED, WORDS, {"the", "cat"}, known_tags=["DT", "NN", "VB"],
        num_resamples=num_resamples,
    )  # fmt: skip


def test_hand_worked():
    """4 of 6 words are right: all 3 known ones, the, cat, cat, and 1 of eats, food, vin."""
    score = hand_worked()
    assert (score.num_sentences, score.num_tokens) == (3, 6)
    assert score.accuracy == pytest.approx(400 / 6)
    assert (score.num_known, score.known_accuracy) == (3, 100)
    assert (score.num_unknown, score.unknown_accuracy) == (3, pytest.approx(100 / 3))
    assert score.sentence_accuracy == pytest.approx(100 / 3)
    assert score.tags == (
        TagScore("DT", 1, 1, 100, 100, 100),
        TagScore("FW", 1, 0, None, 0, 0),
        # Precision 3/4, recall 3/3: F1 = 2 * 3 / (3 + 4).
        TagScore("NN", 3, 4, 75, 100, pytest.approx(600 / 7)),
        TagScore("VB", 1, 1, 0, 0, 0),
    )
    assert score.confusions == (("FW", "VB", 1), ("VB", "NN", 1))
    assert score.unseen_tags == (("FW", 1),)
    assert score.interval is None


def test_no_known_or_no_unknown_words():
    score = score_tags([["A"]], [["B"]], [["x"]], ["x"], known_tags=["A", "B"])
    assert (score.num_unknown, score.unknown_accuracy) == (0, None)
    assert score.tags[1] == TagScore("B", 0, 1, 0, None, 0)
    score = score_tags([["A"]], [["A"]], [["x"]], [], known_tags=["A"])
    assert (score.num_known, score.known_accuracy) == (0, None)
    assert score.confusions == () and score.unseen_tags == ()


tag_lists = st.lists(
    st.lists(st.sampled_from("ABCD"), min_size=1, max_size=5), min_size=1, max_size=6
)


@settings(max_examples=50)
@given(tag_lists, st.data())
def test_equals_a_slow_count(gold, data):
    same_size = [st.lists(st.sampled_from("ABCE"), min_size=len(s), max_size=len(s)) for s in gold]
    predicted, words = data.draw(st.tuples(*same_size)), data.draw(st.tuples(*same_size))
    score = score_tags(gold, predicted, words, "AE", known_tags="ABCD", num_resamples=0)
    rows = list(zip(chain(*gold), chain(*predicted), chain(*words), strict=True))
    assert score.accuracy == pytest.approx(100 * sum(g == p for g, p, _ in rows) / len(rows))
    known = [g == p for g, p, word in rows if word in "AE"]
    assert score.num_known == len(known)
    assert score.known_accuracy == (pytest.approx(100 * sum(known) / len(known)) if known else None)
    wrong = Counter((g, p) for g, p, _ in rows if g != p)
    assert {(g, p): count for g, p, count in score.confusions} == wrong
    assert [c for _, _, c in score.confusions] == sorted(wrong.values(), reverse=True)
    right = sum(list(g) == list(p) for g, p in zip(gold, predicted, strict=True))
    assert score.sentence_accuracy == pytest.approx(100 * right / len(gold))
    for tag in score.tags:
        assert tag.count == sum(g == tag.tag for g, _, _ in rows)
        assert tag.num_predicted == sum(p == tag.tag for _, p, _ in rows)


def test_interval_is_that_of_whole_sentences_written_out():
    random = np.random.default_rng(0)
    gold = [["A"] * random.integers(1, 9) for _ in range(12)]
    predicted = [["A" if random.random() < 0.7 else "B" for _ in row] for row in gold]
    (counts,) = resample_counts(12, 200, np.random.default_rng(3))
    values = []
    for row in counts:
        chosen = [i for i, count in enumerate(row) for _ in range(int(count))]
        pairs = [p == g for i in chosen for g, p in zip(gold[i], predicted[i], strict=True)]
        values.append(100 * sum(pairs) / len(pairs))
    score = score_tags(gold, predicted, gold, [], known_tags="AB", num_resamples=200, seed=3)
    assert score.interval == pytest.approx(reference.interval(values))
    assert score.interval[0] < score.accuracy < score.interval[1]


def test_json():
    score = hand_worked(num_resamples=9)
    stored = score.to_dict()
    assert json.loads(json.dumps(stored)) == stored
    assert stored["confusions"] == [["FW", "VB", 1], ["VB", "NN", 1]]
    assert stored["tags"][0]["tag"] == "DT"
    assert stored["interval"] == list(score.interval)


def test_tables():
    accuracies, tags, mistakes = tagging_tables("[x]", hand_worked())
    assert accuracies.title == r"\[x]: Accuracy x 100"
    assert list(accuracies.columns[2].cells) == ["66.67", "100.00", "33.33", "33.33"]
    assert next(iter(tags.columns[0].cells)) == "NN"
    assert tags.caption == "Not seen in training, so always wrong: FW (1)."
    assert list(mistakes.columns[3].cells) == ["50.0 %", "50.0 %"]
    right = score_tags([["A"]], [["A"]], [["x"]], [], known_tags=["A"], num_resamples=0)
    assert len(tagging_tables("x", right)) == 2
