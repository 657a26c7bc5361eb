"""Files in partitions give the groups and partners of lists and tables in memory."""

from __future__ import annotations

import csv
import gzip
import json
import random
import re
import shutil
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.commands import call, stop_before
from tests.search.linkage.conftest import f1, joined_pairs, products, species
from tests.search.partitions.conftest import ENDS, GIVEN, ON, STARTS, groups_in, people, typo
from tests.variants import some_now
from tf_charagram.data import read_table
from tf_charagram.errors import CharagramError, DataError, RunError
from tf_charagram.search import Linker, deduplicate, deduplicate_files, match, match_files
from tf_charagram.search._partitions import in_memory, keys, run


class Killed(BaseException):
    """Ends a run at once, like a signal."""


@pytest.fixture(scope="module")
def result(files, tmp_path_factory):
    """Returns the folder of the result with one partition."""
    folder = tmp_path_factory.mktemp("result") / "out"
    deduplicate_files(files, folder, on=ON, num_partitions=1)
    return folder


class TestColumns:
    def test_groups_are_those_of_a_table_in_memory(self, result, table, read):
        found = read(result)
        in_memory = deduplicate(table, None, on=ON)
        assert groups_in(found["group"].to_pylist()) == sorted(
            sorted(group.rows) for group in in_memory.groups
        )
        kept = [row for row, is_kept in enumerate(found["kept"].to_pylist()) if is_kept]
        assert kept == in_memory.kept
        assert {name: found[name].to_pylist() for name in ON} == table

    def test_any_number_of_partitions(self, result, files, read, tmp_path):
        summary = deduplicate_files(files, tmp_path / "out", on=ON, num_partitions=7)
        found = read(tmp_path / "out")
        assert found.equals(read(result))
        assert summary["num_rows"] == 500
        assert summary["num_groups"] == len(groups_in(found["group"].to_pylist()))

    def test_estimates_are_those_in_memory(self, files, table, tmp_path):
        # Copies count, too.
        more = {name: cells + cells[:50] for name, cells in table.items()}
        path = write(tmp_path / "all.csv", more)
        # One file needs no list.
        summary = deduplicate_files(path, tmp_path / "out", on=ON, num_partitions=3)
        assert summary["kinds"] == {"name": "name", "city": "name", "born": "date"}
        assert summary["identifies"] == ["name", "born"]
        check_estimates(summary, deduplicate(more, None, on=ON))

    def test_partners_are_those_of_tables_in_memory(self, files, tmp_path, read):
        left = people(300, seed=1)
        right = people(300, seed=2)
        # Half of the left rows are on the right, too, from row 300 on.
        right = {name: cells + left[name][::2] for name, cells in right.items()}
        paths = [write(tmp_path / "left.csv", left), write(tmp_path / "right.csv", right)]
        summary = match_files(paths[:1], paths[1:], tmp_path / "out", on=ON, num_partitions=3)
        found = partners_in(tmp_path / "out" / "left.csv")
        in_memory = match(left, right, on=ON)
        check_estimates(summary, in_memory)
        expected = {pair[:2]: pair.score for pair in in_memory.pairs}
        common = found.keys() & expected.keys()
        assert len(common) >= 0.99 * max(len(found), len(expected))
        for pair in common:
            assert found[pair] == pytest.approx(expected[pair], abs=0.02)

    def test_columns_that_are_written_otherwise(self, tmp_path):
        table = people(90, seed=4)
        draw = random.Random(4)
        numbers = draw.sample(range(1000, 90_000), 90)
        left = {**table, "host": [f"web{number}" for number in numbers]}
        left["size"] = [f"{number % 997 + 100}" for number in numbers]
        right = {**table, "name": table["city"], "city": table["name"]}
        right["host"] = [f"WEB0{number}.example.com" for number in numbers]
        right["size"] = [f"{(number % 997 + 100) / 1000} km" for number in numbers]
        on = [*ON, "host", "size"]
        paths = [write(tmp_path / "left.csv", left), write(tmp_path / "right.csv", right)]
        summary = match_files(paths[:1], paths[1:], tmp_path / "out", None, on=on, num_partitions=1)
        assert summary["num_matched"] == 90
        notes = dict(note.split(": ", 1) for note in summary["notes"])
        assert notes["name"] == "is `city` of the right table"
        assert notes["host"] == "read without `com`, `example`, zeros in front"
        assert notes["size"].startswith("numbers of the right table are 0.001 times as large")

    def test_a_row_is_no_partner_of_itself(self, tmp_path):
        table = people(150, seed=6)
        # Both are names, so such a row has some keys twice.
        table["name"] = [
            f"{city} {name}" for name, city in zip(table["name"], table["city"], strict=True)
        ]
        table["no"] = [f"C-{row:05}" for row in range(150)]
        del table["born"]
        path = write(tmp_path / "all.csv", table)
        options = {"on": ["no", "name", "city"], "num_partitions": 2}
        summary = deduplicate_files([path], tmp_path / "out", None, **options)
        assert summary["notes"] == ["no: numbers the rows of each table, and is left out"]
        assert summary["num_groups"] > 25

    def test_trains_back_are_others(self, tmp_path):
        draw = random.Random(1)
        paths = []
        for name in ("left", "right"):
            trains = [draw.sample(STARTS, 2) for _ in range(200)]
            table = {
                "from": [one for one, _ in trains],
                "to": [other for _, other in trains],
                "day": [draw.choice(["mon", "tue", "wed", "thu", "fri"]) for _ in trains],
                "at": [f"{draw.randrange(24)}:{draw.randrange(60):02}" for _ in trains],
                "track": [draw.randrange(1, 9) for _ in trains],
            }
            paths.append(write(tmp_path / f"{name}.csv", table))
        on = list(table)
        summary = match_files(paths[:1], paths[1:], tmp_path / "out", None, on=on, num_partitions=2)
        assert summary["num_pairs"] <= 3

    @pytest.mark.parametrize("seed", range(2))
    def test_things_in_several_colors_and_sizes(self, tmp_path, seed):
        draw = random.Random(seed)
        colors = "black blue brown green red white yellow".split()
        sizes = {"S": "Small", "M": "Medium", "L": "Large", "XL": "Extra Large"}
        things = []
        for _ in range(390):
            title = f"{draw.choice(GIVEN)} {draw.choice(STARTS)}{draw.choice(ENDS)}"
            price = draw.randrange(10, 120) - 0.01
            if things and draw.random() < 0.5:
                # Some of them are equal to another one by chance.
                title, *_, price = draw.choice(things)
            things.append((title, draw.choice(colors), draw.choice(list(sizes)), price))
        left = [(title, color, size, f"{price:.2f}") for title, color, size, price in things[:300]]
        right = []
        for title, color, size, price in things[90:]:
            title = typo(title, draw) if draw.random() < 0.2 else title
            right.append((title, color[:3].upper(), sizes[size], f"{price * 1.1:.2f}"))
        names = ["title", "color", "size", "price"]
        tables = [dict(zip(names, zip(*rows, strict=True), strict=True)) for rows in (left, right)]
        paths = [write(tmp_path / f"{number}.csv", each) for number, each in enumerate(tables)]
        options = {"on": names, "num_partitions": 2}
        match_files(paths[:1], paths[1:], tmp_path / "out", None, **options)
        found = set(partners_in(tmp_path / "out" / "0.csv"))
        truth = set()
        for row, thing in enumerate(things[90:]):
            truth |= {(other, row) for other in range(300) if things[other] == thing}
        assert f1(found, truth) > 0.6

    def test_rows_with_frequent_values_only(self, tmp_path, monkeypatch):
        monkeypatch.setattr(keys, "_SMALL", 0)
        draw = random.Random(1)
        others = people(225)
        # A quarter of the rows are one thing: they share values, but no rare ones.
        table = {
            "firm": others["name"] + ["Dekker Reimes"] * 75,
            "town": others["city"] + ["Delft"] * 75,
            "class": [f"{draw.choice('ABCDEFGH')}{draw.randrange(10, 99)}" for _ in range(300)],
        }
        path = write(tmp_path / "all.csv", table)
        on = list(table)
        deduplicate_files([path], tmp_path / "out", None, on=on, num_partitions=2)
        with open(tmp_path / "out" / "all.csv", newline="") as file:
            numbers = [int(row["group"] or 0) or None for row in csv.DictReader(file)]
        expected = pairs_in(group.rows for group in deduplicate(table, None, on=on).groups)
        assert f1(pairs_in(groups_in(numbers)), expected) > 0.97


