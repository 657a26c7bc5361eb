"""Codes and names that two tables write otherwise, and columns in each other's place."""

from __future__ import annotations

import numpy as np
import pytest

from tests.search.linkage.conftest import COLUMNS, f1, pairs_of, people
from tests.texts import words
from tf_charagram.search import deduplicate, match
from tf_charagram.search.linkage._columns.columns import MISSING, make_column, read_columns
from tf_charagram.search.linkage._columns.kinds import KINDS
from tf_charagram.search.linkage._columns.values import code_of

NUMBERS = range(7, 400, 9)


@pytest.mark.parametrize(
    ("write_left", "write_right", "note"),
    [
        ("web{:02d}", "WEB{:02d}.prod.example.com", "`com`, `example`, `prod`, zeros in front"),
        ("{0}/6", "{0:05d}/0006", "zeros in front"),
        ("imo{}", "{}", "`imo`"),
        ("INV-2023-{:05d}", "{}/2023", "`inv`, zeros in front"),
        ("(BE) 0{0:03d}.4{0:03d}.{0:03d}", "{0}4{0:03d}{0:03d}", "`be`, zeros in front"),
        ("M/V {} star", "{} Star", "`m`, `v`"),
    ],
)
def test_constant_words_and_zeros_in_front_are_no_information(write_left, write_right, note):
    left = [write_left.format(number) for number in NUMBERS]
    right = [write_right.format(number) for number in NUMBERS]
    column = make_column("number", left, right)
    assert column.left.tolist() == column.right.tolist()
    assert len(set(column.left.tolist())) == len(NUMBERS)
    assert column.note == f"read without {note}"


def test_words_in_another_order_are_equal_if_no_table_has_both_orders():
    sizes = [(number, number % 7 + 2) for number in NUMBERS]
    left = [f"{one:03d}-{other}" for one, other in sizes]
    right = [f"{other}/{one}" for one, other in sizes]
    column = make_column("number", left, right)
    assert column.left.tolist() == column.right.tolist()
    assert column.note.endswith("without zeros in front and in any order")
    # Of these, 2/7 and 7/2 are two things.
    both = [f"{one}-{other}" for one in range(2, 9) for other in range(2, 9)]
    turned = [f"{other}/0{one}" for one in range(2, 9) for other in range(2, 9)]
    column = make_column("number", both, turned)
    assert [column.values[value] for value in column.right[:3]] == ["2 2", "3 2", "4 2"]
    assert column.note == "read without zeros in front"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        # Versions and units, with and without zeros.
        (["1.2", "1.20", "1.02", "2.0"] * 3, ["v1.2", "v1.20", "v1.02", "v2.0"] * 3),
        (["1", "11", "01", "1a"] * 3, ["Unit 1", "Unit 11", "Unit 01", "Unit 1a"] * 3),
    ],
)
def test_values_that_differ_in_one_table_stay_different(left, right):
    column = make_column("number", left, right)
    assert len({column.left[row] for row in range(4)}) == 4
    assert len({column.right[row] for row in range(4)}) == 4


@pytest.mark.parametrize(
    ("one", "other", "is_near"),
    [
        ("web01", "web01.dev.example.com", True),
        ("10302", "Rechnung 10302", True),
        # Another word, another size, another number.
        ("web01", "oldweb01", False),
        ("10302", "10302 L", False),
        ("web01", "web011.example.com", False),
        ("wh1000", "wh1000 xm5 black", False),
        ("A1", "A1 shelf", False),
        ("ann@bank.com", "ann@bank.com.example", False),
    ],
)
def test_codes_with_more_words_are_near(one, other, is_near):
    code = KINDS["code"]
    values = [code_of(one), code_of(other)]
    [similarity] = code.similarities(values, np.array([[0, 1]]))
    assert (similarity >= code.cutoffs[0]) == is_near


def test_numbers_of_two_years_are_not_equal():
    column = make_column(
        "number",
        [f"2023-{number:04d}" for number in NUMBERS],
        [f"2024-{number:04d}" for number in NUMBERS],
    )
    assert not set(column.left.tolist()) & set(column.right.tolist())
    assert not column.note


def test_numbers_of_their_own_are_left_out():
    left, right, truth = people(0, number=150, num_relatives=0)
    left["number"] = [f"C-{row:05d}" for row in range(len(left["born"]))]
    right["number"] = [str(len(right["born"]) - row) for row in range(len(right["born"]))]
    found = match(left, right, None, on=["number", *COLUMNS])
    assert found.links.columns[0].note == "numbers the rows of each table, and is left out"
    assert f1(pairs_of(found), truth) > 0.97


