"""`Linker`: weights that last, results as tables, kinds of users."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.search.linkage.conftest import COLUMNS, f1, pairs_of, people
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.search import ColumnKind, Linker, deduplicate, match
from tf_charagram.search.linkage._fellegi_sunter import linking


class Initials(ColumnKind):
    name = "initials"
    levels = (0.5,)

    def read(self, cell):
        return "".join(word[0] for word in cell.lower().split())

    def similarity(self, left, right):
        return float(left[:1] == right[:1]) / 2


@pytest.fixture(scope="module")
def tables():
    return people(0)


@pytest.fixture(scope="module")
def linker(tables):
    left, right, _ = tables
    return Linker(on=COLUMNS).fit(left, right)


def test_steps_answer_as_functions_do(tables, linker):
    left, right, truth = tables
    found = match(left, right, on=COLUMNS)
    assert linker.match().pairs == found.pairs and f1(pairs_of(found), truth) > 0.95
    np.testing.assert_allclose(linker.match(left, right).pairs, found.pairs)
    single = match(left, right, on=COLUMNS, one_to_one=True)
    assert linker.match(one_to_one=True).pairs == single.pairs
    assert linker.explain(3, 3) == found.links.explain(3, 3)
    table = {name: [*left[name], *right[name]] for name in COLUMNS}
    groups = Linker(on=COLUMNS, threshold=0.7).fit(table).deduplicate().groups
    assert groups == deduplicate(table, on=COLUMNS, threshold=0.7).groups


@pytest.mark.parametrize("has_labels", [False, True])
def test_saved_weights_link_other_tables(tables, tmp_path, monkeypatch, has_labels):
    left, right, _ = tables
    linker = Linker(on=COLUMNS).fit(left, right)
    if has_labels:
        # The answer without labels has no errors that labels could mend.
        monkeypatch.setattr(linking, "predicts_better", lambda *answers: True)
        others = [(row, row + 1, 0) for row in range(20)]
        learned = linker.learn([(row, row, 1) for row in range(20)] + others)
        assert linker.links.learned == learned and linker.links.model is not None
    linker.save(tmp_path / "linker.json")
    loaded = Linker.load(tmp_path / "linker.json")
    for number in (300, 30):
        # Fewer rows have fewer matches, as many for each row.
        next_left, next_right, next_truth = people(1, number=number, num_relatives=number // 3)
        found = loaded.match(next_left, next_right)
        assert found.pairs == linker.match(next_left, next_right).pairs
        assert f1(pairs_of(found), next_truth) > 0.93
    assert loaded.identifies == linker.identifies and loaded.kinds == linker.kinds


def test_results_are_tables(tables, linker):
    left, right, _ = tables
    found = linker.match()
    joined = found.join(left, right)
    assert list(joined) == [*COLUMNS, *(f"{name}_right" for name in COLUMNS), "score"]
    first = found.pairs[0]
    assert joined["last"][0] == left["last"][first.left]
    assert joined["last_right"][0] == right["last"][first.right]
    assert joined["score"][0] == first.score
    groups = deduplicate(left, on=COLUMNS)
    table = groups.table(left)
    assert table["kept"].count(True) == len(groups.kept)
    assert all(table["group"][row] for group in groups.groups for row in group.rows)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of(library, tables, linker):
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame
    left, right, _ = tables
    found = linker.match()
    joined = found.join(make(left), make(right))
    assert isinstance(joined, module.Table if library == "pyarrow" else module.DataFrame)
    expected = found.join(left, right)
    assert {name: list(map(str, joined[name])) for name in expected} == {
        name: list(map(str, values)) for name, values in expected.items()
    }
    assert len(deduplicate(make(left), on=COLUMNS).table(make(left))["group"]) == len(left["last"])


def test_kinds_of_users(tmp_path):
    left = {"name": ["Ann B. Lee", "Bob Ray"], "city": ["Bonn", "Kiel"]}
    right = {"name": ["bob r", "anna bea li"], "city": ["Kiel", "Bonn"]}
    kinds = {"name": Initials()}
    linker = Linker(on=["name", "city"], kinds=kinds).fit(left, right)
    assert pairs_of(linker.match()) == {(0, 1), (1, 0)}
    linker.save(tmp_path / "linker.json")
    with pytest.raises(RunError, match=r"give the kind 'initials' of `name` in `kinds`"):
        Linker.load(tmp_path / "linker.json")
    loaded = Linker.load(tmp_path / "linker.json", kinds=kinds)
    np.testing.assert_allclose(loaded.match(left, right).pairs, linker.match().pairs)


def test_asks_until_all_is_known(tables):
    left, right, truth = tables
    few = [{name: values[:6] for name, values in side.items()} for side in (left, right)]
    linker = Linker(on=COLUMNS).fit(*few)
    labels = []
    while (pair := linker.ask(labels)) is not None:
        labels.append((*pair, int(pair in truth)))
    assert len(labels) == len(linker.links.pairs) == len({label[:2] for label in labels})


def test_asks_about_no_pair_that_was_learned(tables):
    left, right, _ = tables
    few = [{name: values[:20] for name, values in side.items()} for side in (left, right)]
    linker = Linker(on=COLUMNS).fit(*few)
    labels = []
    for _ in range(5):
        left, right = linker.ask()
        labels.append((left, right, 0))
        linker.learn(labels)
    assert len(set(labels)) == 5


def test_errors(tables, linker, tmp_path):
    left, right, _ = tables
    for on in ("last", ["last"]):
        with pytest.raises(ConfigError, match="`on` must be a list of at least two columns"):
            Linker(on=on)
    new = Linker(on=COLUMNS)
    for call in (new.match, lambda: new.explain(0, 0), lambda: new.learn([]), new.ask):
        with pytest.raises(ConfigError, match="Call `fit` with one or two tables first"):
            call()
    with pytest.raises(ConfigError, match="Call `fit` first"):
        new.match(left, right)
    with pytest.raises(ConfigError, match="no weights to save"):
        new.save(tmp_path / "linker.json")
    with pytest.raises(ConfigError, match="`match` compares two tables"):
        linker.match(left)
    with pytest.raises(ConfigError, match="`deduplicate` groups the rows of one table"):
        linker.deduplicate()
    path = tmp_path / "linker.json"
    linker.save(path)
    saved = json.loads(path.read_text())
    for change, message in (
        ({"format": "other"}, "its format is 'other'"),
        ({"version": 99}, "it was written by version"),
        ({"mixture": {}}, "cannot be read as a linker"),
    ):
        path.write_text(json.dumps(saved | change))
        with pytest.raises(RunError, match=message):
            Linker.load(path)
    for text in ("{}", "[]"):
        path.write_text(text)
        with pytest.raises(RunError, match="its format is None"):
            Linker.load(path)


@pytest.mark.parametrize("levels", [("a",), 0.8, (0.5, 0.8), (80,)])
def test_levels_of_an_own_kind_are_descending_similarities(levels):
    kind = Initials()
    kind.levels = levels
    with pytest.raises(ConfigError, match="must be similarities from 1 to 0, descending"):
        deduplicate({"a": ["x", "y"], "b": ["p", "q"]}, on=["a", "b"], kinds={"a": kind})


@pytest.mark.parametrize("similarity", [None, float("nan"), 50.0])
def test_similarities_of_an_own_kind_are_from_0_to_1(similarity):
    kind = Initials()
    kind.similarity = lambda left, right: similarity
    table = {"a": ["Ann", "Bob", "Cy"], "b": ["p", "p", "q"]}
    with pytest.raises(ConfigError, match=r"must be in \[0, 1\]. Received: .* for '.*' and '"):
        deduplicate(table, on=["a", "b"], kinds={"a": kind})


def test_a_class_is_no_own_kind():
    with pytest.raises(ConfigError, match=r"such as Initials\(\), not classes"):
        deduplicate({"a": ["x"], "b": ["p"]}, on=["a", "b"], kinds={"a": Initials})
