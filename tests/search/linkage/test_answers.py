"""`match` and `deduplicate` with columns."""

from __future__ import annotations

import numpy as np
import pytest

from tests.search.linkage.conftest import (
    COLUMNS,
    as_table,
    changed,
    f1,
    firms,
    invoices,
    misspelled,
    pairs_of,
    people,
    person,
    products,
)
from tests.texts import words
from tests.variants import some_now
from tf_charagram.errors import ConfigError
from tf_charagram.search import deduplicate, match
from tf_charagram.search.linkage._columns.columns import read_columns
from tf_charagram.search.linkage._fellegi_sunter.asking import next_pair
from tf_charagram.search.linkage._fellegi_sunter.finding import find_links


@pytest.mark.parametrize("seed", some_now(range(3), 0))
def test_relatives_are_no_matches(seed):
    left, right, truth = people(seed)
    found = match(left, right, on=COLUMNS)
    assert f1(pairs_of(found), truth) > 0.95
    assert found.threshold == 0.5 and min(pair.score for pair in found.pairs) >= 0.5
    single = match(left, right, on=COLUMNS, one_to_one=True)
    for side in (0, 1):
        assert len({pair[side] for pair in single.pairs}) == len(single.pairs)
    assert match(left, right, on=COLUMNS, threshold=0.99).pairs == [
        pair for pair in found.pairs if pair.score >= 0.99
    ]


def make_duplicates(seed, number=200, sizes=(1, 1, 2, 3), typos=0.2):
    """Returns a table in any order, and the person of each row."""
    draw = np.random.default_rng(seed)
    names = words(120, seed)
    rows, entities = [], []
    for entity in range(number):
        values = person(draw, names)
        for _ in range(draw.choice(sizes)):
            rows.append(changed(draw, values, typos))
            entities.append(entity)
    order = draw.permutation(len(rows))
    return as_table([rows[row] for row in order]), np.array(entities)[order]


def group_pairs(found):
    return {
        (min(row, other), max(row, other))
        for group in found.groups
        for place, row in enumerate(group.rows)
        for other in group.rows[:place]
    }


@pytest.mark.parametrize("groups", ["average", "components"])
@pytest.mark.parametrize("seed", some_now(range(2), 0))
def test_duplicates(seed, groups):
    table, entities = make_duplicates(seed)
    left, right = np.nonzero(np.triu(entities[:, np.newaxis] == entities, 1))
    truth = set(zip(left.tolist(), right.tolist(), strict=True))
    found = deduplicate(table, on=COLUMNS, groups=groups)
    assert f1(group_pairs(found), truth) > 0.97
    dropped = {row for group in found.groups for row in group.rows[1:]}
    assert sorted([*found.kept, *dropped]) == list(range(len(entities)))
    [chosen] = [each for each in found.estimates if each.threshold == 0.5]
    hits = len(group_pairs(found) & truth)
    assert chosen.precision == pytest.approx(hits / len(group_pairs(found)), abs=0.05)
    assert chosen.recall == pytest.approx(hits / len(truth), abs=0.05)


def test_large_groups_are_whole():
    table, entities = make_duplicates(0, number=20, sizes=(1, 120), typos=0.1)
    found = deduplicate(table, on=COLUMNS)
    sizes = np.bincount(entities)
    largest = max(len(group.rows) for group in found.groups)
    # More than the candidates of a row.
    assert largest > 110 and largest <= sizes.max()


@pytest.mark.parametrize("seed", some_now(range(6), 0, 1))
@pytest.mark.parametrize("typos", [0.1, 0.4])
def test_estimates_are_near_the_truth(seed, typos):
    left, right, truth = people(seed, typos=typos)
    found = match(left, right, on=COLUMNS)
    [chosen] = [each for each in found.estimates if each.threshold == 0.5]
    hits = len(pairs_of(found) & truth)
    assert chosen.num_pairs == len(found.pairs)
    assert chosen.precision == pytest.approx(hits / len(found.pairs), abs=0.05)
    assert chosen.recall == pytest.approx(hits / len(truth), abs=0.05)


