"""`charagram search`, `match` and `dedupe`."""

from __future__ import annotations

import csv
import json
import os
from itertools import pairwise

import numpy as np
import pytest

from tests.commands import call
from tests.search.conftest import WORDS
from tests.texts import words
from tf_charagram.data.tables import Table
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.search import deduplicate, match

COLUMNS = ["id", "name", "city"]
ROWS = [
    ["1", "Horse & Sons", "Rome"], ["2", "Doggedly; Ltd", "Oslo"], ["3", "HORSE & SONS", "Rome"],
    ["4", "Horse & Sons", "Bern"], ["5", "Byrd", ""], ["6", "", "Oslo"],
]  # fmt: skip
NAMES = [row[1] for row in ROWS]


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
    Table(COLUMNS, ROWS).write(path)
    return path, tmp_path / f"out{path.suffix}"


@pytest.fixture
def csv_file(tmp_path):
    path = tmp_path / "rows.csv"
    Table(COLUMNS, ROWS).write(path)
    return path


def cells(path, column):
    table = Table.read(path, [column])
    return [
        None if row[table.index(column)] in ("", None) else str(row[table.index(column)])
        for row in table.rows
    ]


def test_dedupe(table, capsys):
    source, output = table
    arguments = [source, "--on", "name", "--model", "none", "--output", output]
    assert call("dedupe", *arguments) == 0
    err = capsys.readouterr().err
    written = Table.read(output)
    assert written.columns == [*COLUMNS, "group", "kept", "score"]
    assert [[str(cell or "") for cell in row[:3]] for row in written.rows] == ROWS
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
    assert "4 of 6 rows kept, groups of duplicates: 1, threshold 0.70\n" in err
    assert call("dedupe", *arguments, "--drop", "--threshold", 1) == 0
    assert Table.read(output).columns == COLUMNS
    assert cells(output, "id") == ["1", "2", "5", "6"]


def test_dedupe_on_two_columns(csv_file, capsys):
    assert call("dedupe", csv_file, "--on", "name,3", "--model", "none", "--drop") == 0
    out = capsys.readouterr().out
    assert list(csv.reader(out.splitlines())) == [COLUMNS, *(ROWS[row] for row in (0, 1, 3, 4, 5))]


def test_match(table, csv_file, capsys):
    left, output = table
    arguments = ["match", left, csv_file, "--on", "name", "--model", "none", "--output", output]
    assert call(*arguments, "--threshold", 0.9) == 0
    err = capsys.readouterr().err
    written = Table.read(output)
    assert written.columns == [*COLUMNS, "score", *(f"{name}_2" for name in COLUMNS)]
    assert [[str(cell or "") for cell in row[:3]] for row in written.rows] == ROWS
    assert cells(output, "id_2") == ["1", "2", "3", "1", "5", None]
    assert "5 of 6 rows matched, threshold 0.90\n" in err and "score 0.95" in err
    assert call(*arguments, "--one-to-one", "--threshold", 0.9) == 0
    assert cells(output, "id_2") == ["1", "2", "3", "4", "5", None]


def test_other_columns_of_the_right_table_and_vectors(model, csv_file, tmp_path, capsys):
    right = tmp_path / "right.jsonl"
    right.write_text('{"firm": "byrd"}\n{"firm": "horse & sons"}\n{"firm": null}\n')
    output = tmp_path / "out.jsonl"
    for flags, options in (([], {}), (["--vectors-only"], {"lexical": False})):
        columns = ["--on", "name", "--on-right", "firm", "--model", model, "--output", output]
        assert call("match", csv_file, right, *columns, *flags) == 0
        expected = match(NAMES, ["byrd", "horse & sons", ""], model, **options).pairs
        found = [json.loads(line) for line in output.read_text().splitlines()]
        assert [row["firm"] for row in found] == ["horse & sons"] * 4 + ["byrd"] + [None] or flags
        assert {row["score"] for row in found} - {None} == {round(p.score, 4) for p in expected}


