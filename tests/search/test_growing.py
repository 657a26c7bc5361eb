"""Groups whose numbers stay as rows are added."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from tests.search.linkage.conftest import COLUMNS, joined_pairs, misspelled, people, species
from tests.texts import words
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.search import GroupedRows, Linker, TextStatistics, deduplicate

BRIDGE = ["apple pear plum", "plum fig date", "apple pear plum fig date"]


def names(seed, number=60):
    """Returns texts with up to three misspelled copies, and the thing that each one is."""
    draw = np.random.default_rng(seed)
    # Things have words in common, and some are wrongly joined.
    all_words = words(50, seed)
    texts = []
    things = []
    for thing in range(number):
        text = " ".join(draw.choice(all_words, 3))
        texts += [text, *(misspelled(draw, text) for _ in range(draw.integers(4)))]
        things += [thing] * (len(texts) - len(things))
    return np.array(texts), np.array(things)


def persons(seed):
    """Returns a table of people, some twice, and the person that each row is."""
    left, right, truth = people(seed, 120, num_relatives=40)
    table = {name: [*left[name], *right[name]] for name in COLUMNS}
    things = np.arange(len(table["first"]))
    for one, other in truth:
        things[120 + other] = one
    return table, things


def f1(groups, things):
    """Returns the F1 of pairs of rows of the same group."""
    above = np.triu_indices(len(things), 1)
    found, true = (np.equal.outer(each, each)[above] for each in (np.array(groups), things))
    return 2 * (found & true).sum() / (found.sum() + true.sum())


def portions(seed, num_rows):
    """Yields the rows of portions of random sizes, in random order."""
    draw = np.random.default_rng(seed)
    cuts = draw.choice(np.arange(1, num_rows), draw.integers(1, 12), replace=False)
    return np.split(draw.permutation(num_rows), np.sort(cuts))


def f1_in_portions(things, seed, start, rows_of, merge):
    """Adds rows in portions; checks that numbers stay.

    Returns:
        The F1, and the F1 once all merges are accepted.
    """
    first, *others = portions(seed, len(things))
    grouped = start(rows_of(first))
    order = [*first]
    for rows in others:
        before = grouped.groups
        added = grouped.add(rows_of(rows), merge=merge)
        order += [*rows]
        gone = {group for merged in added.merges for group in merged[1:]} if merge else set()
        kept = [group for group in before if group not in gone]
        now = grouped.groups
        assert [now[row] for row, group in enumerate(before) if group not in gone] == kept
        assert not gone.intersection(now)
        assert now[len(before) :] == added.groups
    found = f1(grouped.groups, things[order])
    grouped.add(rows_of([]), merge=True)
    return found, f1(grouped.groups, things[order])


def check_orders_of_texts(seeds, statistics=None):
    texts, things = names(0)
    at_once = GroupedRows(texts, None)

    def start(rows):
        return GroupedRows(rows, None, statistics=statistics)

    found = []
    for seed in seeds:
        found.append(f1_in_portions(things, seed, start, lambda rows: texts[list(rows)], False))
    apart, merged = np.transpose(found)
    best = f1(at_once.groups, things)
    assert 0.8 < best < 1
    # Groups stay apart, and a few rows are compared by few counts.
    assert np.mean(apart) > best - 0.015
    assert np.mean(merged) > best - 0.01
    assert min(apart) > best - 0.05
    assert min(merged) > best - (0.04 if statistics is None else 0.01)


def check_orders_of_tables(seeds, linker=None):
    table, things = persons(0)
    arguments = {"on": COLUMNS} if linker is None else {"linker": linker.fit(table)}

    def take(rows):
        return {name: [cells[row] for row in rows] for name, cells in table.items()}

    def start(rows):
        return GroupedRows(rows, **arguments)

    best = f1(start(table).groups, things)
    assert best > 0.95
    for seed in seeds:
        assert min(f1_in_portions(things, seed, start, take, seed % 2 == 0)) > best - 0.01


def test_order_hardly_matters_for_texts():
    check_orders_of_texts(range(5))
    check_orders_of_texts(range(5), TextStatistics.of_texts(names(0)[0]))


def test_order_hardly_matters_for_tables():
    check_orders_of_tables(range(2))
    check_orders_of_tables(range(2), Linker(COLUMNS))


@pytest.mark.long
def test_a_hundred_orders():
    check_orders_of_texts(range(100))
    check_orders_of_texts(range(100), TextStatistics.of_texts(names(0)[0]))
    check_orders_of_tables(range(100))
    check_orders_of_tables(range(100), Linker(COLUMNS))


def members_of(groups):
    return sorted(sorted(np.flatnonzero(np.array(groups) == group)) for group in set(groups))


def test_rows_at_once_are_grouped_as_by_deduplicate():
    texts, _ = names(1)
    table, _ = persons(1)
    for grouped, found in (
        (GroupedRows(texts, None), deduplicate(texts, None)),
        (GroupedRows(table, on=COLUMNS), deduplicate(table, on=COLUMNS)),
    ):
        several = [rows for rows in members_of(grouped.groups) if len(rows) > 1]
        assert several == sorted(sorted(group.rows) for group in found.groups)


def test_groups_are_merged_only_if_asked():
    statistics = TextStatistics.of_texts(BRIDGE)
    found = {}
    for merge in (False, True):
        grouped = GroupedRows(BRIDGE[:2], None, threshold=0.35, statistics=statistics)
        assert grouped.groups == [1, 2]
        added = grouped.add(BRIDGE[2:], merge=merge)
        assert added.merges == [(1, 2)]
        found[merge] = grouped.groups
        # A number that is gone is not given again.
        assert grouped.add(["quince"]).groups == [3]
    assert found[False][:2] == [1, 2] and found[False][2] in (1, 2)
    assert found[True] == [1, 1, 1]
    # The same row again, and now they are merged.
    grouped = GroupedRows(BRIDGE[:2], None, threshold=0.35, statistics=statistics)
    grouped.add(BRIDGE[2:])
    grouped.add(BRIDGE[2:], merge=True)
    assert grouped.groups == [1, 1, 1, 1]


def test_merges_are_accepted_later(tmp_path):
    statistics = TextStatistics.of_texts(BRIDGE)
    grouped = GroupedRows(BRIDGE[:2], None, threshold=0.35, statistics=statistics)
    grouped.add([*BRIDGE[2:], "quince"])
    grouped.save(tmp_path / "groups")
    loaded = GroupedRows.load(tmp_path / "groups")
    assert loaded.add(["kiwi"], merge=True) == ([4], [(1, 2)])
    assert loaded.groups == [1, 1, 1, 3, 4]
    assert loaded.add([], merge=True).merges == []


def test_counts_of_all_rows_connect_old_groups():
    # Of two rows, every word is in half.
    grouped = GroupedRows(["red wool hat", "red wool hats xl"], None, threshold=0.6)
    assert grouped.groups == [1, 2]
    others = words(100)
    assert grouped.add(others).merges == [(1, 2)]
    # Told once.
    assert grouped.add(words(200)[100:]).merges == []
    assert grouped.add([], merge=True).merges == [(1, 2)]
    assert grouped.groups[:2] == [1, 1]


def test_texts_without_words_are_alone():
    grouped = GroupedRows(["", "cat", ""], None)
    assert grouped.add(["", "cat", "!", "!"]).groups == [4, 2, 5, 5]
    assert grouped.add([]).groups == []
    assert GroupedRows([], None).groups == []


def test_large_groups():
    text = "honeywell laboratories amsterdam"
    texts = [text[:at] + letter + text[at + 1 :] for letter in "qwxyz" for at in range(30)]
    rows = [*texts[:100], *words(300)]
    statistics = TextStatistics.of_texts(rows)
    grouped = GroupedRows(rows, None, threshold=0.05, statistics=statistics)
    assert set(grouped.groups[:100]) == {1}
    assert set(grouped.add(texts[100:]).groups) == {1}


@pytest.mark.parametrize("on", [None, ["first"], COLUMNS])
@pytest.mark.parametrize("is_fixed", [False, True])
def test_saved_groups_go_on(tmp_path, model, on, is_fixed):
    table, _ = persons(2)
    firsts, others = ({name: table[name][half] for name in COLUMNS} for half in (
        slice(0, 100), slice(100, None)
    ))  # fmt: skip
    if on is None:
        firsts, others = firsts["street"], others["street"]
    arguments = {"on": on}
    if is_fixed and on == COLUMNS:
        arguments = {"linker": Linker(COLUMNS, model=str(model)).fit(table)}
    elif is_fixed:
        arguments["statistics"] = TextStatistics.of_texts(table["first"])
    grouped = GroupedRows(firsts, str(model), **arguments)
    grouped.save(tmp_path / "groups")
    loaded = GroupedRows.load(tmp_path / "groups")
    assert loaded.on == (on or []) and loaded.groups == grouped.groups
    assert loaded.add(others) == grouped.add(others)
    # Only the folder of the groups is updated.
    loaded.save(tmp_path / "groups")
    loaded = GroupedRows.load(tmp_path / "groups")
    assert loaded.groups == grouped.groups
    assert loaded.add(firsts) == grouped.add(firsts)
    # Counts and weights of fewer rows are gone.
    assert len(list((tmp_path / "groups").iterdir())) <= 3
    with pytest.raises(RunError, match="exists"):
        GroupedRows(["cat"], None).save(tmp_path / "groups")


def test_an_interrupted_save_loses_nothing(tmp_path, monkeypatch):
    folder = tmp_path / "groups"
    GroupedRows(["cat", "dog"], None).save(folder)
    grouped = GroupedRows.load(folder)
    grouped.add(["horse"])

    def kill(*paths):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", kill)
        with pytest.raises(KeyboardInterrupt):
            grouped.save(folder)
    assert GroupedRows.load(folder).groups == [1, 2]
    grouped.save(folder)
    assert GroupedRows.load(folder).groups == [1, 2, 3]


def test_damaged_folders(tmp_path):
    GroupedRows(["cat", "dog"], None).save(tmp_path / "groups")
    saved = json.loads((tmp_path / "groups" / "rows.json").read_text())
    changes = [{"next_id": 1}, {"groups": [1]}, {"items": None}, {"item_of_row": [7, 8]}]
    for change in [*changes, {"num_counted": "all"}]:
        folder = tmp_path / "damaged"
        shutil.copytree(tmp_path / "groups", folder, dirs_exist_ok=True)
        (folder / "rows.json").write_text(json.dumps({**saved, **change}))
        with pytest.raises(RunError, match="damaged is damaged"):
            GroupedRows.load(folder)
    with pytest.raises(RunError, match=r"has no groups: it has no settings\.json"):
        GroupedRows.load(tmp_path)


@pytest.mark.parametrize("first", [1520, 1000, 20])
@pytest.mark.parametrize("has_statistics", [False, True])
def test_few_copies(tmp_path, first, has_statistics):
    texts, things = species(20)
    order = np.random.default_rng(0).permutation(len(texts))
    texts, things = [texts[row] for row in order], things[order]
    statistics = TextStatistics.of_texts(texts) if has_statistics else None
    grouped = GroupedRows(texts[:first], None, statistics=statistics)
    grouped.save(tmp_path / "groups")
    grouped = GroupedRows.load(tmp_path / "groups")
    grouped.add(texts[first:])
    right, wrong = joined_pairs(grouped.groups, things)
    assert right >= 18
    # With all pairs, there are 135.
    assert wrong < 50


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rows": "cat"}, "`rows`"),
        ({"threshold": 2}, "`threshold` must be in"),
        ({"on": "name"}, "must be a list of at least two columns"),
        ({"rows": {"a": ["x"]}, "on": ["b"]}, "Unknown column 'b'"),
        ({"linker": Linker(["a", "b"]), "threshold": 0.5}, "`linker` has columns"),
        ({"linker": Linker(["a", "b"]), "lexical": False}, "are for texts"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ConfigError, match=message):
        GroupedRows(**{"rows": ["cat"], "model": None, **arguments})


def test_rows_that_cannot_be_added_change_nothing():
    table = {"a": ["Ann Lee", "Bob Ray"], "b": ["Rome", "Oslo"]}
    grouped = GroupedRows(table, on=["a", "b"])
    with pytest.raises(ConfigError, match="Unknown column 'b'"):
        grouped.add({"a": ["x"]})
    with pytest.raises(ConfigError, match="same length"):
        grouped.add({"a": ["x"], "b": []})
    assert grouped.groups == [1, 2]