@pytest.mark.parametrize("seed", some_now(range(2), 0))
@pytest.mark.parametrize(
    ("make", "on", "min_f1"),
    [
        (people, COLUMNS, 0.97),
        pytest.param(people, ["first", "last"], 0.9, marks=pytest.mark.variant),
        (firms, ["firm", "town", "zip"], 0.97),
        (firms, ["firm"], 0.8),
        (products, ["brand", "title", "price"], 0.96),
        pytest.param(products, ["title"], 0.9, marks=pytest.mark.variant),
        (invoices, ["number", "firm", "amount", "date"], 0.97),
    ],
)
def test_the_truth_is_between_the_bounds(make, on, min_f1, seed):
    left, right, truth = make(seed)
    found = match(left, right, on=on)
    pairs = pairs_of(found)
    assert f1(pairs, truth) >= min_f1
    [chosen] = [each for each in found.estimates if each.threshold == 0.5]
    hits = len(pairs & truth)
    lower, upper = chosen.precision_bounds
    assert lower <= hits / len(pairs) <= upper and upper - lower < 0.4
    if len(on) == 1:
        assert np.isnan([chosen.recall, *chosen.recall_bounds]).all()
    else:
        lower, upper = chosen.recall_bounds
        assert lower <= hits / len(truth) <= upper
        # Few columns tell little about the matches that are missing.
        assert upper - lower < (0.4 if len(on) > 3 else 0.75)


def test_namesakes_lower_the_bound():
    """Branches of a chain have one name: of n rows with it, one matches."""
    random = np.random.default_rng(0)
    chains = [f"{one} {two}" for one in ("North", "Grand", "Old") for two in ("Inn", "Hotel")]
    branches = random.choice(chains, 60).tolist()
    # The last 20 of the 40 left branches are the first 20 of the right ones.
    found = match(branches[:40], branches[20:], None)
    hits = [pair.left == pair.right + 20 for pair in found.pairs]
    [chosen] = [each for each in found.estimates if each.threshold == 0.9]
    assert chosen.num_pairs == len(hits) >= 40
    assert chosen.precision_bounds[0] <= np.mean(hits) < 0.2


@pytest.mark.parametrize(
    ("make", "on"),
    [
        (people, COLUMNS),
        pytest.param(people, ["first", "last"], marks=pytest.mark.variant),
        (firms, ["firm", "town", "zip"]),
        pytest.param(firms, ["firm", "town"], marks=pytest.mark.variant),
        (products, ["brand", "title", "price"]),
        (invoices, ["number", "firm", "amount", "date"]),
    ],
)
@pytest.mark.parametrize("threshold", some_now([0.1, 0.5, 0.9], 0.5))
def test_the_truth_of_groups_is_between_the_bounds(make, on, threshold):
    left, right, truth = make(0)
    table = {name: left[name] + right[name] for name in on}
    num_left = len(left[on[0]])
    truth = {(row, num_left + other) for row, other in truth}
    found = deduplicate(table, on=on, threshold=threshold)
    pairs = group_pairs(found)
    [chosen] = [each for each in found.estimates if each.threshold == threshold]
    hits = len(pairs & truth)
    lower, upper = chosen.precision_bounds
    assert lower <= hits / len(pairs) <= upper
    lower, upper = chosen.recall_bounds
    assert lower <= hits / len(truth) <= upper


@pytest.mark.parametrize("num_names", [100, 800])
def test_the_estimate_of_recall_counts_copies_of_frequent_rows(num_names):
    draw = np.random.default_rng(num_names)
    shares = 1 / np.arange(1, num_names + 1) ** 0.8
    rows = draw.choice(words(num_names), (2000, 2), p=shares / shares.sum())
    things = [*range(2000), *draw.choice(2000, 600, replace=False).tolist()]
    table = {"first": rows[things, 0].tolist(), "town": rows[things, 1].tolist()}
    found = deduplicate(table, None, on=["first", "town"])
    truth = {(thing, row) for row, thing in enumerate(things[2000:], start=2000)}
    recall = len(group_pairs(found) & truth) / len(truth)
    [chosen] = [each for each in found.estimates if each.threshold == found.threshold]
    # Many of the copies look like two rows of the same name and town.
    assert (recall < 0.5) == (num_names == 100)
    assert chosen.recall == pytest.approx(recall, abs=0.15)


