"""A column of names beside columns that hardly tell anything is compared as a list."""

from __future__ import annotations

import numpy as np
import pytest

from tests.search.linkage.conftest import f1, joined_pairs, misspelled, pairs_of, species
from tests.texts import words
from tf_charagram.search import GroupedRows, Linker, deduplicate, match
from tf_charagram.search.linkage._fellegi_sunter.text_odds import Partners, list_prior

NUM_THINGS = 300
NUM_COPIES = 150


def names(seed):
    """Returns names of two words, and misspelled copies of the first ones."""
    draw = np.random.default_rng(seed)
    known = words(400, seed)
    things = [" ".join(draw.choice(known, 2, replace=False)) for _ in range(NUM_THINGS)]
    return things, [misspelled(draw, name) for name in things[:NUM_COPIES]]


def others(draw, how):
    """Returns the cells of another column for both lists of `names`."""
    if how == "constant":
        of_things = ["DE"] * NUM_THINGS
    elif how == "empty":
        of_things = [""] * NUM_THINGS
    elif how == "barely filled":
        of_things = ["" if draw.random() < 0.98 else each for each in words(NUM_THINGS, 9)]
    else:
        of_things = draw.choice(["DE", "AT", "CH"], NUM_THINGS).tolist()
    return of_things, of_things[:NUM_COPIES]


@pytest.mark.parametrize("how", ["constant", "empty"])
class TestColumnsThatTellNothing:
    def test_groups_are_those_of_the_list(self, how):
        things, copies = names(0)
        cells, of_copies = others(np.random.default_rng(0), how)
        table = {"country": [*cells, *of_copies], "name": [*things, *copies]}
        found = deduplicate(table, None, on=["country", "name"])
        alone = deduplicate(table["name"], None)
        assert found.groups == alone.groups
        assert len(found.groups) > NUM_COPIES / 2
        assert found.estimates == alone.estimates
        notes = [column.note for column in found.links.columns]
        assert notes[0].startswith("has ")
        assert notes[1].startswith("compared as a list of texts is")

    def test_partners_are_those_of_the_list(self, how):
        things, copies = names(1)
        cells, of_copies = others(np.random.default_rng(0), how)
        left = {"name": things, "country": cells}
        right = {"name": copies, "country": of_copies}
        found = match(left, right, None, on=["name", "country"])
        assert found.pairs == match(things, copies, None).pairs
        assert len(found.pairs) > NUM_COPIES / 2
        evidence = found.explain(0)
        assert [each.column for each in evidence] == ["prior", "name", "country", "together"]
        assert evidence[2].weight == 0


@pytest.mark.parametrize("how", ["barely filled", "few values"])
def test_columns_that_tell_little_are_no_worse_than_the_list(how):
    of_both, of_names = [], []
    for seed in range(3):
        things, copies = names(seed)
        cells, of_copies = others(np.random.default_rng(seed), how)
        table = {"name": [*things, *copies], "more": [*cells, *of_copies]}
        truth = {(row, row + NUM_THINGS) for row in range(NUM_COPIES)}
        for found, scores in (
            (deduplicate(table, None, on=["name", "more"]), of_both),
            (deduplicate(table["name"], None), of_names),
        ):
            scores.append(f1({tuple(group.rows) for group in found.groups}, truth))
    assert np.mean(of_both) > np.mean(of_names) - 0.01
    assert np.mean(of_names) > 0.8


def test_another_value_speaks_against_a_match():
    things, copies = names(4)
    cells, of_copies = others(np.random.default_rng(4), "few values")
    wrong = cells[0]
    of_copies[0] = "AT" if wrong != "AT" else "CH"
    left = {"name": things, "country": cells}
    found = match(left, {"name": copies, "country": of_copies}, None, on=["name", "country"])
    [evidence] = [each for each in found.explain(0, 0) if each.column == "country"]
    assert evidence.weight < -1


def test_surnames_are_no_list():
    """Many people share them."""
    draw = np.random.default_rng(0)
    table = {
        "last": draw.choice(words(80), 400).tolist(),
        "sex": draw.choice(["f", "m"], 400).tolist(),
    }
    assert not deduplicate(table, None, on=["last", "sex"]).groups


def test_a_kind_that_is_given_stays():
    table = {"size": [str(each) for each in range(100, 140)], "unit": ["cm"] * 40}
    found = deduplicate(table, None, on=["size", "unit"], kinds={"size": "number"})
    assert found.links.columns[0].kind.name == "number"
    found = deduplicate(table, None, on=["size", "unit"])
    assert found.groups == deduplicate(table["size"], None).groups


