"""The papers' numbers: whose they are, and that they have the means that the papers state."""

from __future__ import annotations

import numpy as np
import pytest

from research.paper_numbers import (
    CSE_MEAN,
    CSE_SETS,
    PAPER_MEAN,
    PAPER_SETS,
    paper_number,
    paper_scores,
)
from tf_charagram.data.readers.scored import ScoredPairs
from tf_charagram.encoders import ENCODERS
from tf_charagram.evaluation.scores import score_names, score_sets


def test_the_sets():
    assert len(PAPER_SETS) == 22 and len(CSE_SETS) == 20
    assert set(PAPER_SETS) - set(CSE_SETS) == {"STS2013.SMT", "Twitter"}


@pytest.mark.parametrize("encoder", ENCODERS)
def test_sets_have_the_means_the_papers_say(encoder):
    """They are means of numbers that were rounded to 0.1."""
    paper = paper_scores(encoder, {})
    for year in range(2012, 2017):
        names = [name for name in paper.scores if name.startswith(f"STS{year}.")]
        if f"STS{year}" in paper.scores:
            assert paper.mean_over(names) == pytest.approx(paper.scores[f"STS{year}"], abs=0.11)
    assert set(paper.sets) <= paper.scores.keys()
    if paper.mean in paper.scores:
        assert paper.mean_over(paper.sets) == pytest.approx(paper.scores[paper.mean], abs=0.06)
    assert paper.mean_over(["SICK.test", "mine"]) is None


@pytest.mark.parametrize(
    ("encoder", "expected"),
    [
        (
            "charagram",
            {"SL999": 63.33, "WS353": 53.87, "RW": 47.1, PAPER_MEAN: 68.7, "STS2014": 74.7},
        ),
        ("char_cnn", {"SL999": 30.64, "WS353": 26.31, PAPER_MEAN: 59.2}),
        ("char_lstm", {"WS353": 48.27, PAPER_MEAN: 41.9, "Twitter": 39.9}),
        ("word_average", {PAPER_MEAN: 66.2, "STS2012": 58.5, "pavlick": 60.3}),
        ("projection", {"STS2012.SMTnews": 62.8, "SICK.test": 71.6, "pavlick": 61.0}),
        ("dan", {"Twitter": 53.7}),
        ("rnn", {"STS2015": 57.2}),
        ("identity_rnn", {"STS2013.FNWN": 45.3}),
        ("lstm", {"STS2012.MSRpar": 9.3, "STS2015": 56.0, "pavlick": 61.5}),
        ("cse", {CSE_MEAN: 68.5, "STS2013.FNWN": 29.8, "STS2016.plagiarism": 82.6}),
        ("gran", {"STS2013.OnWN": 81.4, "SICK.test": 72.9}),
    ],
)
def test_numbers(encoder, expected):
    paper = paper_scores(encoder, {})
    assert expected.items() <= paper.scores.items()
    assert paper.source.startswith(f"{encoder}: ")


def test_an_lstm_without_output_gate():
    paper = paper_scores("lstm", {"use_output_gate": False})
    assert paper.scores["STS2012.MSRpar"] == 16.1
    assert paper.source.startswith("lstm without output gate: Universal (2016)")


def test_no_paper_has_it():
    assert paper_scores("ngram_mean", {}) is None
    # The paper has it as a tagger alone.
    assert paper_scores("charagram", {"num_layers": 2}) is None
    assert paper_number("pos", "wsj:test", "ngram_mean", {}) is None


@pytest.mark.parametrize(
    ("task", "name", "encoder", "options", "value"),
    [
        ("pos", "wsj:test", "charagram", {}, 96.99),
        ("pos", "wsj:test", "charagram", {"num_layers": 2}, 97.10),
        ("similarity", "SICK.test", "word_average", {}, 86.40),
        ("similarity", "SICK_test_annotated", "cse", {}, 85.58),
        ("entailment", "SICK.test", "lstm", {"use_output_gate": False}, 83.2),
        ("sentiment", "sst.binary.test", "lstm", {}, 89.2),
        # Another set, another task, another part of the set.
        ("pos", "en_ewt-ud-test", "charagram", {}, None),
        ("sentiment", "SICK.test", "lstm", {}, None),
        ("similarity", "SICK.trial", "word_average", {}, None),
        ("words", "SICK.test", "word_average", {}, None),
        ("similarity", "SICK.test", "charagram", {}, None),
    ],
)
def test_numbers_of_labelled_tasks(task, name, encoder, options, value):
    number = paper_number(task, name, encoder, options)
    assert number is None if value is None else number.value == value


def make_sets():
    texts = ["a", "b", "c"]
    names = ("STS2013.FNWN", "STS2013.SMT", "SICK.test")
    return [
        ScoredPairs(name, texts, texts[::-1], np.arange(3.0), "pearson", name.partition(".")[0])
        for name in names
    ]


def embed(texts):
    random = np.random.default_rng(0)
    return random.normal(size=(len(texts), 4))


def test_means_over_the_sets_of_each_paper():
    """S leaves SMT out, so its number for 2013 is not over the same sets as ours."""
    sets = make_sets()
    paper = paper_scores("cse", {})
    scores = {score.name: score for score in score_sets(embed, sets, paper=paper)}
    assert list(scores) == score_names(sets, paper)
    assert list(scores)[-2:] == [PAPER_MEAN, CSE_MEAN]
    assert scores[CSE_MEAN].paper == round((29.8 + 71.9) / 2, 2)
    assert scores[CSE_MEAN].sets == ("STS2013.FNWN", "SICK.test")
    assert scores["STS2013"].paper is None and scores[PAPER_MEAN].paper is None
    assert "Twitter" in scores[PAPER_MEAN].missing and "Twitter" not in scores[CSE_MEAN].missing


def test_without_a_paper():
    scores = score_sets(embed, make_sets())
    assert {(score.paper, score.paper_source) for score in scores} == {(None, None)}