@pytest.mark.parametrize("seed", some_now(range(2), 0))
def test_prices_that_change_do_not_make_relatives(seed):
    left, right, truth = products(seed, number=200)
    draw = np.random.default_rng(seed)
    factors = draw.uniform(0.2, 3, len(right["price"]))
    prices = zip(right["price"], factors, strict=True)
    right["price"] = [f"{float(price) * factor:.2f}" for price, factor in prices]
    found = match(left, right, on=["brand", "title", "price"])
    assert f1(pairs_of(found), truth) > 0.93


def make_labels(left, right, truth, number):
    """Labels random candidates, and 40 matches."""
    draw = np.random.default_rng(0)
    candidates = match(left, right, on=COLUMNS).links.pairs
    chosen = candidates[draw.permutation(len(candidates))[:number]].tolist() + sorted(truth)[:40]
    return [(row, other, int((row, other) in truth)) for row, other in chosen]


@pytest.fixture(scope="module")
def labelled():
    """Returns tables with many typos, their true pairs, some labels, and the answer with them."""
    left, right, truth = people(1, typos=0.5)
    labels = make_labels(left, right, truth, 100)
    return left, right, truth, labels, match(left, right, on=COLUMNS, labels=labels)


def test_labels_of_rows_and_texts(labelled):
    left, right, truth, labels, found = labelled
    assert found.learned.precision > 0.8 and found.learned.recall > 0.8
    assert f1(pairs_of(found), truth) > 0.9
    texts = []
    for row, other, label in labels:
        cells = [" ".join(table[name][place] for name in COLUMNS)
                 for table, place in ((left, row), (right, other))]  # fmt: skip
        texts.append((*cells, label))
    assert pairs_of(match(left, right, on=COLUMNS, labels=texts)) == pairs_of(found)


def test_wrong_labels_are_told_before_tables_are_compared(monkeypatch):
    monkeypatch.delattr("tf_charagram.search.linkage._fellegi_sunter.finding.candidate_pairs")
    left, right, _ = people(0)
    with pytest.raises(ConfigError, match="`labels` must name rows of the right table, from 0 to"):
        match(left, right, on=COLUMNS, labels=[(0, 10_000, 1)] * 4)
    with pytest.raises(ConfigError, match="must be two rows and 1 or 0 each"):
        match(left, right, on=COLUMNS, labels=[(0, 0, 2)] * 4)


FEW_LABELS = [[], [(0, 0, 1)] * 4, [(0, 1, 0), (1, 0, 0), (2, 2, 1)]]


@pytest.mark.parametrize("number", some_now(range(len(FEW_LABELS)), 2))
def test_few_labels_change_nothing(number):
    left, right, _ = people(0)
    found = match(left, right, on=COLUMNS, labels=FEW_LABELS[number])
    assert found.learned is None and found.pairs == match(left, right, on=COLUMNS).pairs


@pytest.mark.parametrize("seed", some_now(range(2), 0))
def test_few_random_labels_do_not_hurt(seed):
    left, right, truth = people(seed)
    draw = np.random.default_rng(seed)
    candidates = match(left, right, on=COLUMNS).links.pairs
    chosen = candidates[draw.permutation(len(candidates))[:40]].tolist() + sorted(truth)[:10]
    labels = [(row, other, int((row, other) in truth)) for row, other in chosen]
    found = match(left, right, on=COLUMNS, labels=labels)
    assert f1(pairs_of(found), truth) > 0.95


def test_questions_have_both_answers():
    left, right, truth = people(0)
    links = find_links(read_columns(left, right, COLUMNS))
    # All that is unsure is a match.
    links.probabilities = np.where(links.probabilities > 0.5, 0.6, links.probabilities / 10)
    asked = {}
    for _ in range(20):
        rows = tuple(links.pairs[next_pair(links, asked)].tolist())
        asked[rows] = int(rows in truth)
    assert 4 <= sum(asked.values()) <= 16


