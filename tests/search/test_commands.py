"""`charagram search`, `match` and `dedupe`."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.commands import call, environment, process, run, stop_before
from tests.search.conftest import WORDS
from tests.search.linkage.conftest import people
from tests.variants import some_now
from tf_charagram import TextReader
from tf_charagram.data._tables.table_reading import read_table
from tf_charagram.data._tables.tables import Table
from tf_charagram.search import deduplicate, match
from tf_charagram.search.linkage._columns.kinds import KINDS

COLUMNS = ["id", "name", "city"]
ROWS = [
    ["1", "Horse & Sons", "Rome"], ["2", "Doggedly; Ltd", "Oslo"], ["3", "HORSE & SONS", "Rome"],
    ["4", "Horse & Sons", "Bern"], ["5", "Byrd", ""], ["6", "", "Oslo"],
]  # fmt: skip
NAMES = [row[1] for row in ROWS]
TABLE = Table(COLUMNS, [[row[column] for row in ROWS] for column in range(3)])


@pytest.fixture(params=["x.csv", "x.tsv", "x.jsonl", "x.parquet", ";"])
def table(request, tmp_path):
    """Returns a file of the rows, and a name of the same format to write to."""
    if request.param == ";":
        path = tmp_path / "x.csv"
        with path.open("w", newline="") as file:
            csv.writer(file, delimiter=";").writerows([COLUMNS, *ROWS])
        return path, tmp_path / "out.csv"
    if request.param == "x.parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / request.param
    TABLE.write(path)
    return path, tmp_path / f"out{path.suffix}"


@pytest.fixture
def csv_file(tmp_path):
    path = tmp_path / "rows.csv"
    TABLE.write(path)
    return path


def cells(path, column):
    return [cell or None for cell in read_table(path).column(column)]


def first_cells(table):
    return [list(row) for row in zip(*map(table.column, COLUMNS), strict=True)]


def test_dedupe(table, capsys):
    source, output = table
    arguments = [source, "--on", "name", "--model", "none", "--output", output]
    assert call("dedupe", *arguments) == 0
    err = capsys.readouterr().err
    written = read_table(output)
    assert written.columns == [*COLUMNS, "group", "kept", "score"]
    assert first_cells(written) == ROWS
    assert cells(output, "group") == ["1", None, "1", "1", None, None]
    assert cells(output, "kept") == ["1", "1", "0", "0", "1", "1"]
    assert [score and float(score) for score in cells(output, "score")] == [
        1,
        None,
        1,
        1,
        None,
        None,
    ]
    assert f"score 0.95{2:11}  {'#' * 40}\n" in err
    assert "4 of 6 rows kept, groups of duplicates: 1, threshold 0.50\n" in err
    assert call("dedupe", *arguments, "--drop", "--threshold", 1) == 1
    assert f"{output} exists. Add --overwrite to replace it" in capsys.readouterr().err
    assert call("dedupe", *arguments, "--drop", "--threshold", 1, "--overwrite") == 0
    assert read_table(output).columns == COLUMNS
    assert cells(output, "id") == ["1", "2", "5", "6"]


def test_dedupe_warns_of_weak_links(tmp_path, capsys):
    texts = tmp_path / "texts.txt"
    texts.write_text("apple pear\napple pear plum kiwi\nplum kiwi\nplum kiwi fig\nzucchini\n")
    arguments = ["dedupe", texts, "--model", "none", "--threshold", 0.15, "--drop"]
    assert call(*arguments) == 0
    assert "warning" not in capsys.readouterr().err
    assert call(*arguments, "--groups", "components") == 0
    streams = capsys.readouterr()
    warning = r"warning: only rows 1 and 2 \(score 0.\d+\) hold two parts of a group of 4 rows"
    assert re.search(warning, streams.err)
    assert streams.out.splitlines()[1:] == ["apple pear plum kiwi", "zucchini"]


@pytest.mark.parametrize("on", ["", "name", "name,city"])
def test_dedupe_into_groups(tmp_path, capsys, on):
    texts = ["Horse and Sons", "Doggedly Limited", "Byrd Carpets", "Ann Lee Bakery"] * 2
    first = Table(["name", "city"], [texts[:4], ["Rome", "Oslo", "Bern", "Paris"]])
    new = Table(["name", "city"], [["Byrd Carpet", "Quince"], ["Bern", "Rome"]])
    first.write(tmp_path / "first.csv")
    new.write(tmp_path / "new.csv")
    folder = tmp_path / "groups"
    output = tmp_path / "out.csv"
    more = ["--on", on] if on else []
    arguments = ["--into", folder, "--output", output, "--overwrite"]
    model = ["--model", "none"]
    assert call("dedupe", tmp_path / "first.csv", *more, *model, *arguments) == 0
    assert "0 of 4 rows joined old groups" in capsys.readouterr().err
    assert cells(output, "group") == ["1", "2", "3", "4"]
    assert call("dedupe", tmp_path / "new.csv", *arguments) == 0
    assert "1 of 2 rows joined old groups" in (err := capsys.readouterr().err)
    assert "6 rows in 5 groups" in err
    written = read_table(output)
    assert written.columns == ["name", "city", "group"]
    assert written.column("group") == ["3", "5"]
    assert call("dedupe", tmp_path / "new.csv", *model, *arguments) == 1
    assert f"--model was chosen when {folder} was made" in capsys.readouterr().err
    assert call("dedupe", tmp_path / "new.csv", *arguments, "--drop") == 1
    assert "--drop does not go with --into" in capsys.readouterr().err


# Runs a command that is killed before it makes or deletes a file, the one of a number.
KILLED = """
import os, signal, sys
from tests.commands import stop_before
from tf_charagram.cli import main