@pytest.mark.parametrize("write", ["{}", "C-{:05d}"])
def test_equal_row_numbers_of_different_things_are_no_evidence(write):
    draw = np.random.default_rng(0)
    tables = []
    for seed in (1, 2):
        numbers = [write.format(number) for number in range(1, 201)]
        countries = draw.choice(words(4), 200).tolist()
        names = [
            " ".join(pair) for pair in zip(words(200, seed), words(200, seed + 2), strict=True)
        ]
        tables.append({"no": numbers, "name": names, "country": countries})
    assert not match(*tables, None, on=list(tables[0])).pairs
    # Of the same things, they are.
    again = {**tables[0], "country": draw.choice(words(4), 200).tolist()}
    assert len(match(tables[0], again, None, on=list(again)).pairs) == 200


def test_row_numbers_of_one_table_are_no_evidence():
    left, right, truth = people(0, number=150, num_relatives=0)
    columns = ["last", "town"]
    table = {name: [*left[name], *right[name]] for name in columns}
    table["no"] = [f"C-{row:05d}" for row in range(len(table["last"]))]
    num_left = len(left["last"])
    found = deduplicate(table, None, on=["no", *columns])
    pairs = {tuple(sorted(group.rows)) for group in found.groups}
    assert f1(pairs, {(row, other + num_left) for row, other in truth}) > 0.7


INVOICES = [f"{2022 + number % 2}-{number:04d}" for number in NUMBERS]
MEMOS = [f"Payment of invoice {number}, {name} Ltd, many thanks" for number, name in
         zip(INVOICES, words(len(INVOICES)), strict=True)]  # fmt: skip


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (INVOICES, [f"RE {number} ACME" for number in INVOICES]),
        (MEMOS, INVOICES),
        (["MSKU1234567", "TGHU7654321"], ["HAM/MSKU1234567 20ft", "KIE/TGHU7654321 40ft"]),
    ],
)
def test_keys_inside_longer_values_are_read(left, right):
    column = make_column("reference", left, right)
    assert column.left.tolist() == column.right.tolist()
    assert len(set(column.left.tolist())) == len(left)
    assert column.note == "keys inside longer values are read"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        # Other keys, years, and short numbers.
        (INVOICES, [f"RE {number}5 ACME" for number in INVOICES]),
        (
            [str(1990 + row) for row in range(30)],
            [f"(C) {1990 + row % 9} {'AB'[row % 2] * row}" for row in range(1, 31)],
        ),
        ([str(row) for row in range(30)], [f"Room {row} North" for row in range(30)]),
    ],
)
def test_other_numbers_inside_longer_values_are_not_read(left, right):
    assert "keys" not in make_column("reference", left, right).note


@pytest.mark.parametrize(
    ("left", "right", "values"),
    [
        (["1.5 kg", "1500 g", "20 g", "0.02 kg"], None, ["1500.0", "20.0"]),
        (["3.4 m", "25 cm"], ["340 cm", "250 mm"], ["3400.0", "250.0"]),
        # One unit each, or units of two dimensions.
        (["5 kg", "6 kg"], ["7", "8"], ["5.0", "6.0", "7.0", "8.0"]),
        (["5 kg", "6 cm"], None, ["5.0", "6.0"]),
    ],
)
def test_units_of_one_dimension_are_converted(left, right, values):
    assert make_column("amount", left, right).values == values


def test_other_sizes_in_one_table_are_no_other_writing():
    names = words(150)
    sizes = ["500 g", "1 kg"]
    table = {"name": names * 2, "size": [*sizes * 75, *sizes[::-1] * 75]}
    found = deduplicate(table, None, on=["name", "size"])
    assert found.links.columns[1].note == "units are converted (g, kg)"


DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


@pytest.mark.parametrize(
    ("left", "right", "num_found"),
    [
        (DAYS, [day[:3] for day in DAYS], 7),
        # `Su` has letters of Saturday, and `Tu` of Thursday.
        ([day[:2] + "." for day in DAYS], DAYS, 7),
        (DAYS, ["M", "T", "W", "Th", "F", "Sa", "Su"], 7),
        (
            ["3 Oak Street", "5 Elm Avenue", "8 Oak Road"],
            ["3 Oak St.", "5 Elm Ave", "8 Oak Rd"],
            3,
        ),
        (["male", "female"], ["M", "F"], 2),
    ],
)
def test_words_that_a_table_abbreviates_are_equal(left, right, num_found):
    column = make_column("day", left, right)
    assert column.left.tolist() == column.right.tolist()
    assert column.note.startswith(f"{num_found} abbreviations read (")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        # Most of these words have no partner.
        (["Ann", "Bob", "Carl", "Dora"], ["Anna", "Bobby", "Emil", "Fred", "Gus", "Hal"]),
        # `Ma` fits three of them, and would be Maryland's.
        (["Massachusetts", "Maryland", "Maine"], ["MA", "MD", "ME"]),
        (["open", "closed"], ["on", "off"]),
    ],
)
def test_words_with_other_letters_or_several_short_forms_stay(left, right):
    assert "abbreviations" not in make_column("name", left, right).note


