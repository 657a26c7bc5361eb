"""Columns that identify, and columns that change."""

from __future__ import annotations

import numpy as np
import pytest

from tests.texts import words
from tf_charagram.search.linkage._columns.columns import make_column
from tf_charagram.search.linkage._columns.identity import identifies

GIVEN = ["Anna", "Peter", "Zali", "Maria", "Jonas", "Olga"] * 4
SURNAMES = ["Abendroth", "Quandt", "Penrose", "Lindquist"] * 6
BORN = [f"{year}-05-17" for year in range(1940, 2000, 3)]
PAID = [f"2024-{month:02}-17" for month in range(1, 13)]
STREETS = [f"{number} Oak Street" for number in range(3, 60)]
TITLES = [f"{one} query of {other} streams" for one in words(8) for other in words(8)]


@pytest.mark.parametrize(
    ("kind", "cells", "expected"),
    [
        ("name", GIVEN, True),
        ("name", SURNAMES, False),
        ("name", ["Dayton", "Toledo", "Lima"] * 9, False),
        ("name", [f"{one} {other}" for one, other in zip(GIVEN, words(24), strict=True)], True),
        ("name", ["red", "navy", "blue", "white"] * 5, True),
        ("name", ["S", "M", "XL", "L"] * 5, True),
        ("number", ["500 ml", "1 l", "250 ml"] * 5, True),
        ("number", ["9.99", "12.50", "7.25"] * 5, False),
        ("date", BORN, True),
        ("date", PAID, False),
        ("code", [f"WH{number}XM" for number in range(1000, 1100)], True),
        ("code", [f"555-{number}-0{number}" for number in range(200, 300)], False),
        ("code", [f"ann{number}@example.org" for number in range(99)], False),
        ("code", [f"DE{number} 1000 2000 3000 4000 50" for number in range(10, 99)], False),
        ("code", [str(number) for number in range(10115, 10200)], False),
        ("text", STREETS, False),
        ("text", TITLES, True),
        ("text", ["american ale style"] * 9 + ["brown ale style"] * 9, False),
        ("text", [], False),
    ],
)
def test_values_tell(kind, cells, expected):
    assert identifies("c1", kind, cells) is expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("given_name", True), ("DateOfBirth", True), ("Vorname", True), ("invoice_number", True),
     ("phone number", False), ("e-mail", False), ("LastName", False), ("Straße", False),
     ("Prénom", True), ("Größe", True), ("PHONE_NO", False), ("téléphone", False),
     ("name of guardian", False)],
)  # fmt: skip
def test_headers_decide(name, expected):
    draw = np.random.default_rng(0)
    cells = [words(50)[place] for place in draw.integers(0, 50, 200)]
    assert identifies(name, "name", cells) is expected


def test_people_who_own_a_thing_change_and_firms_do_not():
    people = [f"{one} {other}" for one, other in zip(GIVEN, words(24), strict=True)]
    assert identifies("member", "name", people)
    assert not identifies("owner", "name", people)
    assert identifies("owner", "text", [f"{name} works of {name}" for name in words(30)])


@pytest.mark.parametrize(("name", "kind"), [("price", "number"), ("lot", "code")])
def test_prices_with_as_many_digits_as_codes_are_numbers(name, kind):
    cells = [str(number) for number in range(123_456, 987_654, 9_876)]
    column = make_column(name, cells, None)
    assert column.kind.name == kind
    assert column.is_identifying == (kind == "code")


@pytest.mark.parametrize("name", ["birth_year", "yearOfBirth", "Geburtsjahr"])
def test_years_of_birth_identify(name):
    assert identifies(name, "code", [str(year) for year in range(1930, 2000)])
    assert not identifies("place of birth", "name", ["Rome", "Oslo", "Bern"] * 9)


@pytest.mark.parametrize(("num_values", "expected"), [(30, False), (400, True)])
def test_numbers_that_repeat_identify_nothing(num_values, expected):
    # The number of a shirt, and of an invoice.
    draw = np.random.default_rng(0)
    cells = [str(1000 + number) for number in draw.integers(0, num_values, 500)]
    assert identifies("number", "number", cells) is expected
