"""Rivals: pairs of the same table, and pairs that better pairs outdo."""

from __future__ import annotations

import numpy as np
import pytest

from tests.search.linkage.conftest import f1, misspelled, pairs_of
from tests.texts import words
from tf_charagram.search import deduplicate, match


def _songs(seed: int) -> tuple[dict, dict, set[tuple[int, int]]]:
    """Makes songs of albums; shops name other rights, and each lacks a third of the songs."""
    draw = np.random.default_rng(seed)
    names = words(400)
    left, right, truth = [], [], set()
    for album in range(25):
        singer, title = f"{names[album]} {names[album + 30]}", f"{names[album + 60]} nights"
        for song in range(6):
            number = album * 6 + song
            seconds = int(draw.integers(120, 360))
            length = f"{seconds // 60}:{seconds % 60:02}"
            row = f"{names[100 + number]} {names[number]}", singer, title, length
            is_left, is_right = draw.random(2) < 0.67
            if is_left and is_right:
                truth.add((len(left), len(right)))
            rights = [f"{names[place]} music records" for place in draw.integers(0, 400, 2)]
            if is_left:
                left.append((*row, rights[0]))
            if is_right:
                right.append((*row, rights[0] if draw.random() < 0.5 else rights[1]))
    columns = "song singer album length rights".split()
    tables = [dict(zip(columns, zip(*rows, strict=True), strict=True)) for rows in (left, right)]
    return *tables, truth


def test_other_songs_of_an_album_are_rivals_and_other_rights_are_not():
    left, right, truth = _songs(0)
    found = match(left, right, None, on=list(left))
    assert f1(pairs_of(found), truth) > 0.97
    assert len(found.links.mixture.log_rivals)


def test_copies_are_no_rivals():
    left, right, truth = _songs(1)
    num_right = len(right["song"])
    right = {name: [*cells, *cells] for name, cells in right.items()}
    truth |= {(row, partner + num_right) for row, partner in truth}
    found = match(left, right, None, on=list(left))
    # The best pair of each right row is in the result.
    assert f1(pairs_of(found), truth) > 0.97


def test_other_songs_are_rivals_in_two_tables_with_copies():
    left, right, truth = _songs(2)
    num_left, num_right = len(left["song"]), len(right["song"])
    left, right = ({name: cells * 2 for name, cells in table.items()} for table in (left, right))
    found = match(left, right, None, on=list(left))
    assert len(found.links.mixture.log_rivals)
    # The copies of a row are one song.
    pairs = {(row % num_left, partner % num_right) for row, partner in pairs_of(found)}
    assert f1(pairs, truth) > 0.97


def _tables_of(on, sides, rows_of):
    """Returns a table for each list of things, and the thing of each row."""
    tables, things = [], []
    for side in sides:
        rows, own = [], []
        for thing in side:
            copies = rows_of(thing)
            rows += copies
            own += [thing] * len(copies)
        tables.append(dict(zip(on, zip(*rows, strict=True), strict=True)))
        things.append(np.array(own))
    return tables, things


def _shares_found(found, things):
    """Returns the share of pairs that are right, and of left rows with a partner that have one."""
    left, right = np.array(sorted(pairs_of(found))).T
    is_right = things[0][left] == things[1][right]
    has_partner = np.isin(things[0], things[1])
    return is_right.mean(), len(np.unique(left[is_right])) / has_partner.sum()


@pytest.mark.parametrize("seed", range(2))
def test_copies_with_typos_in_all_columns_are_no_rivals(seed):
    draw = np.random.default_rng(seed)
    names = words(700, seed)

    def rows_of(entity):
        of_entity = np.random.default_rng(entity)
        name = f"{of_entity.choice(names[:60])} {of_entity.choice(names)}"
        street = f"{of_entity.choice(names)} {of_entity.integers(1, 99)}"
        rows = []
        for _ in range(draw.integers(1, 3)):
            row = [name, street]
            for place in draw.integers(0, 2, draw.integers(1, 3)):
                row[place] = misspelled(draw, row[place])
            rows.append(row)
        return rows

    on = ["name", "street"]
    tables, things = _tables_of(on, (range(400), range(200, 600)), rows_of)
    found = match(*tables, None, on=on)
    assert found.links.have_copies == [True, True]
    precision, recall = _shares_found(found, things)
    assert precision > 0.95
    assert recall > 0.95