def test_evidence_sums_to_the_log_odds():
    left, right, _ = people(1)
    found = match(left, right, on=COLUMNS)
    for pair in found.pairs[::20]:
        evidence = found.explain(pair.left, pair.right)
        assert [each.column for each in evidence] == ["prior", *COLUMNS, "together"]
        odds = 2.0 ** sum(each.weight for each in evidence)
        assert odds / (1 + odds) == pytest.approx(pair.score, abs=1e-6)
    best = found.alternatives(0)[0]
    assert found.explain(0) == found.explain(0, best.right)
    scores = [each.score for each in found.alternatives(0, 5)]
    assert len(scores) == 5 and scores == sorted(scores, reverse=True)


def test_learned_evidence_sums_to_the_log_odds(labelled):
    found = labelled[-1]
    for pair in found.pairs[::20]:
        evidence = found.explain(pair.left, pair.right)
        assert [each.column for each in evidence] == ["prior", *COLUMNS, "together"]
        odds = 2.0 ** sum(each.weight for each in evidence)
        assert odds / (1 + odds) == pytest.approx(pair.score, abs=1e-6)
    same = found.explain(0, 0)
    other = found.explain(0, 1)
    assert all(one.weight > two.weight for one, two in zip(same[1:3], other[1:3], strict=True))


def test_a_missing_value_is_no_evidence():
    left, right, _ = people(2)
    right = {**right, "born": ["N/A"] * len(right["born"])}
    found = match(left, right, on=COLUMNS)
    born = found.explain(0, 0)[-2]
    assert born[:1] + born[3:] == ("born", "missing", 0)


INVOICES = {
    "number": ["1001", "1002", "1010"],
    "firm": ["Acme"] * 3,
    "amount": ["100.00", "100.00", "1000.00"],
    "date": ["2024-01-05", "2024-01-06", "2024-10-05"],
}
HOUSEHOLD = {
    "name": ["Maria Novak", "Peter Novak"],
    "street": ["12 Hill Road"] * 2,
    "city": ["Leeds"] * 2,
    "zip": ["4011"] * 2,
    "born": ["19560409", "19880112"],
}
TWO_BIRTHS = {"name": ["John Smith"] * 2, "born": ["1980-01-02", "1981-01-02"]}
FIRMS = {
    "name": [
        "Alpha Sanborn Solutions Limited Liability Company",
        "Beta Ridge Solutions Limited Liability Company",
    ]
}
BUTTER = {"name": ["Butter salted", "Butter unsalted"]}
VERSIONS = {"name": ["Python 3.8", "Python 3.9", "Python 3.10"]}
LANGUAGES = {"job": ["C developer", "C++ developer", "C# developer", "Java developer"]}
DOSES = {"drug": ["Aspirin 100 mg", "Aspirin 500 mg", "Ibuprofen 400 mg"]}


SAME_PRICE = {"brand": ["Sony", "Bosch", "Sony"], "price": ["100.00", "100.00", "250.00"]}
SHIRTS = {"item": ["T-shirt red L", "T-shirt red XL", "T-shirt red M"], "brand": ["Acme"] * 3}
# In a single column, other ways of comparing are used.
CODE_LIKE = [
    ["T-shirt L", "T-shirt XL"],
    ["iPhone 128 GB", "iPhone 14"],
    ["Galaxy 256 GB", "Galaxy S22"],
    ["Rocky II", "Rocky III", "Rocky IV"],
    ["Hepatitis A vaccine", "Hepatitis B vaccine"],
    ["Portland OR", "Portland ME"],
    ["Milk 1 l", "Milk 500 ml"],
]
SAME_AUTHOR = {"title": ["Emma", "Persuasion", "Sanditon"], "author": ["Jane Austen"] * 3}
TOWN_ONLY = {"firm": ["Acme", "Globex", "Zeta", "Hooli"], "city": ["Rome", "Rome", "Oslo", "Oslo"]}
SMALL_TABLES = [INVOICES, HOUSEHOLD, TWO_BIRTHS, FIRMS, BUTTER, VERSIONS, LANGUAGES, DOSES]
SMALL_TABLES += [SAME_PRICE, SHIRTS, SAME_AUTHOR, TOWN_ONLY]
SMALL_TABLES += [{"item": items} for items in CODE_LIKE]
SMALL_TABLES += [{**DOSES, "maker": ["Bayer", "Bayer", "Roche"]}]


