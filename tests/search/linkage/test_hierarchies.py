"""Columns that follow from others: a town lies in one state, and names begin with their town."""

from __future__ import annotations

import numpy as np
import pytest

from tests.search.linkage.conftest import misspelled
from tests.texts import words
from tf_charagram.search import Linker, deduplicate, match
from tf_charagram.search.linkage._columns.columns import read_columns
from tf_charagram.search.linkage._fellegi_sunter.evidence import (
    EQUAL,
    Agreement,
    chances,
    compare_columns,
    random_pairs,
)
from tf_charagram.search.linkage._fellegi_sunter.hierarchies import Hierarchies
from tf_charagram.search.linkage._fellegi_sunter.mixture import Mixture

STATES = ["Texas", "Ohio", "Maine"]


def people_of_towns(draw, num_people=1200):
    """Returns people with towns, ZIP codes and states, some of them twice, and who they are."""
    seed = int(draw.integers(1000))
    towns = [word.capitalize() for word in words(30, seed)]
    zips = [str(number) for number in draw.integers(10_000, 99_999, len(towns))]
    given, surnames = words(100, seed + 1), words(400, seed + 2)
    rows, people = [], []
    for number in range(num_people):
        place = int(len(towns) * draw.random() ** 2)
        name = f"{draw.choice(given)} {draw.choice(surnames)}"
        row = [name, towns[place], zips[place], STATES[place % len(STATES)]]
        rows.append(row)
        people.append(number)
        if draw.random() < 0.3:
            rows.append([misspelled(draw, name), *row[1:]])
            people.append(number)
    names = ("name", "town", "zip", "state")
    columns = zip(*rows, strict=True)
    return dict(zip(names, map(list, columns), strict=True)), np.array(people)


@pytest.fixture(scope="module")
def table():
    return people_of_towns(np.random.default_rng(0))


def f1_of_pairs(groups, people):
    numbers = np.arange(len(people))
    for group in groups:
        numbers[group.rows] = group.rows[0]
    same = numbers[:, np.newaxis] == numbers
    true = people[:, np.newaxis] == people
    np.fill_diagonal(same, False)
    np.fill_diagonal(true, False)
    return 2 * (same & true).sum() / (same.sum() + true.sum())


def fitted(table):
    columns = read_columns(table, None, list(table))
    drawn = random_pairs(columns)
    chance = chances(columns, drawn)
    return columns, chance, Hierarchies(columns, chance, drawn[-1]).before_pairs()


def test_towns_and_states_follow_from_each_other(table):
    _, chance, hierarchy = fitted(table[0])
    name, town, zip_code, state = hierarchy.parents
    assert name == -1
    # One of the three follows from nothing.
    assert sorted([town, zip_code, state]).count(-1) == 1
    assert state in (1, 2)
    assert hierarchy.given[3][EQUAL] > 0.9
    assert chance[3][EQUAL] < 0.6


def test_independent_columns_follow_from_nothing():
    draw = np.random.default_rng(1)
    table = {
        "name": words(800),
        "town": draw.choice(words(20, 1), 800).tolist(),
        "color": draw.choice(["red", "green", "blue"], 800).tolist(),
    }
    assert fitted(table)[2].parents == [-1, -1, -1]


def slow_evidence(mixture, number, level, log_frequency):
    """Returns the evidence of a column whose parent is equal, from its definition."""
    match, chance, given = (
        shares[number] for shares in (mixture.match, mixture.chance, mixture.given)
    )
    if level != EQUAL:
        is_last = level == len(chance) - 1
        by_chance = chance[level] if is_last else max(chance[level], given[level])
        return np.log(match[level] / by_chance)
    frequency = np.exp(log_frequency)
    # In some pairs the value follows; in the others it is as frequent as anywhere.
    follows = (given[EQUAL] - chance[EQUAL]) / (1 - chance[EQUAL])
    return np.log(match[EQUAL] / (follows + (1 - follows) * frequency))


