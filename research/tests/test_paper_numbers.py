"""The papers' numbers are whole, and have the means that the papers state."""

from __future__ import annotations

from pathlib import Path

import pytest

import research.paper_tables
from research.paper_numbers import (
    CSE_MEAN,
    CSE_SETS,
    MEANS,
    PAPER_MEAN,
    PAPER_SETS,
    paper_scores,
    with_means,
)
from research.paper_tables import paper_table
from tf_charagram.encoders import ENCODERS

NAMES = sorted(
    path.stem for path in (Path(research.paper_tables.__file__).parent / "numbers").iterdir()
)


def test_the_sets():
    assert len(PAPER_SETS) == 22 and len(CSE_SETS) == 20
    assert set(PAPER_SETS) - set(CSE_SETS) == {"STS2013.SMT", "Twitter"}


@pytest.mark.parametrize("name", NAMES)
def test_tables_are_whole(name):
    table = paper_table(name)
    assert table.rows and len(set(table.columns)) == len(table.columns)
    labels = [row[0] for row in table.rows]
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_sets_have_the_means_the_papers_say(encoder):
    """They are means of numbers that were rounded to 0.1."""
    paper = paper_scores(encoder, {})
    for year in range(2012, 2017):
        names = [name for name in paper.scores if name.startswith(f"STS{year}.")]
        if f"STS{year}" in paper.scores:
            assert paper.mean_over(names) == pytest.approx(paper.scores[f"STS{year}"], abs=0.11)
    for mean, sets in MEANS.items():
        if mean in paper.scores:
            assert paper.mean_over(sets) == pytest.approx(paper.scores[mean], abs=0.06)
    assert paper.mean_over(["SICK.test", "mine"]) is None


@pytest.mark.parametrize(
    ("encoder", "expected"),
    [
        ("charagram", {"SL999": 63.33, "WS353": 53.87, "RW": 47.1, PAPER_MEAN: 68.7}),
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


def test_options_and_encoders_without_numbers():
    paper = paper_scores("lstm", {"use_output_gate": False})
    assert paper.scores["STS2012.MSRpar"] == 16.1
    assert paper.source.startswith("lstm without output gate: Universal (2016)")
    assert paper_scores("ngram_mean", {}) is None
    # The paper has it only as a tagger.
    assert paper_scores("charagram", {"num_layers": 2}) is None


def test_means_are_over_the_sets_that_are_there():
    """CSE leaves SMT and Twitter out."""
    scores = {"STS2013.FNWN": 10.0, "STS2013.SMT": 20.0, "SICK.test": 60.0, "STS2013.OnWN": None}
    assert with_means(scores) == {**scores, PAPER_MEAN: 30.0, CSE_MEAN: 35.0}
    assert with_means({"SL999": 1.0}) == {"SL999": 1.0}
