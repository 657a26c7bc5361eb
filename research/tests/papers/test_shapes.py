"""Our numbers in the shape of the papers' tables."""

from __future__ import annotations

import pytest

from research.analysis.table import Table
from research.papers.claims import all_above, is_above, is_above_throughout, is_within
from research.papers.result import Result
from research.papers.shapes import (
    beside,
    last,
    paper_numbers,
    sts_beside,
    with_columns,
    with_paper,
    years_beside,
)

SCORES = {
    "charagram": {"STS2013.OnWN": 60.0, "STS2013.FNWN": 40.0, "SICK.test": 70.0},
    "word_average": {"STS2013.OnWN": 50.0, "SICK.test": 65.0},
}


def test_means_are_over_the_sets_that_are_here():
    ours, paper = sts_beside("charagram-11", SCORES, "T")
    year = "STS2013, 2 of 4 sets"
    assert [row[0] for row in ours.rows] == [
        "STS2013.OnWN", "STS2013.FNWN", year, "SICK.test", "mean, 3 of 22 sets",
    ]  # fmt: skip
    assert ours.column("charagram")[year] == 50.0
    assert paper.column("charagram")[year] == pytest.approx((67.8 + 42.3) / 2, abs=0.01)
    # One of the sets was not scored: no mean.
    assert ours.column("word_average")[year] is None
    assert last(ours, "charagram") == pytest.approx(170 / 3, abs=0.01)
    assert last(ours, "word_average") is None


def test_a_whole_year_keeps_the_papers_own_mean():
    scores = {
        "charagram": {f"STS2013.{name}": 1.0 for name in ("headlines", "OnWN", "FNWN", "SMT")}
    }
    ours, paper = sts_beside("charagram-11", scores, "T")
    assert ours.column("charagram")["STS2013"] == 1.0
    assert paper.column("charagram")["STS2013"] == 57.2


def test_years():
    """The mean is over the sets of S of 2012 to 2015: neither STS 2016 nor SMT is in its tables."""
    of_sets = {"STS2012.OnWN": 40.0, "STS2013.OnWN": 60.0, "STS2013.FNWN": 50.0}
    of_others = {"STS2013.SMT": 9.0, "STS2013": 30.0, "STS2016": 60.0, "STS": 55.0}
    scores = {"cumulative": of_sets | of_others, "phrases": {}}
    ours, paper = years_beside("cse-4", scores, "T")
    assert ours.rows == (
        ("STS2012", None, None, 40.0), ("STS2013", None, None, 55.0),
        ("STS2016", None, None, 60.0), ("mean", None, None, 50.0),
    )  # fmt: skip
    assert paper.column("cumulative")["STS2013"] == 68.8 and "all of a year" in ours.notes[0]


def test_ours_and_theirs_share_cells():
    made = beside("charagram-4", {"accuracy": {"charagram": 93.5}}, "T")
    table = Result(made.ours, made.paper).beside
    assert table.column("accuracy")["charagram"] == "93.5 (97.0)"
    assert table.column("accuracy")["char_lstm"] == "(96.9)"


def test_missing_columns_stay_empty():
    table = Table("T", ("words", "pairs", "charagram"), (("5", 20, 71.0),))
    shaped = with_columns(table, paper_numbers("charagram-7"))
    assert shaped.columns == ("words", "pairs", "word_average", "charagram")
    assert shaped.rows == (("5", 20, None, 71.0),)


def test_words_of_the_paper_stand_beside():
    table = with_paper(Table("T", ("text", "m"), (("not easy", "hard"), ("x", "y"))), "charagram-8")
    assert table.columns == ("text", "m", "charagram, paper", "word_average, paper")
    assert table.rows[0][2] == "easy, difficult, tough" and table.rows[1][2:] == (None, None)


def test_claims():
    assert is_above(3, [1, 2]) is True and is_above(3, [3]) is False
    assert is_above(None, [1]) is None and is_above(3, [None]) is None and is_above(3, []) is None
    assert all_above([3, 4], [1, 2]) is True and all_above([3, 1], [2]) is False
    assert all_above([3, None], [1]) is None
    assert is_within([1.0, 1.2], 0.3) is True and is_within([1.0, 2.0], 0.3) is False
    assert is_within([1.0, None], 0.3) is None
    assert is_above_throughout([3, 3, None], [1, 2, 9], [2, 1, 9]) is True
    assert is_above_throughout([3, 1], [1, 2]) is False
    assert is_above_throughout([None, 3], [1, None]) is None


def test_results_survive_json():
    result = Result(Table("T", ("a", "b"), (("x", 1.0),)), None, {"c": None}, ("d",))
    assert Result.from_dict(result.to_dict()) == result


def test_a_result_keeps_what_a_saved_one_has_of_lost_runs():
    saved = Result(
        Table("T", ("set", "a", "b"), (("x", 1.0, 2.0), ("y", 3.0, 4.0), ("z", 5.0, 6.0))),
        None,
        {"told": True, "told again": True},
        ("PPDB was not at hand; instead: X.", "t/a, t/b: 2 of 10 epochs.", "An old note."),
    )
    new = Result(
        Table("T", ("set", "a", "b"), (("w", 0.0, None), ("x", 9.0, None), ("z", 7.0, None))),
        None, {"told": None, "told again": False, "untold": None}, ("t/a: 3 of 10 epochs.",),
    )  # fmt: skip
    result = new.filled_from(saved, ["t/b"])
    assert result.ours.rows == (
        ("w", 0.0, None), ("x", 9.0, 2.0), ("y", 3.0, 4.0), ("z", 7.0, 6.0),
    )  # fmt: skip
    assert result.claims == {"told": True, "told again": False, "untold": None}
    assert result.differences == (
        "t/a: 3 of 10 epochs.", "PPDB was not at hand; instead: X.", "t/b: 2 of 10 epochs.",
    )  # fmt: skip
