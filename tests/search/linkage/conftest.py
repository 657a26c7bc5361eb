"""Made-up tables of people, firms, products and invoices: partners with typos, and others."""

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


def species(num_copies, number=1500):
    """Returns names of species of which many are alike, then misspelled copies; and the things."""
    draw = np.random.default_rng(0)
    genera = words(number // 10)
    epithets = words(number // 6, 1)
    texts = {}
    while len(texts) < number:
        genus = draw.choice(genera) + draw.choice(["us", "a", "um"])
        epithet = draw.choice(epithets) + draw.choice(["us", "a", "um", "ensis", "oides"])
        texts[f"{genus} {epithet}"] = None
    texts = list(texts)
    copied = draw.choice(number, num_copies, replace=False)
    copies = [misspelled(draw, texts[row]) for row in copied]
    return [*texts, *copies], np.append(np.arange(number), copied)


def joined_pairs(groups, things):
    """Returns the number of right and of wrong pairs of rows in the same group."""

    def num_pairs(keys):
        sizes = np.unique(keys, return_counts=True)[1]
        return int((sizes * (sizes - 1) // 2).sum())

    groups = np.array(groups)
    right = num_pairs(groups * (things.max() + 1) + things)
    return right, num_pairs(groups) - right


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


def firms(seed, number=400):
    """Firms with and without legal forms; others on the right have a word in common with one."""
    draw = np.random.default_rng(seed)
    names = words(150, seed)

    def firm():
        name = " ".join(draw.choice(names, draw.integers(1, 4)))
        trade = draw.choice(["Trading", "Solutions", "Group", ""])
        return [
            f"{name} {trade}".strip(),
            names[draw.integers(15)],
            f"{draw.integers(10000, 99999)}",
        ]

    left = [firm() for _ in range(number)]
    right = []
    for name, town, code in left[: number // 2]:
        form = draw.choice(["Inc", "Ltd", "GmbH", "LLC", ""])
        name = misspelled(draw, name) if draw.random() < 0.3 else name
        town = names[draw.integers(15)] if draw.random() < 0.2 else town
        right.append([f"{name} {form}", town, "" if draw.random() < 0.2 else code])
    for _ in range(number // 4):
        other = firm()
        word = left[draw.integers(number)][0].split()[0]
        right.append([f"{word} {other[0]}", *other[1:]])
    columns = ["firm", "town", "zip"]
    return as_table(left, columns), as_table(right, columns), diagonal(number // 2)


def products(seed, number=400):
    """Products of two shops; others on the right are other models of the same line."""
    draw = np.random.default_rng(seed)
    names = words(120, seed)
    left = []
    for _ in range(number):
        brand = names[draw.integers(8)]
        model = f"{brand[:2]}{draw.integers(100, 999)}"
        title = " ".join([brand, *draw.choice(names, 3), model])
        left.append([brand, title, f"{draw.integers(10, 500)}.00"])
    right = []
    for brand, title, price in left[: number // 2]:
        parts = title.split()
        if draw.random() < 0.3:
            parts.pop()
        if draw.random() < 0.5:
            parts[1] = misspelled(draw, parts[1])
        parts.append(draw.choice(names))
        new_price = f"{float(price) * draw.uniform(0.9, 1.1):.2f}"
        right.append([brand, " ".join(parts), new_price])
    for row in draw.choice(number, number // 3, replace=False).tolist():
        brand, title, price = left[row]
        line = title.rpartition(" ")[0]
        right.append([brand, f"{line} {brand[:2]}{draw.integers(100, 999)}", price])
    columns = ["brand", "title", "price"]
    return as_table(left, columns), as_table(right, columns), diagonal(number // 2)


def invoices(seed, number=400):
    """Invoices in two books, of 40 firms; others on the right have other numbers."""
    draw = np.random.default_rng(seed)
    names = words(40, seed)

    def day():
        return f"2024-{draw.integers(1, 13):02}-{draw.integers(1, 29):02}"

    def invoice(code):
        return [f"{1000 + code}", draw.choice(names), f"{draw.integers(5, 300)}0.00", day()]

    left = [invoice(code) for code in range(number)]
    right = []
    for code, firm, amount, date in left[: number // 2]:
        code = misspelled(draw, code) if draw.random() < 0.15 else code
        firm = misspelled(draw, firm) if draw.random() < 0.2 else firm
        amount = "" if draw.random() < 0.1 else amount
        right.append([code, firm, amount, day() if draw.random() < 0.2 else date])
    right += [invoice(code) for code in range(number, number + number // 3)]
    columns = ["number", "firm", "amount", "date"]
    return as_table(left, columns), as_table(right, columns), diagonal(number // 2)


def diagonal(number):
    return {(row, row) for row in range(number)}


def as_table(rows, columns=COLUMNS):
    return {name: [row[place] for row in rows] for place, name in enumerate(columns)}


def f1(found, truth):
    return 2 * len(found & truth) / (len(found) + len(truth))


def pairs_of(found):
    """Returns the rows of the matches."""
    return {(pair.left, pair.right) for pair in found.pairs}
