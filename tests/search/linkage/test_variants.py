"""Variants in one table: the same concert on other days."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from itertools import combinations

import numpy as np
import pytest

from tests.search.linkage.conftest import f1
from tests.search.partitions.conftest import groups_in
from tests.texts import words
from tf_charagram.search import Linker, deduplicate, deduplicate_files, match
from tf_charagram.search._partitions import in_memory
from tf_charagram.search.linkage._fellegi_sunter.evidence import EQUAL

_NAMES = words(400)


def _table(names: Iterable[str], rows: Iterable[Sequence[str]]) -> dict[str, Sequence[str]]:
    return dict(zip(names, zip(*rows, strict=True), strict=True))


def _misspelled(text: str, draw: np.random.Generator) -> str:
    place = int(draw.integers(len(text)))
    return text[:place] + text[place + 1 :]


def _concerts(seed: int, share: float) -> tuple[dict, list[int]]:
    """Makes concerts on up to four days, and misspelled copies of a share of them."""
    draw = np.random.default_rng(seed)
    rows, truth = [], []
    for number in range(120):
        band, venue = f"the {_NAMES[number]}", f"{_NAMES[number + 200]} hall"
        day = date(2024, 1, 1) + timedelta(int(draw.integers(300)))
        for week in draw.choice(30, int(draw.integers(1, 5)), replace=False):
            row = band, str(day + timedelta(7 * int(week))), venue
            rows.append(row)
            truth.append(len(truth))
            if draw.random() < share:
                rows.append((_misspelled(band, draw), row[1], _misspelled(venue, draw)))
                truth.append(truth[-1])
    columns = _table(("band", "date", "venue"), rows)
    return columns, truth


def _pairs(found: object) -> set[tuple[int, int]]:
    return {pair for group in found.groups for pair in combinations(sorted(group.rows), 2)}


def _true_pairs(truth: list[int]) -> set[tuple[int, int]]:
    rows = range(len(truth))
    return {(left, right) for left, right in combinations(rows, 2) if truth[left] == truth[right]}


@pytest.mark.parametrize("share", [0.2, 0.7])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_concert_on_other_days_is_another_one(share: float, seed: int):
    table, truth = _concerts(seed, share)
    found = deduplicate(table, on=list(table))
    assert f1(_pairs(found), _true_pairs(truth)) > 0.95
    names = {column.name for column in found.links.columns if column.is_identifying}
    assert "date" in names


def test_concerts_without_copies_stay_apart():
    table, _ = _concerts(2, 0.0)
    assert len(_pairs(deduplicate(table, on=list(table)))) <= 2


@pytest.mark.parametrize("seed", range(3))
def test_sequels_are_less_alike_than_copies(seed: int):
    draw = np.random.default_rng(seed)
    rows, truth = [], []
    for number in range(220):
        title = f"{_NAMES[number]} {_NAMES[int(draw.integers(400))]}"
        director = _NAMES[int(draw.integers(80))]
        actors = [f"{_NAMES[place]} {_NAMES[-place]}" for place in draw.integers(1, 400, 6)]
        year = int(draw.integers(1950, 2015))
        for part in range(int(draw.integers(1, 4))):
            cast = [*actors[:2], actors[2 + part]]
            whole = title + ["", ": Part II", " III"][part]
            minutes = int(draw.integers(80, 180))
            rows.append((whole, director, str(year + 3 * part), ", ".join(cast), str(minutes)))
            truth.append(len(truth))
            if draw.random() < 0.3:
                # Most copies name two actors, and some have another length.
                some = ", ".join(cast[: 2 + (draw.random() < 0.4)])
                length = minutes + int(draw.integers(-4, 5)) * (draw.random() < 0.4)
                again = year + 3 * part + (draw.random() < 0.2)
                rows.append((_misspelled(whole, draw), director, str(again), some, str(length)))
                truth.append(truth[-1])
    names = ("title", "director", "year", "cast", "minutes")
    table = _table(names, rows)
    assert f1(_pairs(deduplicate(table, on=list(names))), _true_pairs(truth)) > 0.95


@pytest.mark.parametrize("seed", range(3))
def test_sizes_that_differ_are_no_keys(seed: int):
    draw = np.random.default_rng(seed)
    rows, truth = [], []
    for number in range(200):
        artist, title = f"{_NAMES[number % 60]} {_NAMES[number % 70]}", _NAMES[-number - 1]
        height, width, estimate = draw.integers(15, 150, 3)
        for print_ in range(int(draw.choice([1, 1, 2, 4]))):
            size = f"{height + int(draw.integers(-9, 9)) * (print_ > 0)} x {width} cm"
            sale = date(2015, 1, 1) + timedelta(int(draw.integers(3600)))
            row = [artist, title, size, str(sale), str(100 * estimate + 700 * print_)]
            rows.append(row)
            truth.append(len(truth))
            if draw.random() < 0.3:
                shorter = size.replace(" cm", "") if draw.random() < 0.3 else size
                rows.append([artist, _misspelled(title, draw), shorter, *row[3:]])
                truth.append(truth[-1])
    names = ("artist", "title", "size", "sale", "estimate")
    table = _table(names, rows)
    assert f1(_pairs(deduplicate(table, on=list(names))), _true_pairs(truth)) > 0.9


_GIVEN = (
    "Adam Albert Alice Amanda Andrew Anna Arthur Betty Brian Bruno Carl Carla Carol Chloe Clara "
    "David Diana Edward Emil Emma Frank George Grace Hannah Helen Henry Irene Jacob Jane Karen "
    "Laura Linda Lucas Maria Martin Nancy Oliver Paula Peter Rachel Robert Sarah Simon Thomas"
).split()


@pytest.mark.parametrize("seed", range(3))
def test_people_of_a_family_have_a_surname_in_common(seed: int):
    draw = np.random.default_rng(seed)
    rows, truth = [], []
    for number in range(300):
        surname = _NAMES[number]
        address = f"{draw.integers(1, 90)} {_NAMES[int(draw.integers(400))]} Street"
        phone = str(draw.integers(10**8, 10**9))
        day = date(2010, 1, 1) + timedelta(int(draw.integers(5000)))
        for given in draw.choice(_GIVEN, int(draw.integers(1, 5)), replace=False):
            mail = f"{given}{draw.integers(10, 100)}@{_NAMES[int(draw.integers(400))]}.com".lower()
            row = [f"{given} {surname}", mail, address, phone, str(day)]
            rows.append(row)
            truth.append(len(truth))
            if draw.random() < 0.3:
                name = _misspelled(row[0], draw) if draw.random() < 0.2 else row[0]
                if draw.random() < 0.2:
                    name = f"{given[0]}. {surname}"
                again = [name, *row[1:]]
                if draw.random() < 0.2:
                    again[3] = str(draw.integers(10**8, 10**9))
                if draw.random() < 0.3:
                    again[1] = ""
                rows.append(again)
                truth.append(truth[-1])
    names = ("tenant", "email", "address", "phone", "moved_in")
    table = _table(names, rows)
    assert f1(_pairs(deduplicate(table, on=list(names))), _true_pairs(truth)) > 0.9


@pytest.mark.parametrize("seed", range(3))
def test_initials_in_a_family_may_be_those_of_another_one(seed: int):
    draw = np.random.default_rng(seed)
    given = (
        "Adam Albert Alice Anna Arthur Betty Bruno Carl Carla Clara David Diana Emil Emma".split()
    )
    rows, truth = [], []
    for number in range(250):
        street, phone = f"{number % 90} {_NAMES[number % 40]} street", str(7919 * number + 10**8)
        for name in draw.choice(given, int(draw.integers(1, 5)), replace=False):
            rows.append((f"{name} {_NAMES[number]}", street, phone))
            truth.append(len(truth))
            if draw.random() < 0.3:
                called = f"{name[0]}." if draw.random() < 0.4 else _misspelled(name, draw)
                rows.append((f"{called} {_NAMES[number]}", street, phone))
                truth.append(truth[-1])
    table = _table(("tenant", "address", "phone"), rows)
    found = deduplicate(table, on=list(table))
    [estimate] = [each for each in found.estimates if each.threshold == 0.5]
    pairs = _pairs(found)
    precision = len(pairs & _true_pairs(truth)) / len(pairs)
    assert precision < 0.8
    assert estimate.precision_bounds[0] < precision


def _payments(seed: int) -> tuple[dict, list[int]]:
    """Makes standing orders and other payments; a third of them booked again up to 3 days later."""
    draw = np.random.default_rng(seed)
    rows, truth = [], []
    for number in range(150):
        payee, account = f"{_NAMES[number]} {_NAMES[number + 200]}", f"DE{7919 * number + 10**9}"
        day = date(2024, 1, 1) + timedelta(int(draw.integers(300)))
        for month in range(int(draw.integers(2, 8)) if number % 3 == 0 else 1):
            booked = day + timedelta(30 * month)
            row = payee, str(booked), f"{draw.integers(9, 999)}.00", account
            rows.append(row if month == 0 else (payee, str(booked), rows[-1][2], account))
            truth.append(len(truth))
            if draw.random() < 0.33:
                again = booked + timedelta(int(draw.integers(4)))
                rows.append((_misspelled(payee, draw), str(again), rows[-1][2], account))
                truth.append(truth[-1])
    columns = _table(("payee", "booked", "amount", "iban"), rows)
    return columns, truth


@pytest.mark.parametrize("seed", [0, 1])
def test_a_payment_is_booked_days_later_and_a_standing_order_each_month(seed: int):
    table, truth = _payments(seed)
    found = deduplicate(table, on=list(table))
    assert f1(_pairs(found), _true_pairs(truth)) > 0.9
    [levels] = [each for each in found.links.mixture.variant_levels if each.any()]
    # Equal dates, and those a few days apart, are of copies.
    assert not levels[: EQUAL + 2].any() and levels[-1]


@pytest.mark.parametrize("seed", range(3))
def test_copies_may_all_have_other_dates(seed: int):
    draw = np.random.default_rng(seed)
    rows, truth = [], []
    for number in range(300):
        payer = f"{_NAMES[number]} {_NAMES[int(draw.integers(300, 400))]}"
        day = date(2024, 1, 1) + timedelta(int(draw.integers(300)))
        row = payer, str(day), f"{draw.integers(900, 90_000)}.00"
        rows.append(row)
        truth.append(number)
        if draw.random() < 0.5:
            paid = day + timedelta(int(draw.integers(1, 30)))
            name = _misspelled(payer, draw) if draw.random() < 0.6 else payer
            rows.append((name, str(paid), row[2]))
            truth.append(number)
    table = _table(("payer", "day", "amount"), rows)
    assert f1(_pairs(deduplicate(table, on=list(table))), _true_pairs(truth)) > 0.95


@pytest.mark.parametrize("has_numbers", [False, True])
def test_appointments_of_a_patient_are_many(has_numbers: bool):
    draw = np.random.default_rng(0)
    rows, truth = [], []
    for number in range(150):
        given, family = _NAMES[number], _NAMES[number + 150]
        born = str(date(1950, 1, 1) + timedelta(int(draw.integers(20_000))))
        day = date(2024, 1, 1) + timedelta(int(draw.integers(300)))
        for week in range(int(draw.integers(1, 5))):
            code = f"N{draw.integers(10**8, 10**9)}"
            rows.append([given, family, born, str(day + timedelta(7 * week)), code])
            truth.append(len(truth))
            if draw.random() < 0.4:
                misspelled = [_misspelled(given, draw), _misspelled(family, draw)]
                # Half of the copies have no number.
                rows.append([*misspelled, born, rows[-1][3], code if draw.random() < 0.5 else ""])
                truth.append(truth[-1])
    names = ["given_name", "last", "born", "day", "number"][: 5 if has_numbers else 4]
    table = dict(zip(names, zip(*rows, strict=True), strict=False))
    found = deduplicate(table, on=names)
    assert f1(_pairs(found), _true_pairs(truth)) > 0.95
    assert 3 in found.links.mixture.variant_columns


def _visits(seed: int, num_visits: int) -> tuple[dict, list[int], list[int]]:
    """Makes visits of patients, a third of them twice, all misspelled; returns both truths."""
    draw = np.random.default_rng(seed)
    rows, patients, visits = [], [], []
    for number in range(150):
        born = str(date(1950, 1, 1) + timedelta(int(draw.integers(20_000))))
        day = date(2024, 1, 1) + timedelta(int(draw.integers(300)))
        for week in range(num_visits):
            for _ in range(1 + (draw.random() < 0.33)):
                given, family = _NAMES[number], _NAMES[number + 150]
                given = _misspelled(given, draw) if draw.random() < 0.4 else given
                family = _misspelled(family, draw) if draw.random() < 0.4 else family
                rows.append((given, family, born, str(day + timedelta(14 * week))))
                patients.append(number)
                visits.append(10 * number + week)
    names = "given_name", "last", "born", "visit"
    return _table(names, rows), patients, visits


def test_visits_that_are_all_misspelled_stay_apart():
    table, _, visits = _visits(0, 6)
    found = deduplicate(table, on=list(table))
    assert f1(_pairs(found), _true_pairs(visits)) > 0.9


def test_patients_who_were_written_down_twice_on_other_days_are_copies():
    table, patients, _ = _visits(1, 2)
    found = deduplicate(table, on=list(table))
    assert f1(_pairs(found), _true_pairs(patients)) > 0.95


def test_payments_that_are_all_misspelled():
    table, truth = _payments(2)
    draw = np.random.default_rng(2)
    table["payee"] = [_misspelled(payee, draw) for payee in table["payee"]]
    found = deduplicate(table, on=list(table))
    assert f1(_pairs(found), _true_pairs(truth)) > 0.9


@pytest.mark.parametrize("num_tables", [1, 2])
def test_bounds_say_that_the_next_evening_may_be_another_concert(num_tables: int):
    draw = np.random.default_rng(0)
    tables: list[list[tuple[str, str, str]]] = [[] for _ in range(num_tables)]
    for number in range(200):
        band, venue = f"the {_NAMES[number]}", f"{_NAMES[number + 200]} hall"
        day = date(2024, 1, 1) + timedelta(int(draw.integers(300)))
        for rows in tables:
            for evening in [0, 1, 2, int(draw.integers(3))]:
                names = _misspelled(band, draw), _misspelled(venue, draw)
                rows.append((*names, str(day + timedelta(evening))))
    on = ["band", "venue", "date"]
    columns = [_table(on, rows) for rows in tables]
    found = deduplicate(*columns, on=on) if num_tables == 1 else match(*columns, on=on)
    [estimate] = [each for each in found.estimates if each.threshold == 0.5]
    assert estimate.precision_bounds[0] < 0.5


def _evenings(draw: np.random.Generator, num_bands: int) -> Iterator[tuple[str, str, str, int]]:
    """Returns the band, venue, day and number of concerts on one to three evenings."""
    for number in range(num_bands):
        first = date(2024, 1, 1) + timedelta(int(draw.integers(300)))
        for evening in range(int(draw.integers(1, 4))):
            day = str(first + timedelta(evening))
            names = f"the {_NAMES[number]}", f"{_NAMES[number + 200]} hall"
            yield *names, day, number * 10 + evening


def test_the_same_concert_the_next_evening_is_another_one():
    draw = np.random.default_rng(0)
    rows, truth = [], []
    for band, venue, day, concert in _evenings(draw, 150):
        rows.append((band, day, venue))
        truth.append(concert)
        if draw.random() < 0.3:
            rows.append((_misspelled(band, draw), day, _misspelled(venue, draw)))
            truth.append(concert)
    table = _table(("band", "date", "venue"), rows)
    assert f1(_pairs(deduplicate(table, on=list(table))), _true_pairs(truth)) > 0.95


@pytest.mark.parametrize("seed", range(3))
def test_the_hour_of_another_evening_may_be_another_one(seed: int):
    draw = np.random.default_rng(seed)
    rows, truth = [], []
    for band, venue, day, concert in _evenings(draw, 150):
        hour = str(draw.choice(["18:00", "19:30", "20:00"]))
        rows.append((band, day, hour, venue))
        truth.append(concert)
        if draw.random() < 0.3:
            copied = hour if draw.random() < 0.8 else ""
            names = [_misspelled(name, draw) for name in (band, venue)]
            rows.append((names[0], day, copied, names[1]))
            truth.append(concert)
    columns = ("band", "date", "time", "venue")
    found = deduplicate(_table(columns, rows), on=columns)
    assert f1(_pairs(found), _true_pairs(truth)) > 0.95
    assert found.links.mixture.variant_columns == [1, 2]


def test_concerts_on_two_evenings_that_are_all_misspelled_have_copies_of_their_own():
    draw = np.random.default_rng(0)
    rows, truth = [], []
    for band, venue, day, concert in _evenings(draw, 200):
        for _ in range(1 + (draw.random() < 0.4)):
            rows.append((_misspelled(band, draw), _misspelled(venue, draw), day))
            truth.append(concert)
    table = _table(("band", "venue", "date"), rows)
    assert f1(_pairs(deduplicate(table, on=list(table))), _true_pairs(truth)) > 0.9


def test_what_the_user_says_identifies_is_not_corrected():
    table, _ = _concerts(3, 0.2)
    found = deduplicate(table, on=list(table), identifies=["band", "venue"])
    assert not found.links.mixture.variant_columns


def test_a_date_that_a_third_of_the_copies_change_tells_nothing_apart():
    table, truth = _concerts(4, 0.0)
    _, first = np.unique(table["band"], return_index=True)
    draw = np.random.default_rng(4)
    rows = [[cells[row] for cells in table.values()] for row in first for _ in range(2)]
    for row in rows[1::2]:
        if draw.random() < 0.33:
            row[1] = str(date(2024, 1, 1) + timedelta(int(draw.integers(500))))
    table = _table(table, rows)
    truth = [row // 2 for row in range(len(rows))]
    assert f1(_pairs(deduplicate(table, on=list(table))), _true_pairs(truth)) > 0.95


def test_a_loaded_linker_keeps_variants_apart(tmp_path):
    table, truth = _concerts(5, 0.3)
    linker = Linker(on=list(table)).fit(table)
    linker.save(tmp_path / "linker.json")
    loaded = Linker.load(tmp_path / "linker.json")
    assert loaded.mixture.variant_columns == linker.mixture.variant_columns == [1]
    assert f1(_pairs(loaded.deduplicate(table)), _true_pairs(truth)) > 0.95


def test_partitions_keep_variants_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(in_memory, "MAX_ROWS", 0)
    monkeypatch.chdir(tmp_path)
    table, truth = _concerts(6, 0.3)
    lines = [",".join(row) for row in zip(*table.values(), strict=True)]
    (tmp_path / "table.csv").write_text("\n".join([",".join(table), *lines]) + "\n")
    summary = deduplicate_files(["table.csv"], "out", on=list(table), num_partitions=2)
    assert summary["identifies"] == ["band", "date"]
    with open("out/table.csv", newline="") as file:
        numbers = [row["group"] or None for row in csv.DictReader(file)]
    pairs = {pair for rows in groups_in(numbers) for pair in combinations(rows, 2)}
    assert f1(pairs, _true_pairs(truth)) > 0.9


@pytest.mark.parametrize("has_key", [False, True])
def test_bounds_say_that_copies_may_have_changed_or_be_variants(has_key: bool):
    table, _ = _concerts(4, 0.0)
    if has_key:
        numbers = {band: f"DE{10**9 + 7919 * row}" for row, band in enumerate(table["band"])}
        table["account"] = [numbers[band] for band in table["band"]]
    _, first = np.unique(table["band"], return_index=True)
    rows = [[cells[row] for cells in table.values()] for row in first for _ in range(2)]
    same = _table(table, rows)
    for row in rows[1::6]:
        row[1] = "2026-11-11"
    changed = _table(table, rows)
    bounds = []
    for cells in (same, changed):
        estimates = deduplicate(cells, on=list(cells)).estimates
        [lower] = [each.precision_bounds[0] for each in estimates if each.threshold == 0.5]
        bounds.append(lower)
    assert bounds[1] < bounds[0] - 0.2


def test_bounds_say_that_many_rows_of_one_name_may_be_many_things():
    draw = np.random.default_rng(0)
    rows, truth = [], []
    for number in range(600):
        # A few towns have most of the offices.
        town = _NAMES[min(int(draw.pareto(1) * 3), 39)]
        office = f"{town} office of {_NAMES[int(draw.integers(100, 106))]}"
        street = f"{draw.integers(1, 400)} {_NAMES[int(draw.integers(100, 400))]} street"
        rows.append((office, street, town))
        truth.append(number)
        if draw.random() < 0.4:
            rows.append((office, _misspelled(street, draw), town))
            truth.append(number)
    table = _table(("office", "street", "town"), rows)
    found = deduplicate(table, on=list(table))
    [lower] = [each.precision_bounds[0] for each in found.estimates if each.threshold == 0.5]
    pairs = _pairs(found)
    assert lower < 0.2 and len(pairs & _true_pairs(truth)) < 0.2 * len(pairs)


def test_recall_is_not_known_where_values_are_too_frequent():
    draw = np.random.default_rng(0)
    names = words(80)
    people = [(names[first], names[town]) for first, town in draw.integers(0, 80, (3000, 2))]
    rows = [*people, *people[:900]]
    table = {"given": [row[0] for row in rows], "town": [row[1] for row in rows]}
    estimates = deduplicate(table, on=["given", "town"]).estimates
    [bounds] = [each.recall_bounds for each in estimates if each.threshold == 0.5]
    assert bounds[0] < 0.1