stop_before(int(sys.argv[1]), lambda: os.kill(os.getpid(), signal.SIGKILL), setattr)
main(sys.argv[2:])
"""


def fail():
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("kills", "is_first"),
    some_now(
        [(True, True), (True, False), (False, True), (False, False)], (True, False), (False, True)
    ),
)
def test_dedupe_into_adds_rows_once(tmp_path, monkeypatch, kills, is_first):
    texts = ["Horse and Sons", "Doggedly Limited", "Byrd Carpets", "Ann Lee Bakery"] * 2
    first = Table(["name", "city"], [texts, ["Rome", "Oslo", "Bern", "Paris"] * 2])
    # A cell without words is a group of its own each time.
    new = Table(["name", "city"], [["Byrd Carpet", "Quince", ""], ["Bern", "Rome", ""]])
    before = tmp_path / "before"
    before.mkdir()
    monkeypatch.chdir(before)
    first.write("first.csv")
    new.write("new.csv")
    command = ["dedupe", "first.csv", "--into", "clean", "--on", "name" if kills else "name,city"]
    command += ["--model", "none"]
    if not is_first:
        assert call(*command, "--output", "old.csv") == 0
        command = ["dedupe", "new.csv", "--into", "clean"]
    command += ["--output", "out.csv", "--overwrite"]

    def result():
        return Path("out.csv").read_text(), Path("clean/rows.json").read_text()

    monkeypatch.chdir(shutil.copytree(before, tmp_path / "whole"))
    with monkeypatch.context() as patch:
        numbers = stop_before(-1, fail, patch.setattr)
        assert call(*command) == 0
    expected = result()
    # Of note, folder, output and note again.
    assert len(numbers) >= 4
    for number in numbers:
        monkeypatch.chdir(shutil.copytree(before, tmp_path / str(number)))
        if kills:
            line = [sys.executable, "-c", KILLED, str(number), *command]
            env = environment(PYTHONPATH=str(Path(__file__).parents[2]))
            ended = subprocess.run(line, env=env, capture_output=True, check=False)
            assert (status := ended.returncode) == -signal.SIGKILL
        else:
            with monkeypatch.context() as patch:
                stop_before(number, fail, patch.setattr)
                status = call(*command)
        # Files that only remain are no error.
        if status != 0:
            assert call(*command) == 0
        assert result() == expected
        assert not Path("clean/unwritten.json").exists()


def test_dedupe_into_after_an_output_that_failed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in {"old": "Horse\nDog\n", "new": "Byrd\nHorse\n", "last": "Horse\n"}.items():
        Path(f"{name}.txt").write_text(text)
    options = ["--into", "clean", "--threshold", 0.4]
    assert call("dedupe", "old.txt", *options, "--model", "none") == 0
    with monkeypatch.context() as patch:
        patch.setattr(Table, "write", lambda *args: fail())
        assert call("dedupe", "new.txt", "--into", "clean", "--output", "out.csv") == 1
    # Its only row is the last one of the folder.
    assert call("dedupe", "last.txt", "--into", "clean") == 1
    message = (
        "clean has the rows of new.txt, but out.csv was not written. Repeat that command first"
    )
    assert message in capsys.readouterr().err
    assert call("dedupe", "new.txt", *options) == 1
    assert "--threshold was chosen when clean was made" in capsys.readouterr().err
    assert call("dedupe", "new.txt", "--into", "clean", "--output", "out.csv") == 0
    err = capsys.readouterr().err
    assert "clean has the rows of new.txt: they are not added again" in err
    assert "1 of 2 rows joined old groups; clean: 4 rows in 3 groups" in err
    assert cells("out.csv", "group") == ["3", "1"]
    assert call("dedupe", "last.txt", "--into", "clean") == 0
    assert "clean: 5 rows in 3 groups" in capsys.readouterr().err


def test_dedupe_into_a_pipe_that_closes(tmp_path):
    (tmp_path / "rows.txt").write_text("\n".join(f"{number} {'x' * 99}" for number in range(2000)))
    command = process("dedupe", "rows.txt", "--into", "clean", "--model", "none")
    line = shlex.join(command) + " | head -1"
    assert run(["bash", "-c", line], cwd=tmp_path).stdout == "text,group\n"
    assert not (tmp_path / "clean" / "unwritten.json").exists()


def test_dedupe_tells_of_groups_that_new_rows_connect(tmp_path, capsys):
    first = tmp_path / "first.txt"
    new = tmp_path / "new.txt"
    first.write_text("apple pear plum\nplum fig date\n")
    new.write_text("apple pear plum fig date\n")
    folder = tmp_path / "groups"
    options = ["--model", "none", "--threshold", 0.3]
    assert call("dedupe", first, "--into", folder, *options) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["apple pear plum,1", "plum fig date,2"]
    assert call("dedupe", new, "--into", folder) == 0
    streams = capsys.readouterr()
    assert "rows connect the groups 1, 2; they stay apart without --merge" in streams.err
    assert call("dedupe", new, "--into", folder, "--merge") == 0
    streams = capsys.readouterr()
    assert "rows connect the groups 1, 2; they are 1 now" in streams.err
    assert "apple pear plum fig date,1" in streams.out
    assert "4 rows in 1 groups" in streams.err


def test_dedupe_on_two_columns(csv_file, tmp_path, capsys):
    # Equal in both columns: rows 1 and 3. Row 4 is in another city.
    assert call("dedupe", csv_file, "--on", "name,3", "--drop") == 0
    streams = capsys.readouterr()
    rows = list(csv.reader(streams.out.splitlines()))
    assert rows == [COLUMNS, *(ROWS[row] for row in (0, 1, 3, 4, 5))]
    assert "columns: name:name, city:name (to change: --column NAME:KIND)\n" in streams.err
    assert "too few matches to estimate precision and recall\n" in streams.err
    output = tmp_path / "out.csv"
    arguments = ["--on", "name,city", "--column", "city:code", "--explain", "--output", output]
    assert call("dedupe", csv_file, *arguments) == 0
    assert "name:name, city:code" in capsys.readouterr().err
    assert "; city equal +" in cells(output, "evidence")[2]
    assert call("dedupe", csv_file, "--on", "name,city", "--column", "city") == 1
    assert (
        "--column must be NAME:KIND, such as born:date. Received: city" in capsys.readouterr().err
    )


@pytest.fixture
def people_files(tmp_path):
    left, right, truth = people(0)
    paths = []
    for name, table in (("left.csv", left), ("right.csv", right)):
        columns = [list(map(str, cells)) for cells in table.values()]
        keys = [f"key{row}" for row in range(len(columns[0]))]
        Table(["key", *table], [keys, *columns]).write(tmp_path / name)
        paths.append(tmp_path / name)
    return paths, truth


def test_drop_asks_where_few_pairs_are_sure(people_files, capsys):
    (left, _), _ = people_files
    # Towns and few first names: many people have both in common.
    arguments = ["dedupe", left, "--on", "first,town", "--threshold", 0.01]
    assert call(*arguments) == 0
    assert re.search(
        r"pairs at 0.01 and \d+ at 0.30: prob.*a threshold means little", capsys.readouterr().err
    )
    assert call(*arguments, "--drop") == 1
    streams = capsys.readouterr()
    assert re.search(r"Lower bound at threshold 0.01: \d+%. Raise --threshold", streams.err)
    assert call(*arguments, "--drop", "--yes") == 0
    rows = list(csv.reader(capsys.readouterr().out.splitlines()))
    assert 1 < len(rows) < 301


def test_match_on_columns(people_files, tmp_path, capsys):
    (left, right), truth = people_files
    output = tmp_path / "out.csv"
    arguments = ["match", left, right, "--on", "first,last,street,town,born", "--output", output]
    assert call(*arguments, "--explain") == 0
    err = capsys.readouterr().err
    assert "threshold     pairs  precision         recall (estimated, with bounds)\n" in err
    assert " 0.50 " in err and " of 300 rows matched in " in err
    found = set(zip(cells(output, "key"), cells(output, "key_2"), strict=True))
    found = {pair for pair in found if pair[1]}
    expected = {(f"key{row}", f"key{other}") for row, other in truth}
    assert len(found & expected) > 0.95 * len(expected)
    assert len(found) < 1.05 * len(expected)
    scores = cells(output, "score")
    assert min(float(score) for score in scores if score) >= 0.5
    # Rows without a partner have empty cells.
    assert [score is None for score in scores] == [key is None for key in cells(output, "key_2")]
    assert "; born " in next(filter(None, cells(output, "evidence")))
    labels = tmp_path / "labels.csv"
    lines = [f"key{row},key{row},1\nkey{row},key{row + 1},0\n" for row in range(100)]
    labels.write_text("left,right,match\n" + "".join(lines))
    assert (
        call(*arguments, "--labels", labels, "--key", "key", "--alternatives", 2, "--overwrite")
        == 0
    )
    assert "learned from labels" in capsys.readouterr().err
    assert cells(output, "key")[:2] == ["key0", "key0"]


def test_match(table, csv_file, capsys):
    left, output = table
    arguments = ["match", left, csv_file, "--on", "name", "--model", "none", "--output", output]
    assert call(*arguments, "--threshold", 0.9) == 0
    err = capsys.readouterr().err
    written = read_table(output)
    assert written.columns == [*COLUMNS, "score", *(f"{name}_2" for name in COLUMNS)]
    # The fourth right row has a partner, too.
    assert first_cells(written) == [ROWS[0], *ROWS]
    assert cells(output, "id_2") == ["1", "4", "2", "3", "1", "5", None]
    assert "5 of 6 rows matched in 6 pairs, threshold 0.90\n" in err and "score 0.95" in err
    assert call(*arguments, "--one-to-one", "--threshold", 0.9, "--overwrite") == 0
    assert cells(output, "id_2") == ["1", "2", "3", "4", "5", None]


def test_other_columns_of_the_right_table_and_vectors(model, csv_file, tmp_path, capsys):
    right = tmp_path / "right.jsonl"
    right.write_text('{"firm": "byrd"}\n{"firm": "horse & sons"}\n{"firm": null}\n')
    output = tmp_path / "out.jsonl"
    for flags, options in (([], {}), (["--vectors-only"], {"lexical": False})):
        columns = ["--on", "name", "--on-right", "firm", "--model", model, "--output", output]
        assert call("match", csv_file, right, *columns, "--overwrite", *flags) == 0
        firm = "horse & sons"
        expected = match(NAMES, ["byrd", "horse & sons", ""], model, **options).pairs
        found = [json.loads(line) for line in output.read_text().splitlines()]
        assert [row["firm"] for row in found] == [firm, None, firm, firm, "byrd", None] or flags
        assert {row["score"] for row in found} - {None} == {round(p.score, 4) for p in expected}


@pytest.mark.parametrize("command", ["match", "label"])
def test_both_tables_have_as_many_columns(command, tmp_path, capsys):
    table = tmp_path / "table.csv"
    table.write_text("name,city\nann,rome\n")
    flags = ["--labels", tmp_path / "labels.tsv"] if command == "label" else []
    columns = ["--on", "name,city", "--on-right", "name"]
    assert call(command, table, table, *columns, *flags) == 1
    message = "--on and --on-right must name the same number of columns. Received: name,city and"
    assert message in capsys.readouterr().err


@pytest.fixture
def labels(tmp_path):
    path = tmp_path / "labels.tsv"
    lines = ["0\t2\t1\n", "0\t3\t1\n", "1\t4\t0\n", "byrd\tHorse & Sons\t0\n"]
    path.write_text("".join(lines))
    return path


def test_labels(csv_file, labels, tmp_path, capsys):
    arguments = ["--on", "name", "--model", "none", "--labels", labels]
    pairs = [(0, 2, 1), (0, 3, 1), (1, 4, 0), ("byrd", "Horse & Sons", 0)]
    threshold = deduplicate(NAMES, None, labels=pairs).learned.threshold
    for command, files in (("dedupe", [csv_file]), ("match", [csv_file, csv_file])):
        assert call(command, *files, *arguments) == 0
        err = capsys.readouterr().err
        assert "learned from labels: threshold 0." in err and "(on held-out labels)" in err
        assert command == "match" or f"threshold {threshold:.2f}, precision" in err
    rows = labels.read_text()
    for yes, no in (("Yes", "No"), ("TRUE", "FALSE"), ("y", "n")):
        labels.write_text(rows.replace("\t1\n", f"\t{yes}\n").replace("\t0\n", f"\t{no}\n"))
        assert call("dedupe", csv_file, *arguments) == 0
        assert f"threshold {threshold:.2f}, precision" in capsys.readouterr().err
    named = "left\tright\tmatch\n" + rows.replace("\t1\n", "\tmatch\n")
    labels.write_text(named.replace("\t0\n", "\tno match\n"))
    assert call("dedupe", csv_file, *arguments) == 0
    assert f"threshold {threshold:.2f}, precision" in capsys.readouterr().err
    labels.write_text("0\t2\t1\n0\t3\t1\n1\t4\t0\n")
    assert call("dedupe", csv_file, *arguments) == 0
    message = "labels.tsv has fewer than two matches or two others: nothing was learned"
    assert message in capsys.readouterr().err
    for content, message in (
        ("a\tb\t1\na\tc\t1\nb\tc\t1\n", "`labels` must name rows of the table, from 0 to 5"),
        (
            "left\tright\tlabel\na\tc\tmaybe\n",
            "expected 0 or 1 in column label, for",
        ),
        ("this\tthat\nb\tc\n", "two texts and 1 or 0, whether"),
        ("one\ttwo\tsame\nb\tc\t1\n", "Name them left, right and match."),
    ):
        labels.write_text(content)
        assert call("dedupe", csv_file, *arguments) == 1
        err = capsys.readouterr().err
        # `dedupe` has no such flag.
        assert message in err and "--columns" not in err


def test_keys_that_a_table_lacks(csv_file, labels, tmp_path, capsys):
    other = tmp_path / "other.csv"
    other.write_text("name\nbyrd\n")
    arguments = ["--on", "name", "--model", "none", "--labels", labels, "--key", "id"]
    assert call("match", csv_file, other, *arguments) == 1
    message = "--key must name a column of the right table. Unknown column 'id'. Available: name."
    assert message in capsys.readouterr().err


def test_columns_of_one_name(tmp_path, capsys):
    table = tmp_path / "twins.csv"
    table.write_text("name,name,city\nAnna Lee,A. Lee,Rome\nAnna Li,Ann Lee,Rome\nBo,B.,Oslo\n")
    arguments = ["dedupe", table, "--on", "1,2", "--model", "none"]
    for flags in (["--identifies", "2"], ["--identifies", "name_2"]):
        assert call(*arguments, *flags, "--column", "name_2:text") == 0
        err = capsys.readouterr().err
        assert "columns: name:name, name_2:text (to" in err
        assert "identify: name_2; others may change (to" in err
    assert call(*arguments, "--identifies", "") == 0
    assert "identify: none; all may change (to" in capsys.readouterr().err
    assert call(*arguments, "--identifies", "city") == 1
    message = "--identifies must name a column of --on: name, name_2. Received: city"
    assert message in capsys.readouterr().err


def test_help_lists_all_kinds_of_columns(capsys):
    call("dedupe", "--help")
    [text] = re.findall(r"kind of a column of --on:([^[]*)\[", capsys.readouterr().out)
    assert set(re.findall(r"\w+", text)) - {"or"} == set(KINDS)


def test_table_errors(csv_file, tmp_path, capsys):
    other = tmp_path / "other.csv"
    other.write_text("key,value\n1,a\n2,b\n")
    cases = [
        (["dedupe", csv_file, "--on", "nam"], "Did you mean 'name'? Available: city, id, name."),
        (
            ["match", csv_file, other, "--on", "name"],
            "If its columns have other names, give them with --on-r",
        ),
        (["dedupe", other], "`on` must name the columns of the texts. Available: key, value."),
        (["dedupe", csv_file, "--output", csv_file], "rows.csv is read as well, and would be over"),
        (["match", other, csv_file, "--output", csv_file], "rows.csv is read as well"),
        (["dedupe", csv_file, "--output", tmp_path / "x.xls"], "must end in .csv, .tsv, .jsonl or"),
        (["dedupe", csv_file, "--threshold", 2], "`threshold` must be in [0, 1]. Received: 2.0"),
        (["dedupe", tmp_path / "nothing.csv"], "nothing.csv: cannot be read: No such file"),
        (["dedupe", csv_file, "--model", "englsh"], "Did you mean 'english'?"),
        (["dedupe", csv_file, "--model", "none", "--vectors-only"], "there is nothing to compare"),
    ]
    before = csv_file.read_bytes()
    for arguments, message in cases:
        assert call(*arguments) == 1
        streams = capsys.readouterr()
        assert message in streams.err and not streams.out
    assert csv_file.read_bytes() == before and not (tmp_path / "x.xls").exists()


def records(out):
    return [json.loads(line) for line in out.splitlines()]


def test_search_a_file_and_a_saved_index(model, tmp_path, capsys):
    file, index = tmp_path / "lines.txt", tmp_path / "index"
    file.write_text("".join(f"{word}\n" for word in [*WORDS, WORDS[0]]))
    queries = ["catt", "hosre", os.fsdecode(b"cat dog \xe9")]
    arguments = [*queries, "--model", model, "--k", 3, "--json"]
    assert call("search", file, *arguments, "--save", index) == 0
    streams = capsys.readouterr()
    assert streams.err.startswith(f"9 texts -> {index}\n")
    found = records(streams.out)
    assert [record["query"] for record in found] == [*queries[:2], "cat dog ?"]
    assert [hit["row"] for hit in found[0]["hits"][:2]] == [0, 8]
    assert found[1]["hits"][0]["text"] == "horse" and len(found[1]["hits"]) == 3
    assert call("search", index, *arguments) == 0
    assert records(capsys.readouterr().out) == found
    assert call("search", index, "catt", "--model", model, "--threshold", 0.9999) == 0
    assert capsys.readouterr().out == "query,row,score,text\n"
    assert call("search", index, "catt") == 1
    assert "was built with another model than english. Give that" in capsys.readouterr().err
    assert call("search", file, "catt", "--save", index) == 1
    assert "index exists" in capsys.readouterr().err


def test_search_a_table(csv_file, capsys):
    arguments = ["--on", "name,city", "--model", "none", "--k", 1]
    assert call("search", csv_file, "hors and sons bern", *arguments) == 0
    _, hit = csv.reader(capsys.readouterr().out.splitlines())
    assert hit[:2] == ["hors and sons bern", "3"] and hit[3] == "Horse & Sons Bern"


def test_search_shows_what_its_numbers_are(tmp_path, monkeypatch, capsys):
    texts = tmp_path / "texts.txt"
    texts.write_text('Horse, "Sons"\n')
    arguments = [texts, "horse", "horse", "--model", "none"]
    quoted = ',"Horse, ""Sons"""\n'
    for is_terminal, flags in ((False, []), (True, ["--csv"])):
        monkeypatch.setattr("sys.stdout.isatty", lambda is_terminal=is_terminal: is_terminal)
        assert call("search", *arguments, *flags) == 0
        written = capsys.readouterr().out
        assert written.startswith("query,row,score,text\nhorse,0,0.") and written.endswith(quoted)
        assert written.count("query") == 1 and written.count("horse,0,") == 2
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert call("search", *arguments) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header == "   score     row  text" and lines[0] == lines[2] == "horse"
    assert re.fullmatch(r"   0\.\d{3}       0  Horse, \"Sons\"", lines[1])


