"""Trigrams, candidates, evidence and the mixture, next to slow versions of them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.search.linkage.conftest import COLUMNS, as_table, changed, misspelled, people, person
from tests.texts import words
from tf_charagram.search._pairs.connected import components
from tf_charagram.search.linkage._columns.columns import make_column, read_columns
from tf_charagram.search.linkage._columns.ngrams import trigram_tfidf, trigrams
from tf_charagram.search.linkage._fellegi_sunter import blocking
from tf_charagram.search.linkage._fellegi_sunter.blocking import candidate_pairs
from tf_charagram.search.linkage._fellegi_sunter.evidence import (
    ABSENT,
    EQUAL,
    Agreement,
    chance_levels,
    compare_column,
    compare_columns,
    count_things,
    num_levels,
    random_pairs,
)
from tf_charagram.search.linkage._fellegi_sunter.finding import find_links
from tf_charagram.search.linkage._fellegi_sunter.fitting import _lifts


def test_trigrams():
    rows, keys = trigrams(["ab", "", "x", "abab"])
    found = [(int(row), "".join(chr(key >> shift & 0x1FFFFF) for shift in (42, 21, 0)))
             for row, key in zip(rows, keys, strict=True)]  # fmt: skip
    expected = [(0, " ab"), (0, "ab "), (2, " x "), (3, " ab"), (3, "aba"), (3, "bab"), (3, "ab ")]
    assert found == expected
    vectors = trigram_tfidf(["ab", "", "x", "abab"]).toarray()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 0, 1, 1], atol=1e-6)
    assert len(trigrams([])[0]) == 0


@pytest.fixture(name="by_ends")
def candidates_by_ends(monkeypatch):
    """Finds candidates of small tables as of large ones."""
    monkeypatch.setattr(blocking, "_MAX_SMALL", 0)
    monkeypatch.setattr(blocking, "_MIN_TOLD", 4.0)
    monkeypatch.delattr(blocking, "_keys")


@pytest.mark.parametrize("fixture", [None, "by_ends"])
@pytest.mark.parametrize("seed", range(3))
def test_candidates_have_all_equal_and_misspelled_rows(seed, fixture, request):
    if fixture:
        request.getfixturevalue(fixture)
    left, right, truth = people(seed)
    pairs = candidate_pairs(read_columns(left, right, COLUMNS), k=10)
    assert truth <= set(map(tuple, pairs.tolist()))
    assert np.bincount(pairs[:, 0]).max() <= 10
    both = {name: left[name] + right[name] for name in COLUMNS}
    pairs = candidate_pairs(read_columns(both, None, COLUMNS), k=10)
    num_left = len(left["first"])
    assert {(row, num_left + other) for row, other in truth} <= set(map(tuple, pairs.tolist()))
    assert (pairs[:, 0] < pairs[:, 1]).all()


def test_candidates_connect_the_rows_of_a_large_group(by_ends):
    draw = np.random.default_rng(0)
    names = words(120, 0)
    rows = [person(draw, names) for _ in range(2000)]
    group = [changed(draw, rows[0], 0.2) for _ in range(200)]
    columns = read_columns(as_table([*group, *rows[1:]]), None, COLUMNS)
    pairs = candidate_pairs(columns)
    inner = pairs[pairs[:, 1] < len(group)]
    assert components(len(group), inner).max() == 0


def test_copies_do_not_crowd_out_others():
    table = {"name": ["anna smith", "anne smith", "", *["anna smith"] * 9, ""]}
    table["town"] = [value and "leeds" for value in table["name"]]
    pairs = set(
        map(tuple, candidate_pairs(read_columns(table, None, ["name", "town"]), k=2).tolist())
    )
    assert pairs == {(0, 1), *((0, copy) for copy in range(3, 12))}


def test_levels():
    left = ["Anna", "Anna", "Anna", "Anna", "", "Bob"]
    right = ["anna", "Annna", "Zoe", "", "Bob", "Bob"]
    column = make_column("n", left, right, "name")
    rows = np.arange(len(left))
    found = compare_column(column, np.stack([rows, rows], axis=1))
    last = num_levels(column) - 1
    assert found.levels.tolist() == [EQUAL, EQUAL + 1, last, ABSENT, ABSENT, EQUAL]
    assert found.similarities[0] == 1 and (found.similarities[3:5] == 0).all()
    assert (found.log_frequencies[[0, 5]] < 0).all() and (found.log_frequencies[1:5] == 0).all()


def test_rare_values_are_more_evidence():
    column = make_column("n", ["smith"] * 50 + words(50), None)
    frequencies = np.exp(column.log_frequency)
    assert frequencies[0] > 0.4 and (frequencies[1:] < 0.01).all()


def test_references_count_by_their_frequency():
    # Firms with many rows are duplicates, and standing orders are not.
    counts = [*["Standing order 4"] * 50, *(f"Invoice no {number}" for number in range(200))]
    column = make_column("reference", counts, None)
    assert column.is_identifying
    assert np.exp(column.log_frequency)[0] > 0.15
    names = [*["Acme Trading"] * 50, *(f"{word} Trading" for word in words(200))]
    assert np.exp(make_column("firm", names, None).log_frequency)[0] < 0.01


def test_names_in_the_other_order_are_near():
    left, right = {"a": ["anna"], "b": ["smith"]}, {"a": ["smith"], "b": ["anna"]}
    columns = read_columns(left, right, ["a", "b"])
    found = compare_columns(columns, np.array([[0, 0]]))
    assert [each.levels[0] for each in found] == [EQUAL + 1] * 2


def test_chance_is_of_the_table_without_duplicates():
    names = words(100)
    column = make_column("n", names, names[:50] * 2)
    shares = chance_levels(column, random_pairs([column]))
    assert shares[ABSENT] == 0 and shares.sum() == pytest.approx(1)
    assert shares[EQUAL] < 0.002


def test_what_all_pairs_of_two_tables_have_is_chance():
    column = make_column("street", ["Harbour Street 12"] * 50, ["Harbour Str. 12"] * 40, "name")
    shares = chance_levels(column, random_pairs([column]))
    [level] = {*compare_columns([column], np.array([[0, 0]]))[0].levels.tolist()}
    assert level != EQUAL and shares[level] == shares.max() > 0.4


@pytest.mark.parametrize("seed", range(3))
def test_the_fit_finds_matches_and_rivals(seed):
    left, right, truth = people(seed)
    links = find_links(read_columns(left, right, COLUMNS))
    mixture = links.mixture
    # Relatives, who are in both tables, share the last name, the street and the town.
    are_shared = np.stack([1 - shares[:, -1] > 0.5 for shares in mixture.rivals], axis=1)
    assert [0, 1, 1, 1, 0] in are_shared.astype(int).tolist()
    shares = np.exp(mixture.log_priors)
    assert shares.sum() == pytest.approx(1)
    num_all = len(left["first"]) * len(right["first"])
    assert shares[0] * num_all == pytest.approx(len(truth), rel=0.1)
    for match, chance in zip(mixture.match, mixture.chance, strict=True):
        assert match.sum() == pytest.approx(1) and match[EQUAL] > 0.5 > chance[EQUAL]


def test_probabilities_are_those_of_the_classes():
    left, right, _ = people(0)
    links = find_links(read_columns(left, right, COLUMNS))
    mixture, columns = links.mixture, links.columns
    agreements = compare_columns(columns, links.pairs)
    for pair in range(0, len(links.pairs), 997):
        # Likelihoods of the levels, as in the textbook; a value counts by its frequency.
        match, chance, rivals = [], [], []
        for column, agreement in enumerate(agreements):
            level = agreement.levels[pair]
            if level == ABSENT:
                match.append(1.0)
                chance.append(1.0)
                continue
            match.append(mixture.match[column][level])
            is_equal = level == EQUAL
            by_chance = np.exp(agreement.log_frequencies[pair])
            rivals.append(mixture.rivals[column][:, level])
            chance.append(by_chance if is_equal else mixture.chance[column][level])
        match, chance = np.array(match), np.array(chance)
        # Matches that differ in nothing are a fifth, at least.
        is_exact = all(agreement.levels[pair] <= EQUAL for agreement in agreements)
        of_matches = max(match.prod(), 0.2) if is_exact else match.prod()
        # Columns that change together, where two others are more probable in matches.
        steady = mixture.is_identifying
        num_told = (match > chance)[steady].sum()
        if num_told >= 2 and (match >= chance)[steady].all():
            bits = (match < chance)[~steady]
            of_matches *= np.exp(mixture.changes[sum(1 << place for place in np.flatnonzero(bits))])
        classes = [of_matches]
        # Relatives that do not share a column may have more in common than random pairs.
        lifts = [
            lift[each.levels[pair]] for lift, each in zip(mixture.apart, agreements, strict=True)
        ]
        classes += [np.prod(s * match + (1 - s) * chance * lifts) for s in mixture.shared]
        weighed = np.exp(mixture.log_priors) * [*classes, chance.prod()]
        # Missing values have no level; rivals that are equal have a value as often as all rows do.
        of_rivals = np.exp(mixture.log_rivals) * np.prod(rivals, axis=0)
        # Rivals differ in something.
        if all(agreement.levels[pair] == EQUAL for agreement in agreements):
            of_rivals = np.zeros(1)
        expected = weighed[0] / (weighed.sum() + of_rivals.sum())
        np.testing.assert_allclose(links.probabilities[pair], expected, rtol=1e-6)


def test_values_count_by_things():
    # Three rows of a firm, and a firm of the same town.
    table = {"town": ["Rome", "Rome", "Rome", "Rome", "Oslo", "Bern"]}
    [column] = read_columns(table, None, ["town"], kinds={"town": "name"})
    pairs = np.array([[0, 1], [0, 2], [1, 2], [2, 3]])
    agreements = compare_columns([column], pairs)
    [counted], [agreement] = count_things([column], pairs, agreements, np.array([1.0, 1, 1, 0]))
    # One firm, another one, and one more, as both rows of a pair are left out.
    [counts] = counted.known.counts
    assert counts[column.left[0]] == pytest.approx(3)
    assert counted.known.num_rows == pytest.approx(5)
    assert (agreement.log_frequencies < agreements[0].log_frequencies).all()


@pytest.mark.parametrize("columns", [["last", "street"], ["first", "last", "street"]])
def test_equal_rows_are_surer_than_misspelled_ones(columns: list[str]):
    draw = np.random.default_rng(0)
    names = words(2000)
    rows = []
    for number in range(300):
        values = dict(zip(COLUMNS, person(draw, names), strict=True))
        row = [values[name] for name in columns]
        rows.append(row)
        if number < 3:
            rows.append(row)
        elif number < 200:
            rows.append([misspelled(draw, value) for value in row])
    table = dict(zip(columns, zip(*rows, strict=True), strict=True))
    links = find_links(read_columns(table, None, columns))
    misspelled_pairs = np.array([[row, row + 1] for row in range(6, 400, 2)])
    others = links.probabilities_of(misspelled_pairs)
    equal = links.probabilities_of(np.array([[0, 1], [2, 3], [4, 5]]))
    assert equal.min() > np.quantile(others, 0.9)


def test_levels_of_relatives_are_no_rarer_than_by_chance():
    # Levels: missing, equal, near, less near, other.
    chance = np.array([0, 0.1, 0.1, 0.2, 0.6])
    levels = np.array([2, 3, 4], np.int8)
    agreement = Agreement(levels, np.zeros(3, np.float32), np.zeros(3, np.float32))
    many = 10_000.0
    found = _lifts(chance, agreement, np.array([0.3, 0.01, 0.69]) * many)
    # Near names are those of a family, and the less near ones were taken for matches.
    assert found[2] == pytest.approx(0.3 * 0.9 / 0.1, rel=0.01)
    assert found[3] == 1
    assert (found >= 1).all()
