"""Columns that two tables write otherwise."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.search.linkage.conftest import COLUMNS, as_table, f1, misspelled, pairs_of, people
from tests.texts import words
from tf_charagram.search import match

SEXES = ["F", "M"]


def with_column(tables, truth, name, write_left, write_right):
    """Adds a column to two tables: equal for matches, random for others."""
    left, right, _ = tables
    draw = np.random.default_rng(0)
    values = draw.integers(0, 12, len(left["born"])).tolist()
    partner = {other: row for row, other in truth}
    others = draw.integers(0, 12, len(right["born"])).tolist()
    right_values = [
        values[partner[row]] if row in partner else other for row, other in enumerate(others)
    ]
    return (
        {**left, name: [write_left(value) for value in values]},
        {**right, name: [write_right(value) for value in right_values]},
    )


def note_of(found, name):
    [column] = [column for column in found.links.columns if column.name == name]
    return column.note


@pytest.mark.parametrize("seed", range(2))
def test_codes_that_map_one_to_one_are_learned(seed):
    tables = people(seed, num_relatives=0)
    truth = tables[2]
    left, right = with_column(
        tables, truth, "sex", lambda value: SEXES[value % 2], lambda value: str(value % 2 + 1)
    )
    found = match(left, right, on=["sex", *COLUMNS])
    assert f1(pairs_of(found), truth) > 0.97
    assert "2 codes of the right table learned" in note_of(found, "sex")
    [sex] = [each for each in found.explain(0, 0) if each.column == "sex"]
    assert sex.agreement == "equal" and sex.weight > 0


@pytest.mark.parametrize(
    ("write_left", "write_right", "factor"),
    [
        (lambda height: str(height), lambda height: f"{height * 3.28084:.0f} ft", "3.28"),
        (lambda height: f"{height / 100} EUR", lambda height: str(height), "100"),
    ],
)
def test_factors_of_numbers_are_learned(write_left, write_right, factor):
    tables = people(0, number=150, num_relatives=0)
    draw = np.random.default_rng(2)
    heights = draw.integers(100, 2000, 12).tolist()
    left, right = with_column(
        tables,
        tables[2],
        "height",
        lambda value: write_left(heights[value]),
        lambda value: write_right(heights[value]),
    )
    found = match(left, right, None, on=["height", *COLUMNS])
    assert note_of(found, "height").startswith(f"numbers of the right table are {factor}")
    row = min(tables[2])
    [height] = [each for each in found.explain(*row) if each.column == "height"]
    assert height.agreement in ("equal", "near") and height.weight > 0
    assert f1(pairs_of(found), tables[2]) > 0.97


def test_codes_are_learned_from_the_best_pairs():
    """No other column alone makes a pair sure."""
    draw = np.random.default_rng(3)
    names = words(150)
    countries = draw.integers(0, 5, 150).tolist()
    left = {"name": names, "country": [f"{words(5, 9)[each]}ia" for each in countries]}
    right = {"name": names[::-1], "country": [str(900 + each) for each in countries[::-1]]}
    found = match(left, right, None, on=["name", "country"])
    assert note_of(found, "country").startswith("5 codes of the right table learned")


def test_a_column_that_never_agrees_is_named_and_left_out():
    tables = people(0, num_relatives=0)
    truth = tables[2]
    draw = np.random.default_rng(1)
    left, right = with_column(
        tables,
        truth,
        "mark",
        lambda value: f"{draw.integers(1e8)}a",
        lambda value: f"{draw.integers(1e8)}b",
    )
    found = match(left, right, on=["mark", *COLUMNS])
    assert f1(pairs_of(found), truth) > 0.97
    assert note_of(found, "mark").startswith("never agrees: written otherwise?")
    assert note_of(found, "born") == ""


@pytest.mark.parametrize("changed", [["street", "town"], ["last"], ["street"]])
def test_people_who_moved_or_married_are_found(changed):
    left, right, truth = people(3, num_relatives=80)
    draw = np.random.default_rng(3)
    for row in range(len(truth)):
        if draw.random() < 0.4:
            other = int(draw.integers(len(truth), len(left["last"])))
            for name in changed:
                right[name][row] = left[name][other]
    found = match(left, right, on=COLUMNS, identifies=["first", "born"])
    assert f1(pairs_of(found), truth) > 0.96
    [chosen] = [each for each in found.estimates if each.threshold == found.threshold]
    lower, upper = chosen.recall_bounds
    assert lower <= len(pairs_of(found) & truth) / len(truth) <= upper


def test_twins_stay_apart():
    left, right, truth = people(4, typos=0.1, num_relatives=0)
    draw = np.random.default_rng(4)
    names = sorted({*left["first"]})
    for row in range(0, 60, 2):
        for name in COLUMNS[1:]:
            left[name].append(left[name][row])
            right[name].append(
                misspelled(draw, left[name][row]) if row % 8 == 0 else left[name][row]
            )
        left["first"].append(names[row])
        right["first"].append(names[row])
        truth.add((len(left["first"]) - 1, len(right["first"]) - 1))
    found = match(left, right, on=COLUMNS, identifies=["first", "born"])
    assert f1(pairs_of(found), truth) > 0.95


def test_a_column_of_values_that_are_alike_is_not_left_out():
    draw = np.random.default_rng(0)
    known = words(40)
    dishes = [draw.choice(known, 6, replace=False).tolist() for _ in range(200)]
    cooks = [f"{one} {other}" for one, other in draw.choice(words(60, 1), (200, 2))]
    years = draw.integers(1900, 2000, 200).tolist()
    # The other table has a part of each list in another order, and another value.
    left = {"parts": [", ".join(dish) for dish in dishes], "cook": cooks, "year": years}
    others = draw.choice(known, 200).tolist()
    parts = ["; ".join([*dish[:1:-1], other]) for dish, other in zip(dishes, others, strict=True)]
    right = {**left, "parts": parts}
    found = match(left, right, on=["parts", "cook", "year"], kinds={"parts": "list"})
    assert not note_of(found, "parts")
    assert f1(pairs_of(found), {(row, row) for row in range(200)}) > 0.98


PLACES = ["name", "lat", "lon", "kind"]


def places(seed, number):
    """Returns rows of places with coordinates of six decimals, as `PLACES`."""
    draw = random.Random(seed)
    firsts = "Aldi Rewe Lidl Edeka Cafe Hotel Apotheke Post".split()
    seconds = "Nord Ost West Mitte Hafen Markt Park Turm Tor Ring Feld Berg Tal See Wald".split()
    rows = []
    for _ in range(number):
        name = f"{draw.choice(firsts)} {draw.choice(seconds)}"
        lat = f"{draw.uniform(53.8, 53.99):.6f}"
        lon = f"{draw.uniform(10.6, 10.9):.6f}"
        rows.append([name, lat, lon, draw.choice(["shop", "stop", "leisure", "health"])])
    return rows


def rounded(rows):
    """Rounds coordinates to three decimals."""
    written = []
    for name, lat, lon, kind in rows:
        written.append([name, f"{float(lat):.3f}", f"{float(lon):.3f}", kind])
    return written


def test_matches_are_found_although_two_columns_never_agree():
    rows = places(1, 730)
    left = as_table(rows[:400], PLACES)
    found = match(left, as_table(rounded(rows[:330]), PLACES), None, on=PLACES)
    pairs = pairs_of(found)
    num_right = sum(row == other for row, other in pairs)
    assert num_right > 200
    [estimate] = [each for each in found.estimates if each.threshold == 0.5]
    assert estimate.precision_bounds[0] < num_right / len(pairs) < estimate.precision_bounds[1]
    # Two columns that tell matches are few: others may look like random pairs.
    assert estimate.recall_bounds[0] < num_right / 330 < estimate.recall_bounds[1]
    assert found.links.unseen > 0
    # Other places of the same names and kinds.
    assert not match(left, as_table(rounded(rows[400:]), PLACES), None, on=PLACES).pairs


def test_columns_without_common_values_are_named_if_nothing_matches():
    draw = random.Random(0)
    born = [f"{draw.randrange(1950, 2000)}-05-17" for _ in range(60)]
    names = [f"{one} {other}" for one, other in zip(words(60), words(60)[::-1], strict=True)]
    signs = [f"{chr(0x5F20 + row)}{chr(0x4E00 + 7 * row)}" for row in range(60)]
    left = {"name": names, "born": born, "city": ["Rome", "Oslo"] * 30}
    right = {"name": signs, "born": born[::-1], "city": ["Oslo", "Rome"] * 30}
    found = match(left, right, None, on=list(left))
    assert not found.pairs
    assert note_of(found, "name") == "hardly any value is in both tables: written otherwise?"
    assert [note_of(found, name) for name in ("born", "city")] == ["", ""]


@pytest.mark.parametrize("seed", range(2))
def test_years_that_identify_tell_vintages_apart(seed):
    on = ["house", "wine", "vintage", "price"]
    draw = random.Random(seed)
    lefts, rights, truth = [], [], set()
    for house in (f"{kind} {name}" for kind in ("Weingut", "Bodega") for name in words(12)):
        for wine in draw.sample(["Riesling", "Merlot", "Gamay", "Syrah", "Silvaner"], 2):
            for vintage in draw.sample(range(2009, 2022), 6):
                price = draw.uniform(8, 60)
                chance = draw.random()
                if chance < 0.7:
                    lefts.append([house, wine, str(vintage), f"{price:.2f}"])
                if chance > 0.3:
                    changed_price = f"{price * draw.uniform(0.8, 1.3):.2f}"
                    rights.append([house.upper(), wine, str(vintage), changed_price])
                if 0.3 < chance < 0.7:
                    truth.add((len(lefts) - 1, len(rights) - 1))
    tables = as_table(lefts, on), as_table(rights, on)
    found = pairs_of(match(*tables, None, on=on, identifies=["vintage"]))
    assert found <= truth
    assert len(found) > 0.85 * len(truth)