def test_search_writes_the_found_rows(table, capsys):
    source, output = table
    arguments = [source, "horse & sons", "byrd", "--on", "name", "--model", "none", "--k", 2]
    assert call("search", *arguments, "--threshold", 0.9, "--output", output) == 0
    assert capsys.readouterr().out == ""
    found = read_table(output)
    assert found.columns == ["query", "row", "score", *COLUMNS]
    assert found.column("query") == ["horse & sons"] * 2 + ["byrd"]
    assert first_cells(found) == [ROWS[int(row)] for row in found.column("row")]
    assert found.column("id")[2] == "5"
    for flags, message in (
        (["--output", output], "exists. Add --overwrite to replace it"),
        (["--output", source, "--overwrite"], "is read as well, and would be overwritten"),
        (["--output", output.with_suffix(".x")], "must end in .csv, .tsv, .jsonl or"),
        (["--output", output.parent], "must end in"),
        (["--output", output, "--json", "--overwrite"], "--json does not go with --output."),
    ):
        assert call("search", *arguments, *flags) == 1
        assert message in capsys.readouterr().err


def test_search_writes_what_it_found_in_an_index(model, tmp_path):
    (tmp_path / "lines.txt").write_text("cat\ndog\n")
    arguments = ["--model", model, "--k", 1, "--output", tmp_path / "found.tsv"]
    index = tmp_path / "index"
    assert call("search", tmp_path / "lines.txt", "x", *arguments, "--save", index) == 0
    assert call("search", index, "catt", os.fsdecode(b"dog\xe9"), *arguments, "--overwrite") == 0
    lines = (tmp_path / "found.tsv").read_text().splitlines()
    assert [line.split("\t")[::3] for line in lines] == [
        ["query", "text"], ["catt", "cat"], ["dog?", "dog"],
    ]  # fmt: skip


