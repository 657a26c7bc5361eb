"""The starter sets: clean, balanced, and no text in two splits."""

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations

import pytest

from tf_charagram.data._tables.columns import read_labelled, read_scored_pairs
from tf_charagram.data.starter import graded_pairs, starter_file, train_pairs
from tf_charagram.tasks.labels.treebank import read_labelled_texts
from tf_charagram.tasks.tagging._conllu.data import read_tagged

SPLITS = ("train", "dev", "test")


def words_of(pairs):
    return set(chain.from_iterable(pair[:2] for pair in pairs))


@pytest.mark.parametrize("pairs", [train_pairs, graded_pairs])
def test_pairs_are_clean_and_distinct(pairs):
    rows = [row[:2] for row in pairs()]
    assert len({frozenset(row) for row in rows}) == len(rows)
    for first, second in rows:
        assert first != second
        assert all(w == w.strip().lower() and w.replace("-", "").isalpha() for w in (first, second))


def test_no_graded_word_is_trained_on():
    assert words_of(graded_pairs()).isdisjoint(words_of(train_pairs()))


@pytest.mark.parametrize("split", SPLITS)
def test_labels_are_balanced_and_agree_with_scores(split):
    file = starter_file("inference", split)
    pairs, scored = read_labelled(file, 2), read_scored_pairs(file)
    assert (scored.left, scored.right) == pairs.sides
    counts = Counter(pairs.labels)
    assert set(counts) == {"ENTAILMENT", "NEUTRAL", "CONTRADICTION"}
    assert len(set(counts.values())) == 1
    lowest = {"ENTAILMENT": 4.0, "CONTRADICTION": 3.0, "NEUTRAL": 1.0}
    assert all(
        score >= lowest[label] for label, score in zip(pairs.labels, scored.scores, strict=True)
    )
    reviews = Counter(read_labelled_texts(starter_file("sentiment", split)).labels)
    assert set(reviews) == {"0", "1"} and reviews["0"] == reviews["1"]


def _sentences(split):
    """Returns the lowercase texts of a split, by set."""
    pairs = read_labelled(starter_file("inference", split), 2)
    reviews = read_labelled_texts(starter_file("sentiment", split))
    tagged = read_tagged(starter_file("tagged", split))
    return {
        "inference": {text.lower() for side in pairs.sides for text in side},
        "sentiment": {text.lower() for text in reviews.sides[0]},
        "tagged": {" ".join(sentence.words).lower() for sentence in tagged},
    }


def test_no_text_is_in_two_splits():
    splits = {split: _sentences(split) for split in SPLITS}
    for name in splits["train"]:
        sizes = {split: len(splits[split][name]) for split in SPLITS}
        assert min(sizes.values()) >= 36 and sizes["train"] > 5 * sizes["dev"]
        for one, other in combinations(SPLITS, 2):
            assert splits[one][name].isdisjoint(splits[other][name])


def test_training_has_every_tag():
    read = {split: read_tagged(starter_file("tagged", split)) for split in SPLITS}
    tags = {split: {tag for sentence in read[split] for tag in sentence.tags} for split in SPLITS}
    assert tags["dev"] | tags["test"] <= tags["train"]