def test_names_are_not_read_as_their_initials():
    names = [word.title() for word in words(60)]
    column = make_column("first", names, sorted({name[0] for name in names}))
    assert len(set(column.left.tolist())) == len(names)


def test_abbreviations_of_one_table_are_equal():
    days = [*DAYS, *(day[:3] for day in DAYS)]
    column = make_column("day", days, None)
    assert column.left.tolist() == [*range(7), *range(7)]
    # Two words may be alike by chance.
    assert len(make_column("state", ["on", "open", "no", "not"], None).values) == 4


def test_columns_in_each_others_place_are_put_right():
    left, right, truth = people(1, number=150, num_relatives=0)
    right["first"], right["last"] = right["last"], right["first"]
    found = match(left, right, None, on=COLUMNS)
    notes = {column.name: column.note for column in found.links.columns}
    assert notes["first"] == "is `last` of the right table"
    assert notes["last"] == "is `first` of the right table"
    assert f1(pairs_of(found), truth) > 0.97


def test_rows_with_columns_in_each_others_place_are_named():
    left, right, truth = people(2, number=150, num_relatives=0)
    first, last = right["first"], right["last"]
    for row in range(0, len(first), 2):
        first[row], last[row] = last[row], first[row]
    found = match(left, right, None, on=COLUMNS)
    note = found.links.columns[COLUMNS.index("first")].note
    assert note.startswith("is in `last` of the right table in ")
    assert note.endswith(" rows, and compared crosswise")
    assert f1(pairs_of(found), truth) > 0.97


def test_teams_at_home_and_away_are_told_by_the_day():
    draw = np.random.default_rng(0)
    teams = words(12)
    games = [(one, other) for one in teams for other in teams if one != other]
    days = [f"2024-{draw.integers(1, 13):02d}-{draw.integers(1, 29):02d}" for _ in games]
    left = {"home": [one for one, _ in games], "away": [other for _, other in games], "day": days}
    right = {"home": left["away"], "away": left["home"], "day": days}
    columns = read_columns(left, right, ["home", "away", "day"])
    assert [column.source for column in columns] == [1, 0, 2]
    assert columns[0].left.tolist() == columns[0].right.tolist()


@pytest.mark.parametrize(
    ("value", "note"), [("ACME", "has one value only, which tells nothing"), ("", "has no values")]
)
def test_a_column_with_one_value_is_named(value, note):
    left, right, _ = people(0, number=40, num_relatives=10)
    for table in (left, right):
        table["firm"] = [value] * len(table["born"])
    column = read_columns(left, right, [*COLUMNS, "firm"])[-1]
    assert column.note == note


@pytest.mark.parametrize(
    ("kind", "values", "placeholder"),
    [
        ("date", [f"1980-01-{day:02}" for day in range(1, 31)], "1900-01-01"),
        ("number", [f"{number / 7:.2f}" for number in range(100, 150)], "999"),
        ("number", [f"{number / 7:.2f}" for number in range(100, 150)], "0"),
        ("code", [str(number) for number in range(10115, 10200)], "00000"),
    ],
)
@pytest.mark.parametrize("is_one_table", [True, False])
def test_a_value_that_stands_for_none(kind, values, placeholder, is_one_table):
    cells = [*values, *[placeholder] * 12]
    column = make_column("c", cells, None if is_one_table else values, kind)
    assert (column.left[-12:] == MISSING).all() and (column.left[:-12] != MISSING).all()
    assert placeholder in column.note and "12 rows" in column.note
    # Other values may be as frequent.
    others = [*cells, *values[:1] * 8]
    column = make_column("c", others, None if is_one_table else values, kind)
    assert (column.left != MISSING).all() and not column.note


def test_frequent_values_that_are_some_stay():
    cells = [*[f"1980-01-{day:02}" for day in range(1, 31)], *["1985-06-12"] * 40]
    assert (make_column("born", cells, None).left != MISSING).all()
    assert (make_column("firm", ["999"] * 40 + words(50), None, "name").left != MISSING).all()
