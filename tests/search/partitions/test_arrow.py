"""The recipes of docs/scale.md for other engines give the groups of our own steps."""

from __future__ import annotations

import re
import shutil
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.search.partitions.conftest import ON, groups_in
from tf_charagram.errors import ConfigError
from tf_charagram.search import Linker, RowFunctions, deduplicate_files

PAGE = Path(__file__).parents[3] / "docs" / "scale.md"


@pytest.fixture(scope="module")
def folder(files, tmp_path_factory):
    """Returns a folder with the files, and with the result in `clean`."""
    folder = tmp_path_factory.mktemp("engines")
    for path in files:
        shutil.copy(path, folder)
    deduplicate_files(files, folder / "clean", on=ON)
    return folder


def recipes():
    """Returns the code of each recipe by its engine, and the code before all of them."""
    text = PAGE.read_text(encoding="utf-8").partition("### Other engines")[2]
    first, *others = re.findall(r"(?:^(\w+):\n\n)?```python\n(.*?)```", text, re.M | re.S)
    return first[1], dict(others)


@pytest.mark.parametrize("engine", ["duckdb", "polars", "pyspark"])
@pytest.mark.filterwarnings("ignore")
def test_recipe(engine, folder, read, monkeypatch):
    pytest.importorskip(engine, reason=f"{engine} is not installed")
    import_module(engine)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    start, by_engine = recipes()
    code = {name.lower(): code for name, code in by_engine.items()}[engine.removeprefix("py")]
    names = {}
    exec(start + code, names)
    # Spark reads larger files first.
    ordered = names["rows"].toArrow().sort_by("row") if engine == "pyspark" else read(folder)
    people = list(zip(*(ordered[name].to_pylist() for name in ON), strict=True))
    groups = names["groups"].to_pydict()
    found = {}
    for row, group in zip(groups["row"], groups["group"], strict=True):
        found.setdefault(group, []).append(people[row])
    table = read(folder / "clean").to_pydict()
    people = list(zip(*(table[name] for name in ON), strict=True))
    expected = [sorted(people[row] for row in rows) for rows in groups_in(table["group"])]
    assert sorted(sorted(each) for each in found.values() if len(each) > 1) == sorted(expected)


def test_three_functions(folder, read):
    """As the recipes, with a join in Python, for machines without an engine."""
    table = read(folder)
    functions = RowFunctions(Linker.load(folder / "clean" / "linker.json"), table, len(table))
    keyed = functions.keys(table.add_column(0, "row", [list(range(len(table)))])).to_pydict()
    rows = {}
    for row, key in zip(keyed["row"], keyed["key"], strict=True):
        rows.setdefault(key, []).append(row)
    pairs = {(a, b) for own in rows.values() for a in own for b in own if a < b}
    left, right = zip(*sorted(pairs), strict=True)
    batch = {"left_row": left, "right_row": right}
    for side, own in (("left", left), ("right", right)):
        for name in ON:
            batch[f"{side}_{name}"] = table[name].take(list(own))
    pyarrow = import_module("pyarrow")
    groups = functions.group(functions.compare(pyarrow.table(batch))).to_pydict()
    numbers = [None] * len(table)
    for row, group in zip(groups["row"], groups["group"], strict=True):
        numbers[row] = group
    found = [own for own in groups_in(numbers) if len(own) > 1]
    assert found == groups_in(read(folder / "clean")["group"].to_pylist())


def test_no_weights():
    with pytest.raises(ConfigError, match=r"Call `linker\.fit` first"):
        RowFunctions(Linker(ON), {}, 1)