def test_flags_of_tables(tmp_path, capsys):
    path = tmp_path / "x.csv"
    path.write_bytes('Café,"last, first"\nZoë,1\nbad\nRex,2\nZoë,3\n'.encode("cp1252"))
    arguments = ["--model", "none", "--drop", "--encoding", "cp1252", "--on-bad-line", "skip"]
    flags = ["--on", '"last, first",Cafe\u0301', "--threshold", 1]
    assert call("dedupe", path, *arguments, *flags) == 0
    streams = capsys.readouterr()
    assert streams.out == 'Café,"last, first"\nZoë,1\nRex,2\nZoë,3\n'
    assert "skipped 1 bad line; first:" in streams.err
    assert call("dedupe", path, *arguments, "--on", "1", "--threshold", 1, "--no-header") == 0
    assert capsys.readouterr().out == 'Café,"last, first"\nZoë,1\nRex,2\n'
    assert call("dedupe", path, "--on", "1") == 1
    assert "x.csv:1: is not UTF-8 here. Name its encoding" in capsys.readouterr().err
    assert call("dedupe", path, "--on", "1", *arguments[:-2]) == 1
    assert "x.csv:3: expected 2 columns as in the first row, found 1" in capsys.readouterr().err


def test_outputs_are_checked_first(csv_file, tmp_path, monkeypatch, capsys):
    def fail(*arguments, **options):
        raise AssertionError("the computation has started")

    monkeypatch.setattr("tf_charagram.search.matching.deduplicate", fail)
    monkeypatch.setattr("tf_charagram.search.matching.match", fail)
    older = tmp_path / "older.csv"
    older.write_text("older")
    long = tmp_path / ("x" * 300 + ".csv")
    for output, message in (
        (older, "older.csv exists. Add --overwrite to replace it, or give another file."),
        (long, "File name too long"),
        (tmp_path / "older.csv" / "x.csv", "Cannot write"),
    ):
        for command in (["dedupe", csv_file], ["match", csv_file, csv_file]):
            assert call(*command, "--on", "name", "--output", output) == 1
            assert message in capsys.readouterr().err
    assert older.read_text() == "older" and len(list(tmp_path.iterdir())) == 2