@pytest.mark.parametrize("number", some_now(range(len(SMALL_TABLES)), 0, 1, 9, 13))
def test_small_tables_without_duplicates(number):
    table = SMALL_TABLES[number]
    assert not deduplicate(table, on=list(table)).groups


WITH_A_DUPLICATE = [
     {"name": ["Acme, Inc.", "Acme Inc"], "city": ["Berlin", ""]}, {"name": ["Acme", "Acme Inc"]},
     {name: [values[0]] * 2 for name, values in HOUSEHOLD.items()},
     {"first": ["William", "Bill", "Ann"], "last": ["Gates", "Gates", "Lee"]},
     {"first": ["Ibo", "Ibo", "Ann"], "last": ["Müller", "Mueller", "Lee"]},
     {"firm": ["Acme", "Acme"], "city": ["Berlin", ""], "phone": ["", "030 12345"]},
     {"firm": ["Acme", "Acme Inc", "Globex"], "city": ["Berlin", "", "Paris"]},
     {"title": ["The Great Gatsby", "Great Gatsby", "Moby Dick"], "year": [1925, 1925, 1851]},
     {"title": ["The Old Man and the Sea", "Old Man & the Sea", "The Trial", "Emma"],
      "author": ["Hemingway", "Ernest Hemingway", "Kafka", "Austen"]},
     {"band": ["The Beatles", "Beatles", "Queen"]},
     {"brand": ["Sony", "Sony", "Bosch", "LG"], "price": ["99.99", "99.99", "99.99", "49.00"]},
     {"item": ["Black T-shirt L", "Black T-shirt, L", "Black T-shirt XL", "Black T-shirt M"]},
     {"item": ["Drill 12 V", "drill 12V", "Saw 18 V"]},
     {"paper": ["J Gray and A Reuter: Transaction processing concepts in large stores 1993",
                "D Gray and A Reuter: Transaction processing concepts of large stores 1993",
                "E Codd: A relational model of data for large shared data banks 1970"]},
     {"item": ["Apple iPhone 14 128GB", "iPhone 14 128 GB", "Apple iPhone 13 128GB"]},
]  # fmt: skip


@pytest.mark.parametrize("number", some_now(range(len(WITH_A_DUPLICATE)), 0, 3, 10, 13))
def test_small_tables_with_a_duplicate(number):
    table = WITH_A_DUPLICATE[number]
    assert [group.rows for group in deduplicate(table, on=list(table)).groups] == [[0, 1]]


FIRST = "Ann Bob Carl Dora Eve Finn Gus Hal Ida Jon".split()
OTHER_FIRST = "Anne Bob Karl Dora Eve Max Leo Sam Tim Jon".split()
LAST = "Lee Ray Fox Kay Orr Day May Poe Roe Sun".split()
OTHER_LAST = "Lee Ray Fox Kay Orr Zed Yak Box Cox Sun".split()
TOWNS = ["Rome"] * 5 + ["Oslo"] * 5


