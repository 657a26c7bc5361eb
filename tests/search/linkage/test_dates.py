"""Dates in any common form."""

from __future__ import annotations

import pytest

from tf_charagram.search.linkage._columns.columns import make_column
from tf_charagram.search.linkage._columns.dates import date_of, date_reader

BORN = "19470228"


@pytest.mark.parametrize(
    "text",
    ["28/02/47", "28.2.1947", "1947-02-28", "1947/2/28", "28-Feb-1947", "28 Feb. 47",
     "February 28, 1947", "Feb 28th, 1947", "28. Februar 1947", "28 février 1947",
     "28 de febrero de 1947", "28 febbraio 1947", "1947-02-28T10:30:00"],
)  # fmt: skip
def test_forms(text):
    assert date_of(text) == BORN


@pytest.mark.parametrize(
    "text", ["May", "12 Main Street", "June 5", "30 February 1980", "1 2 may 3"]
)
def test_other_texts_are_no_dates(text):
    assert date_of(text) is None


def test_the_column_decides_whether_the_month_comes_first():
    american = date_reader(["02/03/1980", "10/28/1947"])
    european = date_reader(["02/03/1980", "28/10/1947"])
    assert american("02/03/1980") == "19800203" and european("02/03/1980") == "19800302"
    # The other order is the only possible one.
    assert american("28/02/1947") == BORN


@pytest.mark.parametrize(
    "written", [["02/28/47", "12/31/99"], ["28-Feb-1947", "31-Dec-1999"], ["17226", "36525"]]
)
def test_two_tables_may_write_dates_in_two_ways(written):
    column = make_column("born", ["1947-02-28", "1999-12-31"], written)
    assert column.kind.name == "date"
    assert column.left.tolist() == column.right.tolist()


def test_numbers_on_both_sides_are_no_dates():
    assert make_column("zip", ["17226", "36525"], ["17226", "36525"]).kind.name == "code"
