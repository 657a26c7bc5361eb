"""Made-up tables of people: duplicates with typos, and households."""

from __future__ import annotations

import numpy as np

from tests.texts import words

COLUMNS = ["first", "last", "street", "town", "born"]


def misspelled(draw, text):
    """Drops, doubles or swaps a character."""
    place = int(draw.integers(0, len(text) - 1))
    kind = draw.integers(3)
    if kind == 0:
        return text[:place] + text[place + 1 :]
    if kind == 1:
        return text[:place] + text[place] + text[place:]
    return text[:place] + text[place + 1] + text[place] + text[place + 2 :]


def person(draw, names):
    """Returns the values of a new person."""
    first, last, street = draw.choice(names, 3)
    # A tenth of the people live in each town.
    town = names[draw.integers(10)]
    day = f"{draw.integers(1930, 2000)}-{draw.integers(1, 13):02}-{draw.integers(1, 29):02}"
    return [first, last, f"{draw.integers(1, 99)} {street} street", town, day]


def changed(draw, values, typos):
    """Returns the values of a person with typos and missing values."""
    result = []
    for value in values:
        if draw.random() < typos:
            value = misspelled(draw, value)
        result.append("" if draw.random() < 0.05 else value)
    return result


def people(seed, number=300, typos=0.2, num_relatives=100):
    """Returns two tables and the pairs of rows that are the same person.

    The right table has a copy of half of the left people, and relatives of others: another first
    name and birth date, the same in all other columns.
    """
    draw = np.random.default_rng(seed)
    names = words(120, seed)
    left = [person(draw, names) for _ in range(number)]
    right = [changed(draw, values, typos) for values in left[: number // 2]]
    truth = {(row, row) for row in range(number // 2)}
    for row in draw.choice(number, num_relatives, replace=False).tolist():
        other = person(draw, names)
        right.append([other[0], *left[row][1:4], other[4]])
    return as_table(left), as_table(right), truth


def as_table(rows, columns=COLUMNS):
    return {name: [row[place] for row in rows] for place, name in enumerate(columns)}


def f1(found, truth):
    return 2 * len(found & truth) / (len(found) + len(truth))