class TestTitles:
    """Tables whose rows only titles identify are compared as a whole, too."""

    on = ("brand", "title", "price")

    @pytest.fixture
    def tables(self):
        left, right, truth = products(0, number=200)
        # Numbers that are missing.
        left["price"] = ["" if row % 7 == 0 else cell for row, cell in enumerate(left["price"])]
        return left, right, truth

    @pytest.mark.parametrize("num_partitions", some_now([1, 4], 4))
    def test_partners_are_those_in_memory(self, tables, tmp_path, num_partitions):
        left, right, truth = tables
        paths = [write(tmp_path / "left.csv", left), write(tmp_path / "right.csv", right)]
        match_files(
            paths[:1],
            paths[1:],
            tmp_path / "out",
            None,
            on=self.on,
            num_partitions=num_partitions,
        )
        found = set(partners_in(tmp_path / "out" / "left.csv"))
        in_memory = {(pair.left, pair.right) for pair in match(left, right, None, on=self.on).pairs}
        assert f1(found, in_memory) > 0.97
        assert f1(found, truth) > 0.97

    def test_groups_are_those_in_memory(self, tables, tmp_path):
        left, right, _ = tables
        table = {name: left[name] + right[name] for name in self.on}
        path = write(tmp_path / "all.csv", table)
        deduplicate_files([path], tmp_path / "out", None, on=self.on, num_partitions=2)
        with open(tmp_path / "out" / "all.csv", newline="") as file:
            numbers = [int(row["group"] or 0) or None for row in csv.DictReader(file)]
        found = pairs_in(groups_in(numbers))
        in_memory = deduplicate(table, None, on=self.on)
        assert f1(found, pairs_in(group.rows for group in in_memory.groups)) > 0.97