def test_answers_come_before_the_input_ends(csv_file):
    command = process("search", csv_file, "--on", "name", "--model", "none", "--k", 1)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment(), stdin=pipe, stdout=pipe, text=True) as child:
        for name in ("byrd", "doggedly"):
            child.stdin.write(f"{name}\n")
            child.stdin.flush()
            if name == "byrd":
                assert child.stdout.readline() == "query,row,score,text\n"
            assert child.stdout.readline().lower().startswith(f"{name},")
        child.stdin.close()
        assert child.wait(60) == 0


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&-"])
def test_closed_streams_end_quietly(csv_file, closed):
    command = shlex.join([*process("search", csv_file, "--on", "name", "--model", "none")])
    done = subprocess.run(
        ["bash", "-c", f"{command} {closed}"], env=environment(), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout, "Traceback" in done.stderr) == (0, "", False), done.stderr


def test_search_the_texts_of_a_run(trained, capsys):
    texts = (trained.folder / "texts.txt").read_text(encoding="utf-8").splitlines()
    embedder = TextReader.load(trained.folder)
    queries = [texts[0], "never seen"]
    assert call("search", trained.folder, *queries, "--k", 3, "--json") == 0
    for query, record in zip(queries, records(capsys.readouterr().out), strict=True):
        expected = embedder.neighbors(query, [text for text in texts if text != query], 3)
        assert record["query"] == query
        assert [hit["text"] for hit in record["hits"]] == [found.text for found in expected]
        cosines = [hit["score"] for hit in record["hits"]]
        np.testing.assert_allclose(cosines, [found.cosine for found in expected], atol=1e-5)


