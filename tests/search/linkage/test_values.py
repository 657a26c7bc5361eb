"""Cells and kinds of columns."""

from __future__ import annotations

import numpy as np
import pytest

from tf_charagram.errors import ConfigError
from tf_charagram.search._pairs.word_lists import WordLists
from tf_charagram.search.linkage._columns.columns import MISSING, cells_of, make_column
from tf_charagram.search.linkage._columns.dates import date_of
from tf_charagram.search.linkage._columns.kinds import KINDS, kind_of
from tf_charagram.search.linkage._columns.names import (
    are_aliases,
    may_be_aliases,
    telling_words,
)
from tf_charagram.search.linkage._columns.shared_words import (
    OtherWords,
    are_all_alike,
    are_sized,
    contradict,
)
from tf_charagram.search.linkage._columns.values import folded, is_missing, number_of
from tf_charagram.search.linkage._fellegi_sunter.evidence import compare_column, num_levels


@pytest.mark.parametrize("cell", ["", " ", "NULL", "N/A", "nan", "-", "None", "n.a.", "#N/A"])
def test_missing_values(cell):
    assert is_missing(cell)


@pytest.mark.parametrize("cell", ["0", "Nancy", "no", "a", "---a"])
def test_values_that_are_not_missing(cell):
    assert not is_missing(cell)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1,200.50", 1200.5), ("€ 12", 12), ("8.10 %", 8.1), ("-3.5 kg", -3.5), ("1,200", 1200),
     ("1.200", 1.2), ("1.200.000", 1200000), ("51 clancy street", None), ("INV-12", None),
     ("12-13", None), ("x", None)],
)  # fmt: skip
def test_numbers(text, expected):
    assert number_of(text) == expected


def test_dates():
    for text in ("2020-03-04", "20200304", "04.03.2020", "4/3/2020", "2020/03/04T10:00"):
        assert date_of(text) == "20200304"
    assert (
        date_of("2020\u5e743\u670804\u65e5") == date_of("2020\ub144 3\uc6d4 4\uc77c") == "20200304"
    )
    assert date_of("12/31/2020") == "20201231"
    assert [date_of(text) for text in ("2020-13-01", "31.2.2020", "soon", "99990101")] == [None] * 4


@pytest.mark.parametrize(
    ("left", "right"),
    [("C++", "C#"), ("A+", "A-"), ("-5", "5"), ("Galaxy S8+", "Galaxy S8"),
     ("\u0930\u093e\u092e", "\u0930\u092e\u093e"), ("\u304c\u304f", "\u304b\u304f"),
     ("\u0e02\u0e48\u0e32\u0e27", "\u0e02\u0e49\u0e32\u0e27")],
    ids=["languages", "grades", "numbers", "products", "hindi", "kana", "thai"],
)  # fmt: skip
def test_signs_and_marks_that_spell_a_word_stay(left, right):
    assert folded(left) != folded(right)
    column = make_column("name", [left], [right])
    assert column.left[0] != column.right[0]


@pytest.mark.parametrize(
    ("firm", "name"),
    [("Orlen Sp. z o.o.", "orlen"), ("Maersk A/S", "maersk"), ("Eni S.p.A.", "eni"),
     ("\u0160koda a.s.", "skoda"), ("Nokia Oyj", "nokia"), ("PT Astra Tbk", "astra"),
     ("Cemex S.A. de C.V.", "cemex"), ("Siemens AG & Co. KGaA", "siemens"), ("S.A.", "sa"),
     ("\u041e\u041e\u041e \u0420\u043e\u0437\u0430", "\u0440\u043e\u0437\u0430"),
     ("\u682a\u5f0f\u4f1a\u793e\u65e5\u7acb", "\u65e5\u7acb"),
     ("\u65e5\u7acb\u682a\u5f0f\u4f1a\u793e", "\u65e5\u7acb"),
     ("\u3231\u65e5\u7acb", "\u65e5\u7acb"), ("(\u682a)\u65e5\u7acb", "\u65e5\u7acb"),
     ("\u534e\u4e3a\u6709\u9650\u516c\u53f8", "\u534e\u4e3a"),
     ("\uc8fc\uc2dd\ud68c\uc0ac \uc0bc\uc131", "\uc0bc\uc131"),
     ("\u682a\u5f0f\u4f1a\u793e", "\u682a\u5f0f\u4f1a\u793e")],
    ids=lambda value: ascii(value),
)  # fmt: skip
def test_legal_forms(firm, name):
    assert telling_words(folded(firm)) == name