def check_estimates(summary, found):
    """Checks that the estimates of a summary are nearly those of a result in memory."""
    for own, expected in zip(summary["estimates"], found.estimates, strict=True):
        assert own["threshold"] == expected.threshold
        if own["threshold"] == 0.99:
            # Many pairs have one probability, which may be on either side of it.
            continue
        assert own["num_pairs"] == pytest.approx(expected.num_pairs, rel=0.03, abs=3)
        for name in ("precision", "recall"):
            value, bounds = getattr(expected, name), getattr(expected, f"{name}_bounds")
            if value == value:
                assert own[name] == pytest.approx(value, abs=0.03)
                assert own[f"{name}_bounds"] == pytest.approx(bounds, abs=0.06)
            else:
                assert own[name] is None


def write(path, table):
    """Writes a table as CSV, with a column `row` of row numbers; returns the path."""
    numbers = range(len(next(iter(table.values()))))
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["row", *table])
        writer.writerows(zip(numbers, *table.values(), strict=True))
    return path


def partners_in(path):
    """Returns the scores of the pairs of rows in a result, whose tables `write` wrote."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        (int(row["row"]), int(row["row_2"])): float(row["score"]) for row in rows if row["score"]
    }


def pairs_in(groups):
    return {pair for rows in groups for pair in combinations(sorted(rows), 2)}


@pytest.fixture(scope="module")
def texts(table):
    """Returns texts, with a copy and two texts without words."""
    texts = [f"{name}, {city}" for name, city in zip(table["name"], table["city"], strict=True)]
    # Equal rows count once in partitions, and each in memory, where an average is at the threshold.
    distinct = list(dict.fromkeys(texts))
    return [*distinct[:400], texts[0], "?", "?"]


@pytest.fixture(scope="module")
def lines(texts, tmp_path_factory):
    """Returns the file of the texts."""
    path = tmp_path_factory.mktemp("texts") / "lines.txt"
    path.write_text("\n".join(texts) + "\n")
    return path


@pytest.mark.parametrize("others", [{}, {"kingdom": ["plants"] * 1520}])
def test_few_copies(others, tmp_path):
    texts, things = species(20)
    table = {"name": texts, **others}
    write(tmp_path / "species.csv", table)
    deduplicate_files(tmp_path / "species.csv", tmp_path / "out", None, on=list(table))
    column = read_table(tmp_path / "out" / "species.csv").column("group")
    numbers = [int(group) if group else -row for row, group in enumerate(column, start=1)]
    right, wrong = joined_pairs(numbers, things - min(numbers))
    assert right >= 18
    assert wrong < 40
    if others:
        linker = Linker.load(tmp_path / "out" / "linker.json")
        assert linker.mixture.prior == pytest.approx(
            deduplicate(table, None, on=list(table)).links.mixture.prior, abs=0.2
        )


class TestFewRows:
    @pytest.fixture(params=[0, 3])
    def small(self, tmp_path, monkeypatch, request):
        """Changes to a folder with small files."""
        monkeypatch.setattr(in_memory, "MAX_ROWS", request.param)
        monkeypatch.chdir(tmp_path)
        rows = {"head": "", "blank": ",\n,\n", "one": "Ann Lee,Rome\n", "two": "Ann Leé,Rome\n"}
        for name, text in rows.items():
            (tmp_path / f"{name}.csv").write_text(f"name,city\n{text}", encoding="utf-8")

    def test_in_some_files(self, small):
        summary = deduplicate_files(["head.csv", "blank.csv", "one.csv"], "out", on=["1", "city"])
        assert (summary["num_rows"], summary["num_kept"]) == (3, 3)
        assert Path("out/head.csv").read_text() == "name,city,group,kept,score\n"
        assert Path("out/blank.csv").read_text() == "name,city,group,kept,score\n,,,1,\n,,,1,\n"

    def test_columns_of_the_right_table(self, small):
        right = ["head.csv", "two.csv"]
        match_files(["one.csv"], right, "out", on=["NAME", "2"], threshold=0.01)
        header, row = Path("out/one.csv").read_text(encoding="utf-8").splitlines()
        assert header == "name,city,score,name_2,city_2"
        assert row.startswith("Ann Lee,Rome,0.") and row.endswith(",Ann Leé,Rome")

    def test_no_row_on_one_side(self, small):
        match_files(["head.csv"], ["two.csv"], "left", on=["name", "city"])
        header = "name,city,score,name_2,city_2\n"
        assert Path("left/head.csv").read_text() == header
        match_files(["one.csv"], ["head.csv"], "right", on=["name", "city"])
        assert Path("right/one.csv").read_text() == f"{header}Ann Lee,Rome,,,\n"

    def test_columns_in_another_order(self, small):
        Path("turned.csv").write_text("City,NAME\nRome,Ann Lee\n")
        Path("lines.jsonl").write_text('{"city": "Rome", "name": "Ann Lee"}\n')
        paths = ["head.csv", "one.csv", "turned.csv", "lines.jsonl"]
        options = {"kinds": {"NAME": "text"}, "identifies": ["2"], "threshold": 0}
        summary = deduplicate_files(paths, "out", on=["1", "2"], **options)
        assert summary["kinds"] == {"name": "text", "city": "name"}
        assert summary["identifies"] == ["city"]
        assert summary["num_kept"] == 1

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"on": ["name", "town"]}, r"^one\.csv: Unknown column 'town'\. .*: city, name\.$"),
            ({"on": ["name", "3"]}, r"^one\.csv: Unknown column '3'"),
            ({"on": ["name", "1"]}, "`on` must name a column once. Received: name, 1"),
            ({"on": ["name", "city"], "kinds": {"1": "text"}}, "Unknown column '1'"),
            ({"on": ["name", "city"], "identifies": ["born"]}, "Unknown column 'born'"),
        ],
    )
    def test_columns_that_are_missing(self, small, options, message):
        with pytest.raises(CharagramError, match=message):
            deduplicate_files(["one.csv", "two.csv"], "out", **options)
        # The corrected command needs no flag.
        assert not Path("out").exists()

    def test_a_column_that_a_later_file_lacks(self, small):
        Path("short.csv").write_text("name\nAnn\n")
        with pytest.raises(DataError, match=r"^short\.csv: .*give them with --on-right"):
            match_files(["one.csv"], ["two.csv", "short.csv"], "out", on=["name", "city"])
        assert not Path("out").exists()

    def test_files_of_one_name(self, small):
        paths = ["one.csv", "one.csv.gz", "more/One.CSV", "one.tsv", "one-2.csv", "one.txt"]
        Path("more").mkdir()
        for number, path in enumerate(paths):
            with gzip.open(path, "wt") if path.endswith(".gz") else open(path, "w") as file:
                file.write(f"name\nAnn {number}\n")
        deduplicate_files(paths, "out", None, threshold=1)
        rows = []
        for path in Path("out").glob("*.?sv"):
            rows += path.read_text().splitlines()[1:]
        assert len(rows) == len(paths) + 1

    def test_none(self, small):
        with pytest.raises(DataError, match=r"head\.csv: no rows found in it and the other"):
            deduplicate_files(["head.csv"], "out", on=["name", "city"])


class TestInMemory:
    """Few rows are compared as `match` and `deduplicate` compare them."""

    @pytest.fixture(autouse=True)
    def _in_memory(self, monkeypatch):
        monkeypatch.setattr(in_memory, "MAX_ROWS", 500)

    @pytest.mark.parametrize("on", [ON, ["name"]])
    def test_groups(self, on, files, table, tmp_path, read):
        summary = deduplicate_files(files, tmp_path / "out", None, on=on, threshold=0.8)
        found = read(tmp_path / "out")
        expected = deduplicate(table, None, on=on, threshold=0.8)
        groups = sorted(sorted(group.rows) for group in expected.groups)
        assert groups_in(found["group"].to_pylist()) == groups
        kept = [row for row, is_kept in enumerate(found["kept"].to_pylist()) if is_kept]
        assert kept == expected.kept
        scores = found["score"].to_pylist()
        for group in expected.groups:
            assert [scores[row] for row in group.rows] == pytest.approx(group.scores, abs=1e-4)
        assert summary["num_groups"] == len(groups)
        shown = [score for group in expected.groups for score in group.scores[1:]]
        assert summary["scores"] == np.histogram(shown, 20, (0, 1))[0].tolist()
        check_estimates(summary, expected)
        assert set(summary["seconds"]) == {"reading", "comparing in memory", "writing"}

    @pytest.mark.parametrize("on", [ON, ["city"]])
    @pytest.mark.parametrize("one_to_one", [False, True])
    def test_partners(self, on, one_to_one, tmp_path):
        left, right = people(120, seed=1), people(150, seed=1)
        right["CITY"] = right.pop("city")
        options = {
            "on": on,
            "on_right": [{"city": "CITY"}.get(name, name) for name in on],
            "one_to_one": one_to_one,
        }
        paths = [write(tmp_path / "left.csv", left), write(tmp_path / "right.csv", right)]
        summary = match_files(paths[:1], paths[1:], tmp_path / "out", None, **options)
        pairs = match(left, right, None, **options).pairs
        found = partners_in(tmp_path / "out" / "left.csv")
        assert found == {pair[:2]: round(pair.score, 4) for pair in pairs}
        assert list(found) == [pair[:2] for pair in pairs]
        assert summary["num_matched"] == len({pair.left for pair in pairs}) > 100
        assert summary["num_pairs"] == sum(summary["scores"]) == len(pairs)

    def test_weights_are_for_later_rows(self, files, table, tmp_path):
        deduplicate_files(files, tmp_path / "out", None, on=ON)
        linker = Linker.load(tmp_path / "out" / "linker.json")
        found, expected = linker.deduplicate(table), deduplicate(table, None, on=ON)
        assert [group.rows for group in found.groups] == [group.rows for group in expected.groups]


class TestTexts:
    @pytest.mark.parametrize("country", ["DE", ""])
    def test_a_column_that_tells_nothing_changes_nothing(self, texts, tmp_path, country):
        table = {"name": texts, "country": [country] * len(texts)}
        path = write(tmp_path / "names.csv", table)
        results = []
        for on in (["name"], ["name", "country"]):
            output = tmp_path / str(len(on))
            summary = deduplicate_files([path], output, None, on=on)
            results.append((output / "names.csv").read_text())
        assert results[0] == results[1]
        assert any(read_table(output / "names.csv").column("group"))
        assert summary["notes"][0].startswith("name: compared as a list of texts is")

    def test_partners_beside_a_column_that_tells_nothing(self, texts, tmp_path):
        left = [*texts[:30], texts[0].upper()]
        right = [*texts[10:50], typo(texts[3], random.Random(0))]
        paths = []
        for name, own in (("left", left), ("right", right)):
            table = {"country": ["DE"] * len(own), "text": own}
            paths.append(write(tmp_path / f"{name}.csv", table))
        found = []
        for on in (["text"], ["country", "text"]):
            output = tmp_path / str(len(on))
            match_files(paths[:1], paths[1:], output, None, on=on)
            found.append(partners_in(output / "left.csv"))
        assert len(found[0]) > 20
        assert list(found[0]) == list(found[1])
        assert list(found[0].values()) == pytest.approx(list(found[1].values()), abs=1e-3)

    def test_groups_beside_a_column_that_tells_little_are_those_in_memory(self, texts, tmp_path):
        draw = random.Random(0)
        table = {"name": texts, "more": [draw.choice(["a", "b"]) for _ in texts]}
        path = write(tmp_path / "names.csv", table)
        deduplicate_files([path], tmp_path / "out", None, on=["name", "more"])
        numbers = read_table(tmp_path / "out" / "names.csv").column("group")
        groups = groups_in([number or None for number in numbers])
        in_memory = deduplicate(table, None, on=["name", "more"])
        assert groups == sorted(sorted(group.rows) for group in in_memory.groups)
        assert len(groups) > 5

    @pytest.mark.parametrize("num_partitions", [1, 5])
    def test_groups_are_those_of_a_list_in_memory(self, texts, lines, tmp_path, num_partitions):
        deduplicate_files([lines], tmp_path / "out", None, num_partitions=num_partitions)
        with open(tmp_path / "out" / "lines.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        in_memory = deduplicate(texts, None)
        assert [row["text"] for row in rows] == texts
        groups = groups_in([row["group"] or None for row in rows])
        assert groups == sorted(sorted(group.rows) for group in in_memory.groups)
        assert [row for row in range(len(rows)) if rows[row]["kept"] == "1"] == in_memory.kept

    def test_partners_of_a_list(self, lines, texts, tmp_path):
        queries = tmp_path / "queries.jsonl"
        query = texts[7].replace("a", "", 1)
        # The second object has a key of its own, and the third one no text.
        rows = [{"text": query}, {"text": texts[9], "more": 1}, {"more": 2}]
        queries.write_text("".join(json.dumps(row) + "\n" for row in rows))
        output = tmp_path / "out"
        summary = match_files([queries], [lines], output, None, on=["text"], one_to_one=True)
        assert summary["num_matched"] == 2
        written = (output / "queries.jsonl").read_text()
        found = list(map(json.loads, written.splitlines()))
        assert [row["text_2"] for row in found] == [texts[7], texts[9], None]
        assert [row["more"] for row in found] == [None, 1, 2]

    def test_copies_have_partners_as_in_memory(self, texts, tmp_path):
        left = [*texts[:30], texts[0].upper(), texts[0], texts[5]]
        # Of equal texts, those that are the same to the letter belong together.
        right = [*texts[10:50], texts[0], texts[0].upper(), texts[5], texts[5], texts[5]]
        paths = [write(tmp_path / f"{n}.csv", {"text": t}) for n, t in enumerate((left, right))]
        for one_to_one in (False, True):
            output = tmp_path / str(one_to_one)
            options = {"on": ["text"], "one_to_one": one_to_one}
            match_files(paths[:1], paths[1:], output, None, **options)
            pairs = match(left, right, None, one_to_one=one_to_one).pairs
            found = partners_in(output / "0.csv")
            assert list(found) == [pair[:2] for pair in pairs]
            assert list(found.values()) == pytest.approx([pair.score for pair in pairs], abs=1e-3)


class TestStopped:
    def test_after_every_third_task(self, result, files, read, monkeypatch, tmp_path):
        run_task = run.run_task
        num_left = 0

        def stop(job, number, task):
            nonlocal num_left
            if not num_left:
                # What a killed process was writing.
                (tmp_path / "out" / ".part-0.parquet.part").write_bytes(b"half")
                raise Killed
            num_left -= 1
            run_task(job, number, task)

        monkeypatch.setattr(run, "run_task", stop)
        num_runs = 0
        while True:
            num_left = 3
            num_runs += 1
            try:
                deduplicate_files(
                    files, tmp_path / "out", on=ON, num_partitions=2, resume=num_runs > 1
                )
                break
            except Killed:
                continue
        assert num_runs > 5
        assert read(tmp_path / "out").equals(read(result))
        assert not (tmp_path / "out" / "steps").exists()
        # Nothing is done again.
        num_left = 0
        deduplicate_files(files, tmp_path / "out", on=ON, num_partitions=2, resume=True)

    def test_where_files_are_renamed_and_deleted(self, result, files, read, monkeypatch, tmp_path):
        def stop():
            raise Killed

        def clean(output, **more):
            deduplicate_files(files, output, on=ON, num_partitions=1, **more)

        other = tmp_path / "other"
        clean(other, threshold=0.9)
        with monkeypatch.context() as patch:
            numbers = stop_before(-1, stop, patch.setattr)
            clean(shutil.copytree(other, tmp_path / "whole"), overwrite=True)
        # Between them are the tasks.
        for number in [*numbers[:6], *numbers[-6:]]:
            output = shutil.copytree(other, tmp_path / str(number))
            with monkeypatch.context() as patch, suppress(Killed):
                stop_before(number, stop, patch.setattr)
                clean(output, overwrite=True)
            try:
                clean(output, resume=True)
            except RunError as error:
                assert "started with other settings" in str(error)
                clean(output, overwrite=True)
            assert read(output).equals(read(result))
            assert not (output / "steps").exists()

    def test_other_settings(self, result, files):
        with pytest.raises(RunError, match=r"other settings: groups was average, is components\."):
            deduplicate_files(files, result, on=ON, groups="components", resume=True)

    def test_another_folder(self, files, tmp_path):
        (tmp_path / "mine.txt").write_text("mine")
        with pytest.raises(RunError, match="has other files, so nothing is written there"):
            deduplicate_files(files, tmp_path, on=ON, overwrite=True)
        with pytest.raises(RunError, match=r"exists\. Add --resume to continue it"):
            deduplicate_files(files, tmp_path, on=ON)


class TestCommands:
    def test_a_pattern_into_a_folder(self, files, tmp_path, capsys, read):
        pattern = files[0].replace("part-0", "part-*")
        output = f"{tmp_path / 'clean'}/"
        assert call("dedupe", pattern, "--on", "name,born", "--output", output, "--json") == 0
        written = capsys.readouterr()
        summary = json.loads(written.out)
        assert summary["num_rows"] == 500 > summary["num_kept"]
        lines = [line for line in written.err.splitlines() if line.startswith("{")]
        progress = list(map(json.loads, lines))
        ends = {each["step"]: each for each in progress}
        assert list(ends) == list(summary["seconds"])
        assert all(each["num_done"] == each["num_tasks"] for each in ends.values())
        assert ends["comparing pairs"]["rows_per_second"] > 0
        assert ends["writing"]["seconds_left"] == 0
        assert sum(summary["seconds"].values()) > 0
        assert len(read(tmp_path / "clean")) == 500
        assert call("dedupe", pattern, "--on", "name,born", "--output", output, "--overwrite") == 0
        assert "of 500 rows kept, groups of duplicates:" in capsys.readouterr().err

    def test_two_tables(self, files, tmp_path, capsys):
        output = f"{tmp_path / 'out'}/"
        assert call("match", *files, "--on", ",".join(ON), "--output", output) == 0
        written = capsys.readouterr().err
        assert re.search(r"of 200 rows matched in [\d,]+ pairs, in ", written)
        assert "columns: name:name, city:name, born:date" in written
        assert "identify: name, born; others may change" in written
        assert re.search(r"score 0\.95 +\d+ +#+\n", written)
        assert re.search(r" 0\.50 +\d+ +[01]\.\d\d \(.* \*\n", written)

    @pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
    @pytest.mark.parametrize("num_rows", [0, 500])
    def test_a_folder_has_the_rows_of_a_file(self, suffix, num_rows, tmp_path, monkeypatch):
        monkeypatch.setattr(in_memory, "MAX_ROWS", num_rows)
        monkeypatch.chdir(tmp_path)
        rows = [{"name": "Ann Lee", "id": 1, "tags": ["x"]}, {"name": "Bob Ray", "id": 7}]
        for name, own in {"left": [*rows, {"name": "?"}], "right": [*rows[::-1], rows[0]]}.items():
            Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in own))
            if suffix != "jsonl":
                read_table(f"{name}.jsonl").write(f"{name}.{suffix}")
        command = ["match", f"left.{suffix}", f"right.{suffix}", "--on", "name", "--model", "none"]
        assert call(*command, "--output", f"file.{suffix}") == 0
        assert call(*command, "--output", "folder/") == 0
        found = read_table(f"folder/left.{suffix}")
        expected = read_table(f"file.{suffix}")
        assert found.rows == expected.rows
        assert found.fields == expected.fields
        assert [row["id_2"] for row in found.rows][-1] in ("", None)

    @pytest.mark.parametrize(
        ("flags", "message"),
        [
            (["--output", "new/", "--drop"], "--drop needs all rows at once: write to a file"),
            (["--output", "new.csv", "--ray", "auto"], "--ray is for a folder"),
            (["--output", "new"], "--output must be a file such as new.csv, or a folder, new/"),
            (["--output", "new/", "--column", "born"], "--column must be NAME:KIND"),
            (["--output", "new/", "--column", "born:day"], "Unknown kind of column 'day'"),
            (["--output", "new/", "--threshold", "2"], r"`threshold` must be in [0, 1]"),
            (["--output", "new/", "--resume", "--overwrite"], "Give one of `resume` and"),
        ],
    )
    def test_flags_without_effect(self, files, flags, message, capsys, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert call("dedupe", files[0], "--on", "name,born", *flags) == 1
        assert message in capsys.readouterr().err

    def test_several_files_into_a_file(self, files, capsys):
        folder = Path(files[0]).parent
        pattern = str(folder / "*.parquet")
        for command in (["dedupe", pattern], ["match", files[0], str(folder)]):
            assert call(*command, "--on", "name", "--output", "new.csv") == 1
            message = f"{command[-1]} is several files: give a folder, such as --output clean/"
            assert message in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("address", "message"),
        [
            ("auto", "at auto (Could not find"),
            ("127.0.0.1:9", "at 127.0.0.1:9 ([Errno 111] Connection refused)"),
            ("ray://127.0.0.1:9", "at ray://127.0.0.1:9 ([Errno 111]"),
            ("ray://127.0.0.1", "its port is missing, as in ray://127.0.0.1:10001"),
        ],
    )
    def test_no_cluster(self, files, tmp_path, monkeypatch, capsys, address, message):
        def init(**given):
            # Ray itself would try the other addresses for long.
            assert address == "auto"
            raise ConnectionError("Could not find any running Ray instance.")

        fake = SimpleNamespace(is_initialized=lambda: False, init=init)
        monkeypatch.setitem(sys.modules, "ray", fake)
        command = ["dedupe", *files[:1], "--on", "name", "--output", f"{tmp_path / 'out'}/"]
        assert call(*command, "--ray", address) == 1
        assert "There is no Ray cluster" in (err := capsys.readouterr().err)
        assert message in err

    @pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request", b"\0\0\0\4\0\0\0\0\0", b""])
    def test_something_else_answers(self, answer):
        with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor() as pool:

            def serve():
                connection, _ = server.accept()
                with connection:
                    connection.recv(100)
                    connection.sendall(answer)

            served = pool.submit(serve)
            expected = pytest.raises(ConnectionError, match="something else answers there")
            # A frame of settings.
            with nullcontext() if answer[3:4] == b"\4" else expected:
                run._check_answers(f"127.0.0.1:{server.getsockname()[1]}")
            served.result()

    def test_no_files(self, tmp_path):
        from tf_charagram.search._commands.files import files_of

        with pytest.raises(DataError, match="Put patterns in quotes"):
            files_of(str(tmp_path))
