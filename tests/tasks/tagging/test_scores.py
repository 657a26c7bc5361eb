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
from tf_charagram.evaluation._scores.statistics import resample_counts
from tf_charagram.evaluation.classification import LabelScore
from tf_charagram.tasks.tagging._conllu.data import TaggedSentence
from tf_charagram.tasks.tagging._conllu.scores import score_raw, score_tags, tagging_tables
from tf_charagram.tasks.tagging.model import TaggedToken

GOLD = [["DT", "NN", "VB"], ["NN", "NN"], ["FW"]]
PREDICTED = [["DT", "NN", "NN"], ["NN", "NN"], ["VB"]]
WORDS = [["the", "cat", "eats"], ["cat", "food"], ["vin"]]


def hand_worked(num_resamples=0):
    return score_tags(GOLD, PREDICTED, WORDS, {"the", "cat"}, num_resamples=num_resamples)


def test_hand_worked():
    """4 of 6 words are right: all 3 known ones, the, cat, cat, and 1 of eats, food, vin."""
    score = hand_worked()
    assert (score.num_sentences, score.num_tokens) == (3, 6)
    assert score.accuracy == pytest.approx(400 / 6)
    assert (score.num_known, score.known_accuracy) == (3, 100)
    assert (score.num_unknown, score.unknown_accuracy) == (3, pytest.approx(100 / 3))
    assert score.sentence_accuracy == pytest.approx(100 / 3)
    assert score.tags == (
        LabelScore("DT", 1, 100, 100, 100),
        LabelScore("FW", 1, None, 0, 0),
        # Precision 3/4, recall 3/3: F1 = 2 * 3 / (3 + 4).
        LabelScore("NN", 3, 75, 100, pytest.approx(600 / 7)),
        LabelScore("VB", 1, 0, 0, 0),
    )
    assert score.mistakes == (("FW", "VB", 1), ("VB", "NN", 1))
    assert score.interval is None


def test_no_known_or_no_unknown_words():
    score = score_tags([["A"]], [["B"]], [["x"]], ["x"])
    assert (score.num_unknown, score.unknown_accuracy) == (0, None)
    assert score.tags[1] == LabelScore("B", 0, 0, None, 0)
    score = score_tags([["A"]], [["A"]], [["x"]], [])
    assert (score.num_known, score.known_accuracy) == (0, None)
    assert score.mistakes == ()


tag_lists = st.lists(
    st.lists(st.sampled_from("ABCD"), min_size=1, max_size=5), min_size=1, max_size=6
)


@settings(max_examples=50)
@given(tag_lists, st.data())
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
    assert {(g, p): count for g, p, count in score.mistakes} == wrong
    assert [c for _, _, c in score.mistakes] == sorted(wrong.values(), reverse=True)
    right = sum(list(g) == list(p) for g, p in zip(gold, predicted, strict=True))
    assert score.sentence_accuracy == pytest.approx(100 * right / len(gold))


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
    score = score_tags(gold, predicted, gold, [], num_resamples=200, seed=3)
    assert score.interval == pytest.approx(reference.interval(values))
    assert score.interval[0] < score.accuracy < score.interval[1]


def test_json():
    score = hand_worked(num_resamples=9)
    stored = score.to_dict()
    stored = json.loads(json.dumps(stored))
    assert stored["mistakes"] == [["FW", "VB", 1], ["VB", "NN", 1]]
    assert stored["tags"][0]["label"] == "DT"
    assert stored["interval"] == list(score.interval)


def test_tables():
    accuracies, tags, mistakes = tagging_tables("[x]", hand_worked())
    assert accuracies.title == r"\[x]: Accuracy x 100"
    assert list(accuracies.columns[2].cells) == ["66.67", "100.00", "33.33", "33.33", "-", "-"]
    assert next(iter(tags.columns[0].cells)) == "NN"
    assert list(mistakes.columns[2].cells) == ["1", "1"]
    right = score_tags([["A"]], [["A"]], [["x"]], [], num_resamples=0)
    assert len(tagging_tables("x", right)) == 2


def test_raw_text():
    """Gold: `can` `not` `go` `10 000`; found: `cannot` `go` `10` `000`: 1 token of (4 + 4) / 2."""
    words, tags = ("can", "not", "go", "10 000"), ("MD", "RB", "VB", "CD")
    gold = [TaggedSentence(words, tags, "cannot  go 10 000")]
    spans = [("MD", 0, 6), ("VB", 8, 10), ("CD", 11, 13), ("CD", 14, 17)]
    found = [[TaggedToken("", tag, 1.0, start, end) for tag, start, end in spans]]
    assert score_raw(gold, found) == (25.0, 25.0)
    other = [[token._replace(tag="X") for token in found[0]]]
    assert score_raw(gold * 2, found + other) == (25.0, 12.5)