def test_queries_from_standard_input(model, tmp_path, piped, capsys):
    (tmp_path / "lines.txt").write_text("cat\ncats\n\ndog\n")
    piped(b"cat\r\n\n  \nbroken \xff\n")
    assert call("search", tmp_path / "lines.txt", "--model", model, "--json") == 0
    streams = capsys.readouterr()
    found = records(streams.out)
    assert [record["query"] for record in found] == ["cat", "broken \ufffd"]
    assert [hit["text"] for hit in found[0]["hits"][:2]] == ["cat", "cats"]
    assert "text>" not in streams.err
    piped(b"cat\nthe dog\r\n")
    assert call("search", "-", "dogs", "--model", "none", "--k", 1) == 0
    assert re.search(r"\ndogs,1,0\.\d+,the dog\n$", capsys.readouterr().out)


def test_search_errors(model, csv_file, tmp_path, capsys):
    (tmp_path / "blank").write_text("")
    (tmp_path / "folder").mkdir()
    cases = [
        ([csv_file, "--k", 0], "error: `k` must be at least 1. Received: k=0"),
        ([model, "--k", -1], "error: `k` must be at least 1. Received: k=-1"),
        ([csv_file, "--threshold", 2, "--model", "none"], "`threshold` must be in [0, 1]"),
        (["englsh"], "Unknown file, index or model 'englsh'. Did you mean 'english'? Available: "),
        ([tmp_path / "nothing.csv"], "Unknown file, index or model '"),
        ([tmp_path / "folder"], "folder is not a model folder: it has no config.json"),
        ([tmp_path / "blank"], "blank: no rows found"),
        ([model], f"has no texts.txt: name a file with `search FILE --model {model}`."),
        ([csv_file, "--save", csv_file], "rows.csv exists"),
        ([model, "--on", "name"], "--on is for a file: "),
    ]
    for arguments, message in cases:
        assert call("search", *arguments, "cat") == 1
        streams = capsys.readouterr()
        assert message in streams.err and not streams.out
