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
    assert hierarchy.given[3][EQUAL, EQUAL] > 0.9
    assert chance[3][EQUAL] < 0.6


def test_independent_columns_follow_from_nothing():
    draw = np.random.default_rng(1)
    table = {
        "name": words(800),
        "town": draw.choice(words(20, 1), 800).tolist(),
        "color": draw.choice(["red", "green", "blue"], 800).tolist(),
    }
    assert fitted(table)[2].parents == [-1, -1, -1]


def slow_evidence(mixture, number, own, above):
    """Returns the evidence of a column about a pair, from its definition.

    Args:
        mixture: The mixture.
        number: Number of the column.
        own: The level in the column and the logarithm of the frequency of the value.
        above: The same of the column that it follows from.
    """
    level, log_frequency = own
    level_above, log_frequency_above = above
    match, chance = mixture.match[number], mixture.chance[number]
    given = mixture.given[number][level_above]
    if level != EQUAL:
        is_last = level == len(chance) - 1
        by_chance = chance[level] if is_last else max(chance[level], given[level])
        return np.log(match[level] / by_chance)
    frequency = np.exp(log_frequency)
    # In some pairs the value follows; in the others it is as frequent as anywhere.
    follows = (given[EQUAL] - chance[EQUAL]) / (1 - chance[EQUAL])
    by_chance = frequency
    if follows > 0 and (given - chance)[[EQUAL, EQUAL + 1]].sum() > 0.1:
        by_chance = follows + (1 - follows) * frequency
    if level_above == EQUAL:
        # So many pairs are equal in both, but no more than in one.
        both = frequency * mixture.both[number] / np.exp(log_frequency_above)
        by_chance = max(by_chance, min(both, 1))
    return np.log(match[EQUAL] / by_chance)


def test_evidence_of_values_that_follow(table):
    columns, chance, hierarchy = fitted(table[0])
    mixture = Mixture.before_pairs(chance, [column.is_identifying for column in columns])
    mixture.parents, mixture.given, mixture.both = hierarchy
    pairs = np.random.default_rng(2).integers(0, len(table[0]["name"]), (4000, 2))
    agreements = compare_columns(columns, pairs)
    found = mixture.column_evidence(agreements)
    num_checked = 0
    for number, parent in enumerate(hierarchy.parents):
        if parent < 0:
            continue
        columns_of = [
            zip(agreements[one].levels, agreements[one].log_frequencies, strict=True)
            for one in (number, parent)
        ]
        for pair, (own, above) in enumerate(zip(*columns_of, strict=True)):
            if above[0] < len(chance[parent]) - 1:
                expected = slow_evidence(mixture, number, own, above)
                np.testing.assert_allclose(found[pair, number], expected, rtol=1e-4, atol=1e-6)
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


@pytest.mark.parametrize("num_courses", [1500, 6000])
def test_courses_with_one_title_are_told_apart(num_courses):
    draw = np.random.default_rng(6)
    departments = [word.capitalize() for word in words(20, 1)]
    topics, teachers = words(600, 2), words(300, 3)
    starts = ["Advanced", "Topics in", "Seminar on"]
    rows, courses = [], []
    for number in range(num_courses):
        department = departments[int(len(departments) * draw.random() ** 2)]
        title = f"{draw.choice(starts)} {department} {draw.choice(topics)}"
        credits = str(draw.integers(3, 7))
        rows.append([title, department, draw.choice(teachers), credits])
        courses.append(number)
        if draw.random() < 0.3:
            is_other = draw.random() < 0.3
            teacher = draw.choice(teachers) if is_other else rows[-1][2]
            is_misspelled = draw.random() < 0.4
            title = misspelled(draw, title) if is_misspelled else title
            rows.append([title, department, teacher, credits])
            courses.append(number)
    names = ("title", "department", "teacher", "credits")
    table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    assert f1_of_pairs(deduplicate(table, on=list(names)).groups, np.array(courses)) > 0.85


@pytest.mark.parametrize(("num_parts", "least"), [(1000, 0.9), (4000, 0.7)])
def test_parts_of_one_model_are_told_apart(num_parts, least):
    draw = np.random.default_rng(7)
    makes = [word.capitalize() for word in words(30, 1)]
    models = words(200, 2)
    kinds = list(map("".join, zip(words(60, 4), words(60, 5), strict=True)))
    rows, parts = [], []
    for number in range(num_parts):
        place = int(len(models) * draw.random() ** 1.5)
        make = makes[place % len(makes)]
        model = f"{make} {models[place].capitalize()}"
        part = f"{model} {draw.choice(kinds)}"
        year = str(draw.integers(1995, 2024))
        rows.append([part, model, make, year, f"{draw.integers(9, 400)}.90"])
        parts.append(number)
        if draw.random() < 0.3:
            price = f"{draw.integers(9, 400)}.90" if draw.random() < 0.3 else rows[-1][4]
            rows.append([misspelled(draw, part), model, make, year, price])
            parts.append(number)
    names = ("part", "model", "make", "year", "price")
    table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    assert f1_of_pairs(deduplicate(table, on=list(names)).groups, np.array(parts)) > least


@pytest.mark.parametrize("num_teams", [1000, 6000])
def test_teams_of_towns_with_similar_names_are_told_apart(num_teams):
    draw = np.random.default_rng(8)
    towns = [word.capitalize() for word in words(num_teams // 6, 1)]
    names_of_teams = list(map("".join, zip(words(600, 2), words(600, 3), strict=True)))
    rows, teams, seen = [], [], set()
    while len(seen) < num_teams:
        place = int(len(towns) * draw.random() ** 2)
        team = f"{towns[place]} {draw.choice(names_of_teams)}"
        if team in seen:
            continue
        ground = f"{towns[place]} {draw.choice(['Arena', 'Stadium', 'Park'])}"
        rows.append([team, towns[place], STATES[place % len(STATES)], ground])
        teams.append(len(seen))
        if draw.random() < 0.3:
            copy = misspelled(draw, team) if draw.random() < 0.5 else team
            rows.append([copy, towns[place], rows[-1][2], ground if draw.random() < 0.8 else ""])
            teams.append(len(seen))
        seen.add(team)
    names = ("team", "town", "state", "ground")
    table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    assert f1_of_pairs(deduplicate(table, on=list(names)).groups, np.array(teams)) > 0.8


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