@pytest.mark.parametrize(
    ("left", "right", "pairs"),
    [
        (
            {"firm": ["Acme", "Globex", "Initech"]},
            {"firm": ["Acme Inc", "Globex Corporation", "Umbrella"]},
            {(0, 0), (1, 1)},
        ),
        (
            {"city": ["Munich", "Vienna", "Prague"], "country": ["DE", "AT", "CZ"]},
            {"city": ["Munich", "Viena", "Rome"], "country": ["DE", "AT", "IT"]},
            {(0, 0), (1, 1)},
        ),
        (
            {"name": ["अमित शर्मा", "प्रिया सिंह", "राहुल वर्मा"]},
            {"name": ["अमीत शर्मा", "प्रिया सिंह", "सुनील गुप्ता"]},
            {(0, 0), (1, 1)},
        ),
        (
            {"name": ["Ann Lee", "Bob Ray"], "mail": ["ann@x.org", "bob@x.org"]},
            {"name": ["Ann M. Lee", "Robert Ray"], "mail": ["ann@x.org", "bob@x.org"]},
            {(0, 0), (1, 1)},
        ),
        (
            {"firm": ["Acme", "Globex"], "city": ["Berlin", ""], "zip": ["", "10115"]},
            {"firm": ["Acme", "Globex Inc"], "city": ["", "Paris"], "zip": ["10117", ""]},
            {(0, 0), (1, 1)},
        ),
        (
            {"firm": ["Acme", "Globex"], "city": ["Rome", "Oslo"]},
            {"firm": ["Zeta", "Initech"], "city": ["Rome", "Oslo"]},
            set(),
        ),
        (
            {"brand": ["Sony", "Bosch"], "price": ["100", "200"]},
            {"brand": ["Sony", "Makita"], "price": ["100", "200"]},
            {(0, 0)},
        ),
        (
            {"item": ["Sony TV", "Bosch drill"], "price": ["499", "99"]},
            {"item": ["Sony television", "Bosch Drill"], "price": ["489", "95"]},
            {(0, 0), (1, 1)},
        ),
        (
            {"first": FIRST, "last": LAST, "town": TOWNS},
            {"first": OTHER_FIRST, "last": OTHER_LAST, "town": TOWNS},
            {(row, row) for row in (0, 1, 2, 3, 4, 9)},
        ),
    ],
)
def test_small_tables_to_match(left, right, pairs):
    assert pairs_of(match(left, right, on=list(left))) == pairs


@pytest.mark.parametrize("seed", some_now(range(2), 0))
def test_a_single_text_is_matched_as_in_a_list(seed):
    draw = np.random.default_rng(seed)
    names = words(200, seed)
    products = [" ".join([*draw.choice(names, 4), f"x{row:03}"]) for row in range(450)]
    offers = []
    for product in products[:300]:
        kept = draw.permutation(product.split())[:4]
        offers.append(" ".join([misspelled(draw, kept[0]), *kept[1:], draw.choice(names)]))
    # Half of the offers have no product.
    products = products[:150] + products[300:]
    truth = {(row, row) for row in range(150)}
    found = match({"a": offers}, {"b": products}, on=["a"], on_right=["b"])
    assert found.pairs == match(offers, products).pairs
    assert f1(pairs_of(found), truth) > 0.9


def test_titles_are_compared_by_vectors():
    draw = np.random.default_rng(0)
    titles = [" ".join(draw.choice(words(200, 5), 4)) for _ in range(60)]
    prices = [f"{price}.00" for price in draw.integers(5, 900, 60)]
    left = {"title": titles, "price": prices}
    right = {"title": [misspelled(draw, title) for title in titles], "price": prices}
    scores = []
    for model in (None, "english-mini"):
        found = match(left, right, model, on=["title", "price"])
        assert len(pairs_of(found) & {(row, row) for row in range(60)}) == 60
        scores.append([pair.score for pair in found.pairs])
    assert scores[0] != scores[1]


@pytest.mark.parametrize("seed", some_now(range(4), 0, 1))
def test_tables_with_copies(seed):
    """The second copy of a row, with a typo, is the same thing as the first."""
    draw = np.random.default_rng(seed)
    names = words(120, seed)
    people = []
    for _ in range(600):
        name = f"{names[draw.integers(15)]} {draw.choice(names)}"
        people.append([name, person(draw, names)[-1]])
    sides = []
    for entities in (range(400), range(200, 600)):
        rows, numbers = [], []
        for entity in entities:
            for _ in range(draw.geometric(0.8)):
                row = list(people[entity])
                if draw.random() < 0.5:
                    column = draw.integers(2)
                    row[column] = misspelled(draw, row[column])
                rows.append(row)
                numbers.append(entity)
        sides.append((as_table(rows, ["name", "born"]), np.array(numbers)))
    (left, left_entities), (right, right_entities) = sides
    found = np.array(sorted(pairs_of(match(left, right, on=["name", "born"]))))
    is_right = left_entities[found[:, 0]] == right_entities[found[:, 1]]
    assert is_right.mean() > 0.95
    num_shared = np.isin(left_entities, right_entities).sum()
    assert len(np.unique(found[is_right, 0])) > 0.95 * num_shared