@pytest.mark.parametrize("seed", range(2))
def test_copies_that_moved_or_lack_values_are_no_rivals(seed):
    draw = np.random.default_rng(seed)
    names = words(700, seed)

    def rows_of(entity):
        of_entity = np.random.default_rng(entity)
        name = f"{of_entity.choice(names[:90])} {of_entity.choice(names)}"
        street = f"{of_entity.choice(names)} {of_entity.integers(1, 99)}"
        number = f"0{of_entity.integers(10**8, 10**9)}"
        born = str(np.datetime64("1950-01-01") + of_entity.integers(0, 20000))
        rows = []
        for _ in range(1 + (draw.random() < 0.4)):
            row = [name, street, number, born]
            if draw.random() < 0.3:
                row[1] = f"{draw.choice(names)} {draw.integers(1, 99)}"
            if draw.random() < 0.5:
                row[draw.integers(2, 4)] = ""
            if draw.random() < 0.3:
                row[0] = misspelled(draw, name)
            rows.append(row)
        return rows

    on = ["name", "street", "number", "born"]
    tables, things = _tables_of(on, (range(300), range(150, 450)), rows_of)
    precision, recall = _shares_found(match(*tables, None, on=on), things)
    assert precision > 0.95
    assert recall > 0.9


@pytest.mark.parametrize("num_common", [60, 300])
def test_payments_of_a_customer_are_rivals_beside_copies(num_common):
    draw = np.random.default_rng(0)
    names = words(500)

    def rows_of(payment):
        of_payment = np.random.default_rng(payment)
        customer = of_payment.integers(120)
        name = f"{names[customer]} {names[customer + 120]}"
        account = f"DE{10**15 + 7919 * customer}"
        day = np.datetime64("2024-01-01") + of_payment.integers(500)
        amount = f"{of_payment.integers(500, 90000) / 100:.2f}"
        rows = []
        for _ in range(1 + (draw.random() < 0.4)):
            own_name = misspelled(draw, name) if draw.random() < 0.3 else name
            own_account = "" if draw.random() < 0.3 else account
            later = draw.integers(0, 3)
            rows.append([own_name, own_account, str(day + later), amount])
        return rows

    on = ["customer", "account", "paid", "amount"]
    sides = range(500), range(500 - num_common, 1000 - num_common)
    tables, things = _tables_of(on, sides, rows_of)
    precision, recall = _shares_found(match(*tables, None, on=on), things)
    assert precision > 0.95
    assert recall > 0.95


def _cars(draw: np.random.Generator) -> tuple[list, list]:
    """Makes two tables of cars, some of them twice and half of them sold since."""
    names = words(400)
    tables: tuple[list, list] = [], []

    def owner_and_plate() -> tuple[str, str]:
        owner = f"{names[draw.integers(200)]} {names[draw.integers(200, 400)]}"
        return owner.title(), f"B-{draw.integers(1000, 9999)}"

    for car in range(500):
        model = f"{names[draw.integers(40)]} {names[draw.integers(9)]}"
        color = ["red", "blue", "white", "black"][draw.integers(4)]
        code = f"W{draw.integers(10**9, 10**10)}"
        sold = owner_and_plate()
        for side in (0, 1) if draw.random() < 0.6 else (int(draw.integers(2)),):
            for _ in range(1 + (draw.random() < 0.4)):
                sold = owner_and_plate() if draw.random() < 0.5 else sold
                seen = code if draw.random() < 0.7 else ""
                tables[side].append((model[: -1 - (car % 3 == 0)], color, seen, *sold, car))
    return tables


@pytest.mark.parametrize("seed", range(2))
def test_cars_are_in_both_tables_twice_and_were_sold(seed):
    tables = _cars(np.random.default_rng(seed))
    on = ["model", "color", "vin", "owner", "plate"]
    left, right = (dict(zip(on, zip(*rows, strict=True), strict=False)) for rows in tables)
    true = {
        (row, other)
        for row, (*_, car) in enumerate(tables[0])
        for other, (*_, other_car) in enumerate(tables[1])
        if car == other_car
    }
    assert f1(pairs_of(match(left, right, on=on)), true) > 0.85


def test_copies_that_all_changed_are_no_rivals():
    draw = np.random.default_rng(0)
    names = words(700)

    def rows_of(invoice):
        of_invoice = np.random.default_rng(invoice)
        customer = " ".join(of_invoice.permutation(names[of_invoice.integers(150) :][:3]))
        day = np.datetime64("2024-01-01") + of_invoice.integers(400)
        amount = f"{of_invoice.integers(2000, 900000) / 100:.2f}"
        rows = []
        for _ in range(1 + (draw.random() < 0.4)):
            # Each is booked on another day, and the name ends early.
            own_day = str(day + draw.integers(1, 40))
            number = "" if draw.random() < 0.35 else f"INV-{24000 + invoice}"
            rows.append([number, customer.upper()[: draw.choice([8, 12, 16])], amount, own_day])
        return rows

    on = ["invoice", "customer", "amount", "date"]
    tables, things = _tables_of(on, (range(500), range(250, 750)), rows_of)
    precision, recall = _shares_found(match(*tables, None, on=on), things)
    assert precision > 0.95
    assert recall > 0.9


