"""Copies that changed, and siblings: siblings have copies of their own."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tests.search.linkage.conftest import f1
from tests.texts import words
from tf_charagram.search import Duplicates, deduplicate

_WORDS = words(1000)
_GIVEN = "Anna Peter Maria Paul Laura Thomas Julia Martin Eva Robert Clara Simon".split()
_NUM_FIRMS = 350


def _person(draw: np.random.Generator) -> str:
    return f"{draw.choice(_GIVEN)} {_WORDS[int(draw.integers(300))]}"


def _firms(seed: int, *, have_siblings: bool) -> tuple[dict, list[int]]:
    """Makes firms, and copies of half of them, of which a third have another person.

    Or the copies have the same person, and a third of the firms have two people.
    """
    draw = np.random.default_rng(seed)
    firms = []
    for number in range(_NUM_FIRMS):
        firm = (
            f"{_WORDS[number + 300]} {_WORDS[number]}",
            f"{draw.integers(1, 99)} {_WORDS[number + 650]} street",
        )
        for _ in range(1 + (have_siblings and draw.random() < 1 / 3)):
            firms.append((*firm, f"0{draw.integers(10**8, 10**9)}", _person(draw)))
    rows, truth = list(firms), list(range(len(firms)))
    for source in draw.choice(len(firms), len(firms) // 2, replace=False).tolist():
        firm, street, phone, person = firms[source]
        firm = firm[:2] + firm[3:] if draw.random() < 0.4 else firm
        phone = "" if draw.random() < 0.3 else phone
        if not have_siblings and draw.random() < 1 / 3:
            person = _person(draw)
        rows.append((firm, street, phone, person))
        truth.append(source)
    names = ("title", "at", "call", "led_by")
    return dict(zip(names, zip(*rows, strict=True), strict=True)), truth


def _f1(found: Duplicates, truth: list[int]) -> float:
    pairs = combinations(range(len(truth)), 2)
    true = {pair for pair in pairs if truth[pair[0]] == truth[pair[1]]}
    groups = [combinations(sorted(group.rows), 2) for group in found.groups]
    return f1({pair for group in groups for pair in group}, true)


def _identifying(found: Duplicates) -> set[str]:
    return {column.name for column in found.links.columns if column.is_identifying}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_firms_with_another_representative_are_copies(seed: int):
    table, truth = _firms(seed, have_siblings=False)
    found = deduplicate(table, on=list(table))
    assert "led_by" not in _identifying(found)
    assert _f1(found, truth) > 0.97
    # What the user says is not doubted.
    given = deduplicate(table, on=list(table), identifies=["title", "led_by"])
    assert _identifying(given) == {"title", "led_by"}
    assert _f1(given, truth) < 0.9


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_people_who_have_copies_of_their_own_are_not_the_same(seed: int):
    table, truth = _firms(seed, have_siblings=True)
    found = deduplicate(table, on=list(table))
    assert "led_by" in _identifying(found)
    assert _f1(found, truth) > 0.95


def test_one_column_that_identifies_stays():
    table, _ = _firms(0, have_siblings=False)
    only = {name: table[name] for name in ("at", "call", "led_by")}
    table = {"entry": [name.split()[0] for name in table["title"]], **only}
    found = deduplicate(table, on=list(table))
    assert _identifying(found) == {"led_by"}
