"""Dates and times of day in any common form."""

from __future__ import annotations

import numpy as np
import pytest

from tf_charagram.search.linkage._columns.columns import make_column
from tf_charagram.search.linkage._columns.dates import are_of_one_time, date_of, date_reader
from tf_charagram.search.linkage._columns.times import read_time
from tf_charagram.search.linkage._fellegi_sunter.evidence import compare_column

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


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("9h", "0900"), ("9h05", "0905"), ("9:00", "0900"), ("09:00:30", "0900"), ("0900", "0900"),
        ("930", "0930"), ("9 am", "0900"), ("2:30 pm", "1430"), ("2.30 p.m.", "1430"),
        ("12:15 AM", "0015"), ("12 pm", "1200"), ("14.30 Uhr", "1430"), ("24:00", "0000"),
        ("14 pm", ""), ("25:00", ""), ("9:75", ""), ("1975", ""), ("9.30", ""), ("9", ""),
    ],
)  # fmt: skip
def test_times(text, time):
    assert read_time(text) == time


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        (["9:00", "14:30"], ["9 am", "2:30 pm"], "time"),
        (["0900", "1430"], ["9:00", "14:30"], "time"),
        (["9h", "14h30"], None, "time"),
        # Lengths of songs, which may be seconds in one table.
        (["4:05", "3:59"], ["4:05", "3:59"], "number"),
        (["4:05", "3:07"], ["245", "187"], "number"),
        (["7.5h", "8h"], None, "number"),
    ],
)
def test_times_are_told_from_durations(left, right, kind):
    assert make_column("start", left, right).kind.name == kind


def test_times_are_near_by_minutes():
    column = make_column("start", ["9:00", "9:05", "9:15", "10:00", "10:01"], ["9 am"])
    pairs = np.array([[row, 0] for row in range(5)])
    assert compare_column(column, pairs).levels.tolist() == [1, 2, 3, 4, 5]


def test_dates_of_one_time():
    january = [f"202401{day:02}" for day in range(1, 31)]
    february = [f"202402{day:02}" for day in range(1, 29)]
    assert are_of_one_time([january]) and are_of_one_time([january, january[::2]])
    assert not are_of_one_time([january, february])
    assert are_of_one_time([january, [*january, *february]])
    assert not are_of_one_time([january, ["", ""]])
    # Days that are few apart are nearer than days of two months, if the tables are of one time.
    column = make_column("day", ["20240131", *january], ["20240202", *january])
    assert compare_column(column, np.zeros((1, 2), np.int64)).similarities == pytest.approx(0.95)
    column = make_column("day", ["20240131", *january], ["20240202", *february])
    assert compare_column(column, np.zeros((1, 2), np.int64)).similarities == pytest.approx(0.7)