def test_odd_tables():
    empty = {"a": [], "b": []}
    some = {"a": ["x", ""], "b": ["", None]}
    assert match(empty, some, on=["a", "b"]).pairs == match(some, empty, on=["a", "b"]).pairs == []
    assert deduplicate(empty, on=["a", "b"]).groups == []
    one = {"a": ["x"], "b": ["y"], "c": ["z"]}
    assert deduplicate(one, on=["a", "b", "c"]).kept == [0]
    nothing = {"a": [], "b": [], "c": []}
    assert match(one, nothing, on=["a", "b", "c"]).pairs == []
    blank = {"a": ["", "-"], "b": [None, "NULL"]}
    assert deduplicate(blank, on=["a", "b"]).kept == [0, 1]
    assert match(blank, blank, on=["a", "b"]).pairs == []


def test_errors():
    table = {"a": ["x", "y"], "b": ["z", "z"]}
    for options, message in (
        ({"on": "a"}, "`on` must be a list of names"),
        ({"on": ["a", "a"]}, "`on` must name a column once"),
        ({"on": ["a", "b"], "identifies": "a"}, "`identifies` must be a list of names"),
        ({"on": []}, "at least one"),
        ({"on": ["c"]}, "Unknown column 'c'"),
        ({"on": ["a"], "kinds": {"b": "text"}}, "Unknown column 'b'"),
        ({"on": ["a"], "threshold": 2}, r"`threshold` must be in \[0, 1\]"),
    ):
        with pytest.raises(ConfigError, match=message):
            match(table, table, **options)
        with pytest.raises(ConfigError, match=message):
            deduplicate(table, **options)
    with pytest.raises(ConfigError, match="the same number of columns"):
        match(table, table, on=["a"], on_right=["a", "b"])
    with pytest.raises(ConfigError, match="Unknown kind of groups"):
        deduplicate(table, on=["a"], groups="star")
    with pytest.raises(ConfigError, match="the same length"):
        deduplicate({"a": ["x"], "b": []}, on=["a", "b"])


def test_a_large_group_is_found_by_its_common_values():
    draw = np.random.default_rng(0)
    names = words(300, 0)
    rows, things = [], []
    for row in range(400):
        # A third of the rows are of one firm, whose name is written in several ways.
        thing = 0 if row % 3 == 0 else int(draw.integers(1, 150))
        name = names[thing]
        if not thing:
            name = draw.choice([name, f"{name} electronics", f"royal {name}"])
        place = [f"{50 + thing / 70:.5f}", f"{4 + thing / 50:.5f}"]
        rows.append([name, *place, *draw.choice(names, 2)])
        things.append(thing)
    on = ["name", "latitude", "longitude", "inventor", "agent"]
    found = deduplicate(as_table(rows, on), on=on)
    largest = max(found.groups, key=lambda group: len(group.rows))
    assert {things[row] for row in largest.rows} == {0}
    assert len(largest.rows) > 0.9 * things.count(0)


def test_variants_in_titles_stay_apart():
    draw = np.random.default_rng(0)
    names = words(120, 0)
    rows, things = [], []
    for line in range(40):
        brand = names[line % 5]
        title = f"{names[5 + line]} {names[50 + line]} shirt"
        for color in draw.choice(["red", "blue", "green", "black"], 3, replace=False):
            for form in (f"{brand} {title} {color}", f"{title} {color}"):
                rows.append([form, brand, f"{20 + line}.99"])
                things.append((line, color))
    on = ["title", "brand", "price"]
    found = deduplicate(as_table(rows, on), on=on)
    groups = [{things[row] for row in group.rows} for group in found.groups]
    assert [len(group) for group in groups] == [1] * 120


def test_columns_of_the_table_keep_their_values():
    table = {"name": ["Ann Lee", "Bob Ray", "Ann Lee"], "group": ["x", "y", "z"]}
    table["score"] = ["1", "2", "1"]
    numbered = deduplicate(table, on=["name", "score"]).table(table)
    assert numbered["group"] == ["x", "y", "z"]
    assert numbered["group_2"] == [1, 0, 1]
    found = match(table, table, on=["name", "score"])
    joined = found.join(table, table)
    assert joined["score"] == [table["score"][pair.left] for pair in found.pairs]
    assert joined["score_2"] == [pair.score for pair in found.pairs]
    assert found.pairs
