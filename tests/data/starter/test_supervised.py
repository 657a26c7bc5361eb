"""The starter sets of the supervised tasks: size, balance, splits, and agreement of the columns."""

from __future__ import annotations

from collections import Counter
from importlib import resources
from itertools import combinations

import numpy as np
import pytest

from tf_charagram.data.starter import supervised
from tf_charagram.errors import ConfigError
from tf_charagram.tasks.labelled_reader import (
    read_labelled_pairs,
    read_labelled_texts,
    read_scored_pairs,
)

FOLDER = resources.files("tf_charagram.data.starter")


def sentences(pairs):
    return {text.lower() for text in (*pairs.left, *pairs.right)}


def test_sizes():
    sizes = {s: len(supervised.inference(s)) for s in supervised.SPLITS}
    assert sum(sizes.values()) >= 360 and min(sizes.values()) >= 36
    sizes = {s: len(supervised.sentiment(s)) for s in supervised.SPLITS}
    assert sum(sizes.values()) >= 400 and min(sizes.values()) >= 40


@pytest.mark.parametrize("split", supervised.SPLITS)
def test_balance(split):
    counts = Counter(supervised.inference(split).labels)
    assert set(counts) == {"ENTAILMENT", "NEUTRAL", "CONTRADICTION"}
    assert max(counts.values()) == min(counts.values())
    counts = Counter(supervised.sentiment(split).labels)
    assert set(counts) == {"0", "1"} and counts["0"] == counts["1"]


def test_no_text_is_in_two_splits():
    for one, other in combinations(supervised.SPLITS, 2):
        pairs = [supervised.inference(split) for split in (one, other)]
        assert sentences(pairs[0]).isdisjoint(sentences(pairs[1]))
        reviews = [set(map(str.lower, supervised.sentiment(split).texts)) for split in (one, other)]
        assert reviews[0].isdisjoint(reviews[1])


@pytest.mark.parametrize("split", supervised.SPLITS)
def test_texts_are_clean_and_distinct(split):
    pairs, reviews = supervised.inference(split), supervised.sentiment(split)
    assert len(set(zip(pairs.left, pairs.right, strict=True))) == len(pairs)
    assert set(pairs.right).isdisjoint(pairs.left)
    assert len(set(reviews.texts)) == len(reviews.texts)
    for text in (*pairs.left, *pairs.right, *reviews.texts):
        assert text.isascii() and text == " ".join(text.split()) and len(text.split()) >= 3


@pytest.mark.parametrize("split", supervised.SPLITS)
def test_scores_agree_with_labels(split):
    pairs, scored = supervised.inference(split), supervised.relatedness(split)
    assert (scored.left, scored.right) == (pairs.left, pairs.right)
    labels = np.array(pairs.labels)
    ranges = {
        label: (scored.scores[labels == label].min(), scored.scores[labels == label].max())
        for label in set(pairs.labels)
    }
    assert 4.0 <= ranges["ENTAILMENT"][0] <= ranges["ENTAILMENT"][1] <= 5.0
    assert 3.0 <= ranges["CONTRADICTION"][0] <= ranges["CONTRADICTION"][1] <= 4.0
    # Neutral pairs are of the same scene or of another.
    assert 1.0 <= ranges["NEUTRAL"][0] <= 2.0 and 3.0 <= ranges["NEUTRAL"][1] < 4.0


def test_the_files_are_what_the_readers_read():
    """In the order of the file, the splits together are the file."""
    pairs = read_labelled_pairs(FOLDER / "inference.tsv")
    scored = read_scored_pairs(FOLDER / "inference.tsv")
    texts = read_labelled_texts(FOLDER / "sentiment.tsv")
    splits = [supervised.inference(split) for split in supervised.SPLITS]
    assert sorted(pairs.right) == sorted(text for split in splits for text in split.right)
    assert len(scored) == len(pairs)
    reviews = [supervised.sentiment(split) for split in supervised.SPLITS]
    assert sorted(texts.texts) == sorted(text for split in reviews for text in split.texts)


def test_unknown_split():
    for read in (supervised.relatedness, supervised.inference, supervised.sentiment):
        with pytest.raises(ConfigError, match=r"Unknown split 'tst'\. Did you mean 'test'"):
            read("tst")
