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