def test_folded():
    assert folded(" Ångström-Øre, GmbH ") == "angstrom ore gmbh"
    assert folded("I.B.M.") == "ibm" and folded("?!") == "?!"


@pytest.mark.parametrize(
    ("kind", "values"),
    [("date", ["1980-01-02", "19800105", "3.4.2020", "1980-17-02"]),
     ("number", ["1.50", "12", "$ 1,200.00"]), ("number", ["5.1 %", "7 %"]),
     ("code", ["2066", "3191", "4001"]), ("code", ["INV-1", "INV-22"]),
     ("code", ["a@b.c", "d@e.f"]), ("code", ["+44 20 1234 5678", "020 7946 0018"]),
     ("name", ["Ann", "Bob Lee", "de la Cruz"]), ("name", ["Lee, Ann B", "Ray, Bob T"]),
     ("text", ["51 clancy street", "3 north road"]), ("text", ["black leather shoe for men"]),
     ("text", ["Sony black\nheadphones", "Bosch drill 18V", "Makita saw with case"]),
     ("list", ["A01B; C02D", "B01", "C07"] * 2 + ["D04|E05"]),
     ("text", [])],
)  # fmt: skip
def test_kinds(kind, values):
    assert kind_of(values).name == kind


@pytest.mark.parametrize(
    "pair",
    [("william", "bill"), ("bob", "robert"), ("bill", "will"), ("j smith", "john smith"),
     ("ibm", "international business machines"), ("muller", "mueller")],
)  # fmt: skip
def test_aliases(pair):
    assert are_aliases(*pair) and are_aliases(*pair[::-1])


@pytest.mark.parametrize("pair", [("william", "walter"), ("ib", "ian"), ("j smith", "ann smith")])
def test_others_are_no_aliases(pair):
    assert not are_aliases(*pair)


def similarity(kind, left, right):
    pairs = np.array([[0, 1]])
    read = KINDS[kind].reader([left, right])
    values = [read(left), read(right)]
    return KINDS[kind].similarities(values, pairs)[0]


def test_similarities():
    assert similarity("name", "William", "Bill") > similarity("name", "William", "Walter")
    assert similarity("number", "100", "1000") == pytest.approx(0.1)
    assert similarity("date", "1980-01-02", "1980-02-01") == pytest.approx(0.9)
    assert similarity("date", "1980-01-02", "1980-01-30") == pytest.approx(0.7)
    assert similarity("date", "1980-01-31", "1980-02-02") == pytest.approx(0.95)
    assert similarity("date", "1980-01-02", "1955-11-30") == 0
    # Another digit next to the same letters is another thing.
    assert similarity("code", "anna78@x.org", "anna79@x.org") < 0.7
    assert similarity("code", "anna78@x.org", "ana78@x.org") > 0.85
    assert similarity("text", "51 clancy street", "clancy street 51") > 0.8


def test_the_end_of_a_long_code_is_near():
    assert similarity("code", "UCW0XRXX51K7E93X9", "1K7E93X9") == pytest.approx(0.9)
    assert similarity("code", "+49 30 7654321", "7654321") == pytest.approx(0.9)
    # Its start is a family of codes, and a few characters are alike by chance.
    assert similarity("code", "UCW0XRXX51K7E93X9", "UCW0XRXX5") < 0.6
    assert similarity("code", "UCW0XRXX51K7E93X9", "93X9") < 0.6


def test_people_of_a_family_are_not_near():
    names = ["Garcia, Anna", "Garcia, Peter", "Garzia, Anna M", "Lindquist, Maria", "Olsen, Maria"]
    column = make_column("name", names, None)
    pairs = np.array([[0, 1], [0, 2], [3, 4]])
    levels = compare_column(column, pairs).levels
    last = num_levels(column) - 1
    assert levels[[0, 2]].tolist() == [last, last] and levels[1] < last
    # Words of towns change with the language.
    towns = make_column("town", ["Lake Como", "Lago Como"], None)
    assert compare_column(towns, pairs[:1]).levels[0] < last


