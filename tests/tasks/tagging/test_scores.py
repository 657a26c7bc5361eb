"""Scores of tags: a hand-worked case, a slow count, intervals, and what cannot be scored."""

from __future__ import annotations

import json
from collections import Counter
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import bootstrap as reference
from tf_charagram.errors import ConfigError
from tf_charagram.evaluation.bootstrap import resample_counts
from tf_charagram.tasks.tagging.scores import TagScore, score_tags
from tf_charagram.tasks.tagging.tables import tagging_tables

GOLD = [["DT", "NN", "VB"], ["NN", "NN"], [], ["FW"]]
PREDICTED = [["DT", "NN", "NN"], ["NN", "NN"], [], ["VB"]]
WORDS = [["the", "cat", "eats"], ["cat", "food"], [], ["vin"]]
KNOWN = {"the", "cat"}


def hand_worked(**arguments):
    return score_tags(GOLD, PREDICTED, WORDS, KNOWN, **arguments)


def test_hand_worked():
    """Right are 4 of 6 words; of the known the, cat, cat all 3; of eats, food, vin 1."""
    score = hand_worked(known_tags=["DT", "NN", "VB"], num_resamples=0)
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
    assert score.top_confusions(1) == (("FW", "VB", 1),)
    assert score.unseen_tags == (("FW", 1),)
    assert score.interval is None


def test_no_known_or_no_unknown_words():
    score = score_tags([["A"]], [["A"]], [["x"]], ["x"])
    assert (score.num_unknown, score.unknown_accuracy) == (0, None)
    score = score_tags([["A"]], [["A"]], [["x"]], [])
    assert (score.num_known, score.known_accuracy) == (0, None)
    assert score.confusions == () and score.unseen_tags == ()


def test_recall_of_a_tag_that_was_only_predicted():
    (_, wrong) = score_tags([["A"]], [["B"]], [["x"]], []).tags
    assert wrong == TagScore("B", 0, 1, 0, None, 0)


tag_lists = st.lists(st.lists(st.sampled_from("ABCD"), max_size=5), min_size=1, max_size=6)


@settings(max_examples=50)
@given(tag_lists.filter(any), st.data())
def test_equals_a_slow_count(gold, data):
    same_size = [st.lists(st.sampled_from("ABCE"), min_size=len(s), max_size=len(s)) for s in gold]
    predicted, words = data.draw(st.tuples(*same_size)), data.draw(st.tuples(*same_size))
    score = score_tags(gold, predicted, words, "AE", num_resamples=0)
    rows = list(zip(chain(*gold), chain(*predicted), chain(*words), strict=True))
    assert score.accuracy == pytest.approx(100 * sum(g == p for g, p, _ in rows) / len(rows))
    known = [g == p for g, p, word in rows if word in "AE"]
    assert score.num_known == len(known)
    assert score.known_accuracy == (pytest.approx(100 * sum(known) / len(known)) if known else None)
    wrong = Counter((g, p) for g, p, _ in rows if g != p)
    assert {(g, p): count for g, p, count in score.confusions} == wrong
    assert [c for _, _, c in score.confusions] == sorted(wrong.values(), reverse=True)
    sentences = [(list(g), list(p)) for g, p in zip(gold, predicted, strict=True) if g]
    right = sum(g == p for g, p in sentences)
    assert score.sentence_accuracy == pytest.approx(100 * right / len(sentences))
    for tag in score.tags:
        assert tag.count == sum(g == tag.tag for g, _, _ in rows)
        assert tag.num_predicted == sum(p == tag.tag for _, p, _ in rows)
        if tag.precision and tag.recall:
            mean = 2 / (1 / tag.precision + 1 / tag.recall)
            assert tag.f1 == pytest.approx(mean)


def drawn(num_sentences, share, seed=0):
    random = np.random.default_rng(seed)
    gold = [["A"] * random.integers(1, 9) for _ in range(num_sentences)]
    return gold, [["A" if random.random() < share else "B" for _ in row] for row in gold]


def test_interval_is_that_of_whole_sentences_written_out():
    gold, predicted = drawn(12, 0.7)
    (counts,) = resample_counts(12, 200, np.random.default_rng(3))
    values = []
    for row in counts:
        chosen = [i for i, count in enumerate(row) for _ in range(int(count))]
        pairs = [p == g for i in chosen for g, p in zip(gold[i], predicted[i], strict=True)]
        values.append(100 * sum(pairs) / len(pairs))
    score = score_tags(gold, predicted, gold, [], num_resamples=200, seed=3)
    assert score.interval == pytest.approx(reference.interval(values))
    assert score.interval[0] < score.accuracy < score.interval[1]


def test_interval_narrows_with_more_sentences():
    widths = []
    for num_sentences in (50, 800):
        gold, predicted = drawn(num_sentences, 0.8)
        low, high = score_tags(gold, predicted, gold, [], num_resamples=300).interval
        widths.append(high - low)
    assert widths[1] < widths[0] / 2


def test_json():
    score = hand_worked(known_tags=["DT", "NN", "VB"])
    stored = score.to_dict()
    assert json.loads(json.dumps(stored)) == stored
    assert stored["confusions"] == [["FW", "VB", 1], ["VB", "NN", 1]]
    assert stored["tags"][0]["tag"] == "DT"
    assert stored["interval"] == list(score.interval)


@pytest.mark.parametrize(
    ("gold", "predicted", "words", "message"),
    [
        ([["A"]], [], [["x"]], "sentences must be equal. Received: 1 in `gold`, 0 in `predicted`"),
        ([["A"], ["A"]], [["A"], []], [["x"], ["x"]], "words in sentence 1 must be equal. Received: 1 in `gold`, 0 in `predicted`, 1 in `words`"),  # noqa: E501
        ([], [], [], "no word to score"),
        ([[]], [[]], [[]], "no word to score"),
    ],
)  # fmt: skip
def test_errors(gold, predicted, words, message):
    with pytest.raises(ConfigError, match=message):
        score_tags(gold, predicted, words, [])


def test_tables():
    accuracies, tags, mistakes = tagging_tables(hand_worked(known_tags=["DT", "NN", "VB"]))
    names = ["all words", "known words", "unknown words", "whole sentences"]
    assert list(accuracies.columns[0].cells) == names
    assert list(accuracies.columns[2].cells) == ["66.67", "100.00", "33.33", "33.33"]
    assert next(iter(tags.columns[0].cells)) == "NN"
    assert tags.caption == "Not seen in training, so always wrong: FW (1)."
    assert list(mistakes.columns[3].cells) == ["50.0 %", "50.0 %"]
    assert len(tagging_tables(score_tags([["A"]], [["A"]], [["x"]], [], num_resamples=0))) == 2
