"""The papers' numbers: whole, and their means are means."""

from __future__ import annotations

import numpy as np
import pytest

from research.paper_numbers import MEAN
from research.papers.shapes import paper_numbers
from research.readers.twitter import NAME as TWITTER
from tf_charagram.data.readers.sick import SICK_TEST
from tf_charagram.data.readers.sts import STS_SETS

_STS = ("charagram-11", "universal-2", "universal-4", "cse-1", "cse-2")


@pytest.mark.parametrize("number", _STS)
def test_sets_are_ours(number):
    known = {f"STS{year}.{name}" for year, names in STS_SETS.items() for name in names}
    known |= {f"STS{year}" for year in STS_SETS} | {SICK_TEST, TWITTER, MEAN}
    assert {row[0] for row in paper_numbers(number).rows} <= known


@pytest.mark.parametrize("number", _STS)
def test_means_by_year_are_those_of_the_sets(number):
    table = paper_numbers(number)
    for column in table.columns[1:]:
        cells = table.column(column)
        for year in STS_SETS:
            sets = [value for name, value in cells.items() if name.startswith(f"STS{year}.")]
            if sets and None not in sets:
                assert cells[f"STS{year}"] == pytest.approx(np.mean(sets), abs=0.11), (column, year)


@pytest.mark.parametrize("number", ["charagram-11", "cse-1"])
def test_the_mean_is_over_all_sets(number):
    table = paper_numbers(number)
    for column in table.columns[1:]:
        cells = table.column(column)
        sets = [value for name, value in cells.items() if "." in name or name == TWITTER]
        assert cells[MEAN] == pytest.approx(np.mean(sets), abs=0.11), column


def test_table_3_is_part_of_table_11():
    whole = paper_numbers("charagram-11")
    part = paper_numbers("charagram-3")
    assert part.columns == whole.columns
    assert all(row in whole.rows for row in part.rows)


def test_dashes_are_nothing():
    assert paper_numbers("universal-6").column("uni-skip") == {
        "similarity": 84.77, "entailment": None, "sentiment": None,
    }  # fmt: skip
