"""`charagram label`."""

from __future__ import annotations

import pytest

from tests.commands import call
from tests.search.linkage.conftest import COLUMNS, people
from tf_charagram.data._tables.tables import Table
from tf_charagram.search.linkage._columns.columns import read_columns
from tf_charagram.search.linkage._fellegi_sunter.asking import next_pair
from tf_charagram.search.linkage._fellegi_sunter.finding import find_links


@pytest.fixture
def files(tmp_path):
    left, right, _ = people(0)
    paths = [tmp_path / "left.csv", tmp_path / "right.csv"]
    for path, table in zip(paths, (left, right), strict=True):
        Table(list(table), [list(map(str, cells)) for cells in table.values()]).write(path)
    return paths


def test_uncertain_pairs_come_first():
    left, right, _ = people(0)
    links = find_links(read_columns(left, right, COLUMNS))
    # Skipped pairs have no answer.
    asked = {}
    for _ in range(3):
        pair = next_pair(links, asked)
        distances = abs(links.probabilities - 0.5)
        assert (distances < distances[pair] - 1e-5).sum() <= len(asked)
        asked[tuple(links.pairs[pair].tolist())] = -1
    # Every fourth question is about a probable pair.
    assert links.probabilities[next_pair(links, asked)] >= 0.5
    assert next_pair(links, dict.fromkeys(map(tuple, links.pairs.tolist()), -1)) is None


def test_label_can_be_stopped_and_resumed(files, tmp_path, piped, capsys):
    labels = tmp_path / "labels.csv"
    arguments = ["label", *files, "--on", ",".join(COLUMNS), "--labels", labels]
    piped(b"y\nwhat\nn\ns\nq\n")
    assert call(*arguments) == 0
    err = capsys.readouterr().err
    assert "columns: first:" in err and "same? y(es), n(o)" in err and "2 labels in" in err
    lines = labels.read_text().splitlines()
    assert lines[0] == "left,right,match" and [line[-1] for line in lines[1:]] == ["1", "0"]
    # The end of the input is also an end.
    piped(b"y\n" * 7 + b"n\n" * 7)
    assert call(*arguments) == 0
    assert "16 labels in" in capsys.readouterr().err
    resumed = labels.read_text().splitlines()
    assert resumed[:3] == lines
    pairs = [tuple(line.split(",")[:2]) for line in resumed[1:]]
    assert len(set(pairs)) == len(pairs)
    output = tmp_path / "out.csv"
    on = ["--on", ",".join(COLUMNS), "--model", "none", "--output", output]
    assert call("match", *files, *on, "--labels", labels) == 0


@pytest.fixture
def label(files, tmp_path, piped, capsys):
    """Returns a function that answers a question above some labels; gives status and error."""

    def run(content, *others):
        labels = tmp_path / "labels.csv"
        labels.write_bytes(content)
        piped(b"y\nq\n")
        status = call("label", *(others or files), "--on", ",".join(COLUMNS), "--labels", labels)
        return status, capsys.readouterr().err, labels.read_bytes()

    return run


HEADER = b"left,right,match\n"


@pytest.mark.parametrize(
    ("content", "before"),
    [
        (HEADER + b"126,35,1", HEADER + b"126,35,1\n"),
        (HEADER.strip(), HEADER),
        (b"", HEADER),
        (b"\xef\xbb\xbf" + HEADER + b"126,35,1\r\n",) * 2,
        (HEADER + b"126,35,1\n126,35,1\n",) * 2,
    ],
    ids=["no_end", "header_only", "empty", "excel", "twice"],
)
def test_an_answer_is_a_line_of_its_own(label, content, before):
    status, error, after = label(content)
    assert status == 0, error
    assert after.startswith(before) and after.count(b"\n") == before.count(b"\n") + 1
    assert after.endswith(b",1\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"a,b\n1,2\n",
            "labels.csv:1: expected left,right,match with row numbers from 0 and 1 or 0",
        ),
        (HEADER + b"1,2,126,35,1\n", "labels.csv:2: expected left,right,match"),
        (HEADER + b"1,2,3\n", "found 1,2,3"),
        (HEADER + b"1,9999,1\n", "`labels` must name rows of the right table, from 0 to"),
        (HEADER + b"3,4,1\n3,4,0\n", "must not contradict each other. Received: 1 and 0 for"),
    ],
)
def test_wrong_labels(label, content, message):
    status, error, after = label(content)
    assert status == 1 and message in error and after == content


def test_labels_of_one_table(files, label):
    for content, message in (
        (b"4,4,1\n", "must pair different rows. Received: row 4 twice"),
        (b"3,4,1\n4,3,0\n", "must not contradict each other"),
    ):
        status, error, _ = label(HEADER + content, files[0])
        assert status == 1 and message in error


def test_keys(tmp_path, capsys):
    table = tmp_path / "x.csv"
    table.write_text("key,name,city\nk,Ann,Rome\nk,Bob,Oslo\nl,Eve,Bern\n")
    labels = tmp_path / "labels.csv"
    arguments = ["dedupe", table, "--on", "name,city", "--labels", labels, "--key", "key"]
    for content, message in (
        ("k,l,1", "Received: 'k', which is in 2 rows"),
        ("l,m,1", "Received: 'm', which is in no row\n"),
    ):
        labels.write_text(f"left,right,match\n{content}\n")
        assert call(*arguments) == 1
        assert message in capsys.readouterr().err


def test_columns_that_identify_are_named(files, tmp_path, piped, capsys):
    arguments = ["label", *files, "--on", ",".join(COLUMNS), "--labels", tmp_path / "labels.csv"]
    piped(b"q\n")
    assert call(*arguments, "--identifies", COLUMNS[0]) == 0
    assert f"identify: {COLUMNS[0]};" in capsys.readouterr().err
    piped(b"q\n")
    assert call(*arguments, "--on-right", ",".join(COLUMNS), "--identifies", "nosuch") == 1
    assert "nosuch" in capsys.readouterr().err