def test_legal_forms_are_no_part_of_a_name():
    column = make_column("firm", ["Acme, Inc.", "Acme", "Acme GmbH & Co. KG"], None)
    assert column.left.tolist() == [0, 0, 0]


def test_tables():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    table = {"name": ["Ann", None, "NULL", "Bob"], "age": [1, 2, None, 4]}
    frame = pandas.DataFrame(table)
    frame["when"] = pandas.to_datetime(["2020-01-02", None, None, "2020-01-03"])
    for each in (table, frame, polars.DataFrame(table), pyarrow.table(table)):
        assert cells_of(each, "name", "left") == ["Ann", "", "", "Bob"]
        assert [cell[:1] for cell in cells_of(each, "age", "left")] == ["1", "2", "", "4"]
    assert kind_of([cell for cell in cells_of(frame, "when", "left") if cell]).name == "date"
    with pytest.raises(ConfigError, match=r"Unknown column 'nam'\. Did you mean 'name'"):
        cells_of(table, "nam", "left")
    with pytest.raises(ConfigError, match="`left` must be a data frame or a mapping"):
        cells_of(["a"], "name", "left")


def test_a_column_of_two_tables():
    column = make_column("n", ["Ann", "", "ANN"], ["ann ", "Bob"])
    assert column.values == ["ann", "bob"]
    assert column.left.tolist() == [0, MISSING, 0] and column.right.tolist() == [0, 1]
    # What is no number has no value.
    column = make_column("n", ["1", "many"], None, "number")
    assert column.left.tolist() == [0, MISSING]
    with pytest.raises(ConfigError, match="Unknown kind of column 'nmae'"):
        make_column("n", ["a"], None, "nmae")


@pytest.mark.parametrize(
    "cells", [[["x"], []], [[None], None], [np.array(["x"]), None], [{"a": 1}], [("x",)], [b"\xff"]]
)
def test_cells_that_are_no_values(cells):
    with pytest.raises(
        ConfigError, match=r"`left` cannot be compared: column tags has (an |bytes)"
    ):
        cells_of({"tags": cells}, "tags", "left")


def test_lists_of_data_frames():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"tags": [["x"], []]})
    with pytest.raises(ConfigError, match="column tags has an array, not a text"):
        cells_of(frame, "tags", "left")
    assert cells_of({"x": [b"caf\xc3\xa9", b""]}, "x", "left") == ["café", ""]


def test_zeros_are_equal():
    column = make_column("x", ["0.0", "-0.0", "-0", "0", "1"], None, "number")
    assert column.left.tolist() == [0, 0, 0, 0, 1]


@pytest.mark.parametrize(("cell", "seconds"), [("4:05", 245), ("1:00:07", 3607), ("12:60:1", None)])
def test_durations_are_seconds(cell, seconds):
    assert number_of(cell) == seconds


def test_pairs_are_decided_by_numbers_as_by_strings():
    rng = np.random.default_rng(0)
    words = "red blue l xl 250 ml 16gb ii iii x1 salted unsalted non vegan butter buter".split()
    texts = [" ".join(rng.choice(words, rng.integers(0, 7))) for _ in range(400)]
    pairs = rng.integers(0, len(texts), (20_000, 2))
    lists = WordLists.of_texts(texts)
    others = OtherWords(lists, pairs)
    may_differ = others.may_contradict() | are_sized(lists)[pairs].all(axis=1)
    sides = [[texts[row] for row in rows] for rows in pairs.T]
    differ = np.array([*map(contradict, *sides)])
    assert not (differ & ~may_differ).any() and (~differ & ~may_differ).sum() > 1000
    are_alike = np.array([*map(are_all_alike, *sides)])
    left_unlike, right_unlike = others.are_unlike()
    is_unlike = left_unlike | right_unlike
    assert not (is_unlike & are_alike).any() and (~is_unlike & are_alike).sum() > 100
    assert (left_unlike & ~right_unlike).sum() > 100 and (left_unlike & right_unlike).sum() > 100
    chosen = may_be_aliases(lists, pairs)
    are_other = np.array([*map(are_aliases, *sides)])
    assert np.isin(np.flatnonzero(are_other), chosen).all()
