"""`charagram label`."""

from __future__ import annotations

import pytest

from tests.commands import call
from tests.search.linkage.conftest import COLUMNS, people
from tf_charagram.data.tables import Table
from tf_charagram.search.linkage.asking import next_pair
from tf_charagram.search.linkage.linking import find_links, read_columns


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
    asked = set()
    for _ in range(3):
        pair = next_pair(links, asked)
        distances = abs(links.probabilities - 0.5)
        assert (distances < distances[pair] - 1e-5).sum() <= len(asked)
        asked.add(tuple(links.pairs[pair].tolist()))
    # Every fourth question is about a probable pair.
    assert links.probabilities[next_pair(links, asked)] >= 0.5
    assert next_pair(links, {tuple(pair) for pair in links.pairs.tolist()}) is None


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
    labels.write_text("a,b\n1,2\n")
    assert call(*arguments) == 1
    assert "must have the columns left,right,match" in capsys.readouterr().err