def _flights(days: range, seed: int) -> dict[str, list[str]]:
    """Makes twenty flights, each on six of some days."""
    draw = np.random.default_rng(seed)
    table: dict[str, list[str]] = {"flight": [], "airport": [], "day": [], "seats": []}
    for number in range(20):
        for day in sorted(draw.permutation(days)[:6]):
            table["flight"].append(
                f"{('LH', 'BA', 'KL', 'IB')[number % 4]}{137 * number % 900 + 100}"
            )
            table["airport"].append(("AMS", "FRA", "MAD", "VIE", "CPH", "ZRH")[number % 6])
            table["day"].append(f"2024-03-{day:02}")
            table["seats"].append(str(draw.integers(60, 200)))
    return table


@pytest.mark.parametrize("seed", range(2))
def test_the_same_flight_on_another_day_is_a_rival(seed):
    left, later = _flights(range(1, 15), seed), _flights(range(15, 29), seed + 2)
    on = list(left)
    assert not pairs_of(match(left, later, None, on=on))
    common = [row for row in range(len(left["day"])) if row % 3]
    right = {name: [cells[row] for row in common] for name, cells in left.items()}
    # Seats were sold since.
    right["seats"] = [str(int(seats) + 3) for seats in right["seats"]]
    assert pairs_of(match(left, right, None, on=on)) == {(row, at) for at, row in enumerate(common)}


def test_a_column_that_often_differs_makes_no_relatives_that_no_table_has():
    draw = np.random.default_rng(0)
    names = words(400)
    owners = [f"{first} {last}" for first, last in zip(names[:200], names[200:], strict=True)]
    left = {"street": names[:150], "area": [str(area) for area in draw.integers(200, 9999, 150)]}
    right = dict(left)
    left["owner"] = owners[:150]
    is_sold = draw.random(150) < 0.35
    right["owner"] = list(np.where(is_sold, owners[50:], owners[:150]))
    found = match(left, right, None, on=list(left), identifies=["street", "owner"])
    assert f1(pairs_of(found), {(row, row) for row in range(150)}) > 0.98


def test_lists_in_cells_share_items_and_do_not_identify():
    draw = np.random.default_rng(0)
    names = words(300)
    rows, owners = [], []
    for owner in range(30):
        people = [f"{names[owner + 30 * place]} {names[owner]}" for place in range(4)]
        for _ in range(1 + owner % 7):
            # The firm may have other inventors in each patent.
            chosen = "; ".join(draw.permutation(people)[: 1 + owner % 3])
            rows.append((f"{names[owner + 200]} {names[owner + 100]} works", chosen))
            owners.append(owner)
    table = dict(zip(("owner", "inventors"), zip(*rows, strict=True), strict=True))
    found = deduplicate(table, None, on=["owner", "inventors"])
    assert [column.kind.name for column in found.links.columns] == ["text", "list"]
    groups = {frozenset(owners[row] for row in group.rows) for group in found.groups}
    assert len(groups) == len(found.groups) == len({*owners}) - owners_alone(owners)


def owners_alone(owners: list[int]) -> int:
    """Returns the number of owners with a single row."""
    return sum(owners.count(owner) == 1 for owner in {*owners})


@pytest.mark.parametrize("seed", range(2))
def test_variants_of_a_title_stay_apart(seed):
    draw = np.random.default_rng(seed)
    names = words(60)
    titles = []
    for place in range(30):
        for flavor in draw.permutation(["lemon", "mint", "rose", "peach"])[:3]:
            titles.append(f"{names[place]} {names[place + 30]} soap {flavor} {250}ml")
    left = [row for row in range(len(titles)) if draw.random() < 0.7]
    right = [row for row in range(len(titles)) if draw.random() < 0.7]
    tables = []
    for rows in (left, right):
        prices = [f"{draw.integers(2, 30)}.49" for _ in rows]
        tables.append({"title": [titles[row] for row in rows], "price": prices})
    truth = {(left.index(row), right.index(row)) for row in {*left} & {*right}}
    assert f1(pairs_of(match(*tables, None, on=["title", "price"])), truth) > 0.88