class TestLaterTables:
    def test_weights_are_saved(self, tmp_path):
        things, copies = names(2)
        cells, of_copies = others(np.random.default_rng(2), "few values")
        left = {"name": things, "country": cells}
        right = {"name": copies, "country": of_copies}
        linker = Linker(["name", "country"]).fit(left, right)
        linker.save(tmp_path / "linker.json")
        loaded = Linker.load(tmp_path / "linker.json")
        assert loaded.match(left, right).pairs == linker.match().pairs
        assert pairs_of(linker.match())
        labels = [(row, row, 1) for row in range(20)] + [(row, row + 1, 0) for row in range(20)]
        assert linker.learn(labels) is not None
        assert linker.ask() is not None

    def test_rows_with_other_values_join_groups(self, tmp_path):
        things, copies = names(3)
        first = {"name": things, "country": ["DE"] * NUM_THINGS}
        grouped = GroupedRows(first, None, on=["name", "country"])
        grouped.save(tmp_path / "groups")
        grouped = GroupedRows.load(tmp_path / "groups")
        later = {"name": copies, "country": ["FR"] * NUM_COPIES}
        added = grouped.add(later)
        alone = GroupedRows(things, None).add(copies)
        same = np.equal(added.groups, grouped.groups[:NUM_COPIES]).mean()
        of_list = np.equal(alone.groups, range(1, NUM_COPIES + 1)).mean()
        assert same >= of_list > 0.4


def numbers_of(found):
    """Returns the number of the group of each row."""
    numbers = np.arange(len(found.links.columns[0].left))
    for group in found.groups:
        numbers[group.rows] = min(group.rows)
    return numbers


@pytest.mark.parametrize("num_copies", [0, 20])
def test_few_copies(num_copies):
    texts, things = species(num_copies)
    found = deduplicate(texts, None)
    right, wrong = joined_pairs(numbers_of(found), things)
    assert right >= 0.9 * num_copies
    # With all pairs that are more probable than not, there are 92 and 95.
    assert wrong < 40
    prior, *_ = found.explain(0, 1)
    assert prior.weight == pytest.approx(found.links.mixture.prior / np.log(2))
    # Beside a column of one value, and at any threshold.
    table = {"name": texts, "kingdom": ["plants"] * len(texts)}
    beside = deduplicate(table, None, on=list(table))
    assert beside.groups == found.groups
    for threshold in (0.3, 0.9):
        prior, *_ = deduplicate(texts, None, threshold=threshold).explain(0, 1)
        assert prior.weight == pytest.approx(found.links.mixture.prior / np.log(2))


def test_many_copies():
    texts, things = species(600)
    found = deduplicate(texts, None)
    right, _ = joined_pairs(numbers_of(found), things)
    assert right >= 599
    assert found.links.mixture.prior == 0


def test_a_linker_keeps_the_prior(tmp_path):
    texts, _ = species(20)
    table = {"name": texts, "kingdom": ["plants"] * len(texts)}
    linker = Linker(list(table), model=None).fit(table)
    assert linker.mixture.prior < -0.5
    linker.save(tmp_path / "linker.json")
    loaded = Linker.load(tmp_path / "linker.json")
    assert loaded.mixture.prior == linker.mixture.prior
    assert loaded.deduplicate(table).groups == linker.deduplicate().groups
    # Equal names are the same.
    one = {name: [cells[0], cells[0]] for name, cells in table.items()}
    assert len(loaded.deduplicate(one).groups) == 1
    # Two tables tell by themselves how many partners there are.
    rows = slice(0, 300)
    part = {name: cells[rows] for name, cells in table.items()}
    assert len(loaded.match(part, part).pairs) == 300


def partners(*groups, probabilities):
    """Returns the partners of texts in groups, whose pairs have some probabilities."""
    pairs = []
    found = []
    for texts, probability in zip(groups, probabilities, strict=True):
        own = [(one, other) for one in texts for other in texts if one < other]
        pairs += own
        found += [probability] * len(own)
    num_texts = max(map(max, groups)) + 1
    return Partners.of(num_texts, np.array(pairs), np.array(found)), np.ones(num_texts, np.int64)


def test_priors():
    texts = [(2 * pair, 2 * pair + 1) for pair in range(200)]
    # Barely probable pairs and no sure ones are wrong.
    barely = list_prior(*partners(*texts, (999,), probabilities=[0.6] * 200 + [0]))
    assert -2 < barely < -np.log(0.6 / 0.4)
    # Beside 40 sure ones, 5 may be right, and 60 are not.
    for num_unsure, is_wrong in ((5, False), (60, True)):
        probabilities = [0.95] * 40 + [0.6] * num_unsure
        pairs = texts[: len(probabilities)]
        found = list_prior(*partners(*pairs, (999,), probabilities=[*probabilities, 0]))
        assert (found < -np.log(0.6 / 0.4)) == is_wrong
    # Few texts with a partner tell nothing.
    assert list_prior(*partners(*texts[:3], (999,), probabilities=[0.6] * 3 + [0])) == 0
    # A group counts as one text.
    assert list_prior(*partners(range(400), (999,), probabilities=[0.6, 0])) == 0
    # Copies are sure.
    found, counts = partners(*texts, (999,), probabilities=[0.6] * 200 + [0])
    counts[400:] = 2
    assert list_prior(found, counts) == 0
    assert (
        list_prior(Partners.of(0, np.zeros((0, 2), np.int64), np.zeros(0)), np.zeros(0, int)) == 0
    )