def test_evidence_of_values_that_follow(table):
    columns, chance, hierarchy = fitted(table[0])
    mixture = Mixture.before_pairs(chance, [column.is_identifying for column in columns])
    mixture.parents, mixture.given = hierarchy
    pairs = np.random.default_rng(2).integers(0, len(table[0]["name"]), (4000, 2))
    agreements = compare_columns(columns, pairs)
    found = mixture.column_evidence(agreements)
    num_checked = 0
    for number, parent in enumerate(hierarchy.parents):
        own: Agreement = agreements[number]
        for pair in np.flatnonzero(agreements[parent].levels == EQUAL) if parent >= 0 else ():
            expected = slow_evidence(mixture, number, own.levels[pair], own.log_frequencies[pair])
            np.testing.assert_allclose(found[pair, number], expected, rtol=1e-4)
            num_checked += 1
    assert num_checked > 100


def test_neighbours_are_not_the_same(table):
    rows, people = table
    assert f1_of_pairs(deduplicate(rows, on=list(rows)).groups, people) > 0.95


@pytest.mark.parametrize("seed", range(4))
def test_neighbours_are_not_the_same_in_a_small_table_without_copies(seed):
    table, people = people_of_towns(np.random.default_rng(seed), 80)
    firsts = np.unique(people, return_index=True)[1]
    once = {name: [cells[row] for row in firsts] for name, cells in table.items()}
    assert len(deduplicate(once, on=list(once)).groups) <= 1


def test_neighbours_in_two_tables_with_copies():
    rows, people = people_of_towns(np.random.default_rng(3), 1500)
    is_left, is_right = people < 1000, people >= 500
    left = {name: np.array(cells)[is_left].tolist() for name, cells in rows.items()}
    right = {name: np.array(cells)[is_right].tolist() for name, cells in rows.items()}
    found = match(left, right, on=list(rows)).pairs
    is_right_pair = [people[is_left][one] == people[is_right][other] for one, other, _ in found]
    assert len(found) > 500
    assert np.mean(is_right_pair) > 0.95


@pytest.mark.parametrize(
    ("num_species", "num_genera", "num_families"),
    [(900, 60, 12), (3000, 500, 12), (6000, 1500, 40)],
)
def test_names_that_begin_alike_are_told_apart(num_species, num_genera, num_families):
    draw = np.random.default_rng(4)
    genera = [word.capitalize() for word in words(num_genera, 1)]
    families = [f"{word.capitalize()}idae" for word in words(num_families, 2)]
    parts = words(num_species, 3), words(num_species, 4)
    epithets = list(map("".join, zip(*parts, strict=True)))
    rows, species = [], []
    for number in range(num_species):
        genus = int(len(genera) * draw.random() ** 2)
        name = f"{genera[genus]} {epithets[number]}"
        copies = [name, misspelled(draw, name)] if draw.random() < 0.3 else [name]
        for copy in copies:
            rows.append([copy, families[genus % len(families)], draw.choice(["LC", "VU", "EN"])])
            species.append(number)
    names = ("name", "family", "status")
    table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    assert f1_of_pairs(deduplicate(table, on=list(names)).groups, np.array(species)) > 0.9


def test_stays_of_other_guests_in_the_same_week_are_not_the_same():
    draw = np.random.default_rng(5)
    given, surnames = words(100, 1), words(400, 2)
    guests = [f"{draw.choice(given)} {draw.choice(surnames)}" for _ in range(500)]
    hotels = [f"Hotel {word}" for word in words(25, 3)]
    rows, stays = [], []
    for number in range(1000):
        arrival = np.datetime64("2023-01-01") + draw.integers(0, 730)
        departure = arrival + draw.integers(1, 9)
        guest = draw.choice(guests)
        row = [guest, draw.choice(hotels), str(arrival), str(departure)]
        rows.append([*row, draw.choice(["double", "single", "twin"])])
        stays.append(number)
        if draw.random() < 0.3:
            rows.append([misspelled(draw, guest), *row[1:], ""])
            stays.append(number)
    names = ("guest", "hotel", "arrival", "departure", "room")
    table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    assert f1_of_pairs(deduplicate(table, None, on=list(names)).groups, np.array(stays)) > 0.95


def test_weights_are_saved(table, tmp_path):
    rows, _ = table
    linker = Linker(list(rows)).fit(rows)
    assert max(linker.mixture.parents) >= 0
    linker.save(tmp_path / "linker.json")
    loaded = Linker.load(tmp_path / "linker.json")
    assert loaded.mixture.parents == linker.mixture.parents
    assert loaded.deduplicate(rows).groups == linker.deduplicate(rows).groups