@pytest.fixture
def labels(tmp_path):
    path = tmp_path / "labels.tsv"
    names = words(30)
    lines = [f"{word} {other}\t{word}s {other}\t1\n" for word, other in pairwise(names)]
    lines += [f"{word} x\t{other} x\t0\n" for word, other in pairwise(names)]
    path.write_text("".join(lines))
    return path


def test_labels(csv_file, labels, tmp_path, capsys):
    arguments = ["--on", "name", "--model", "none", "--labels", labels]
    rows = [line.split("\t") for line in labels.read_text().splitlines()]
    pairs = [(left, right, int(label)) for left, right, label in rows]
    threshold = deduplicate(NAMES, None, labels=pairs).threshold
    for command, files in (("dedupe", [csv_file]), ("match", [csv_file, csv_file])):
        assert call(command, *files, *arguments) == 0
        err = capsys.readouterr().err
        assert "learned from labels: threshold 0." in err and "(on held-out labels)" in err
        assert command == "match" or f"threshold {threshold:.2f}, precision" in err
    for content, message in (
        ("a\tb\t1\na\tc\t1\nb\tc\t1\n", "`labels` must be 1 or 0 for each pair, both at least"),
        (
            "left\tright\tlabel\na\tc\tyes\n",
            "expected 0 or 1 in column label, for",
        ),
        ("this\tthat\nb\tc\n", "left, right, label."),
    ):
        labels.write_text(content)
        assert call("dedupe", csv_file, *arguments) == 1
        assert message in capsys.readouterr().err


def test_table_errors(csv_file, tmp_path, capsys):
    other = tmp_path / "other.csv"
    other.write_text("key,value\n1,a\n2,b\n")
    cases = [
        (["dedupe", csv_file, "--on", "nam"], "Did you mean 'name'? Available: city, id, name."),
        (["match", csv_file, other, "--on", "name"], "other.csv: Unknown column 'name'."),
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
    assert call("search", index, "catt", "--model", model, "--min-score", 0.9999) == 0
    assert capsys.readouterr().out == "catt\n"
    assert call("search", index, "catt") == 1
    assert "was built with another model than english. Give that" in capsys.readouterr().err
    assert call("search", file, "catt", "--save", index) == 1
    assert "index exists" in capsys.readouterr().err


def test_search_a_table(csv_file, capsys):
    arguments = ["--on", "name,city", "--model", "none", "--k", 1]
    assert call("search", csv_file, "hors and sons bern", *arguments) == 0
    query, hit = capsys.readouterr().out.splitlines()
    assert query == "hors and sons bern" and hit.endswith("  Horse & Sons Bern")


def test_search_the_texts_of_a_run(trained, capsys):
    texts = (trained.folder / "texts.txt").read_text(encoding="utf-8").splitlines()
    embedder = TextEmbedder.load(trained.folder)
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
    piped(b'id,text\n1,cat\n2,"the\r\ndog"\n')
    assert call("search", "-", "dogs", "--model", "none", "--k", 1) == 0
    assert capsys.readouterr().out.endswith("  the dog\n")


def test_search_errors(model, csv_file, tmp_path, capsys):
    (tmp_path / "blank").write_text(" \n")
    (tmp_path / "folder").mkdir()
    cases = [
        ([csv_file, "--k", 0], "error: `k` must be at least 1. Received: k=0"),
        ([model, "--k", -1], "error: `k` must be at least 1. Received: k=-1"),
        ([csv_file, "--min-score", 2, "--model", "none"], "`min_score` must be in [0, 1]"),
        (["englsh"], "Unknown file, index or model 'englsh'. Did you mean 'english'? Available: "),
        ([tmp_path / "nothing.csv"], "Unknown file, index or model '"),
        ([tmp_path / "folder"], "folder is not a model folder: it has no config.json"),
        ([tmp_path / "blank"], "blank: no rows found"),
        ([model], f"has no texts.txt: name a file with `search FILE --model {model}`."),
        ([csv_file, "--save", csv_file], "rows.csv exists"),
        ([model, "--on", "name"], "--on and --vectors-only are for a file."),
    ]
    for arguments, message in cases:
        assert call("search", *arguments, "cat") == 1
        streams = capsys.readouterr()
        assert message in streams.err and not streams.out
