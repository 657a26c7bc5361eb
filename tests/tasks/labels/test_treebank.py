"""Readers of labelled texts: tables and trees of the Stanford Sentiment Treebank."""

from __future__ import annotations

import gzip
import io
import sys

import pytest

from tf_charagram.data._tables.lines import BadLines
from tf_charagram.errors import ConfigError, DataError
from tf_charagram.tasks import make_task
from tf_charagram.tasks.labels.settings import SupervisedConfig
from tf_charagram.tasks.labels.treebank import _constituents, read_labelled_texts, read_trees

TREE = "(3 (2 It) (4 (4 (2 's) (3 (2 a) (4 (3 lovely) (2 film)))) (2 .)))"
BAD = "(0 (1 (2 No) (1 fun)) (2 (2 -LRB-) (2 (2 at) (2 (2 all) (2 -RRB-)))))"
NEUTRAL = "(2 (2 A) (2 film\\/play))"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text(f"{TREE}\n\n{BAD}\n{NEUTRAL}\n{BAD}\n")
    return path


def test_sentences(path, tmp_path):
    good, bad = "It 's a lovely film .", "No fun ( at all )"
    assert read_trees(path) == [(good, "1"), (bad, "0"), (bad, "0")]
    fine = read_labelled_texts(path, fine_labels=True)
    assert (fine.name, fine.labels) == ("train", ["3", "0", "2", "0"])
    assert fine.sides[0] == [good, bad, "A film/play", bad]
    packed = tmp_path / "dev.txt.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_trees(packed) == read_trees(path)


def test_phrases(path, tmp_path):
    assert read_labelled_texts(path, phrases=True).sides[0] == [
        "It 's a lovely film .", "'s a lovely film .", "'s a lovely film", "a lovely film",
        "lovely film", "lovely", "No fun ( at all )", "No fun", "fun",
    ]  # fmt: skip
    fine = read_trees(path, phrases=True, fine_labels=True)
    assert len(set(fine)) == len(fine)
    assert ("( at all )", "2") in fine and ("film", "2") in fine
    (tmp_path / "x.txt").write_text("(1 (3 fun) (1 fun))\n")
    both = read_trees(tmp_path / "x.txt", phrases=True)
    assert both == [("fun fun", "0"), ("fun", "0"), ("fun", "1")]


def test_constituents():
    depth = 2_000
    found = _constituents("(3 (2 x) " * depth + "(4 y)" + ")" * depth)
    assert len(found) == 2 * depth + 1
    assert found[0] == (" ".join(["x"] * depth + ["y"]), "3")
    assert _constituents(TREE.replace(") (", ")(")) == _constituents(TREE)


@pytest.mark.parametrize(
    "line",
    [
        "(3 (2 It) (4 sings)", "(3 (2 It) (4 sings)) )", "(3 (2 It)) (2 a)", "(5 It)", "((2 It))",
        "(", "(3 (2 It) (4))", "3\tIt sings", ")", "(3It)",
    ],
)  # fmt: skip
def test_bad_trees(path, line):
    path.write_text(f"(3 good)\n{line}\n(1 bad)\n")
    with pytest.raises(DataError, match=r"train\.txt:2: expected a tree such as .*Correct the li"):
        read_trees(path)
    bad = BadLines("skip")
    assert (read_trees(path, on_bad_line=bad), bad.count) == ([("good", "1"), ("bad", "0")], 1)


def test_only_neutral_texts(path):
    path.write_text("(2 neutral)\n")
    with pytest.raises(DataError, match="no texts found: no bad lines"):
        read_trees(path)


def test_tables(path, tmp_path, monkeypatch):
    flat = tmp_path / "sst.binary.train.tsv"
    flat.write_text("1\tIt -lrb-\n0\tbad\n")
    found = read_labelled_texts(flat)
    assert (found.name, found.sides, found.labels) == (
        "sst.binary.train", (["It (", "bad"],), ["1", "0"],
    )  # fmt: skip
    stars = tmp_path / "x.csv"
    stars.write_text("id,body,stars\n1,good,5\n2,awful,1\n")
    found = read_labelled_texts(stars, columns=["body", "stars"])
    assert (found.sides, found.labels) == ((["good", "awful"],), ["5", "1"])
    with pytest.raises(DataError, match=r"train\.txt: expected a column 5"):
        read_labelled_texts(path, columns=["1", "5"])
    for option in ("phrases", "fine_labels"):
        with pytest.raises(ConfigError, match=r"are for trees. Received a table: .*train\.tsv"):
            read_labelled_texts(flat, **{option: True})
    stream = io.BufferedReader(io.BytesIO(b"1\tgood\n0\tbad\n"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
    assert read_labelled_texts("-").sides[0] == ["good", "bad"]


def test_the_setting_sst(path):
    """All phrases are for training only; the five labels are for all sets."""
    config = SupervisedConfig(task="sentiment", data=(str(path),), sst=("phrases", "fine"))
    task = make_task(config)
    trained_on = task.read_file(path, "train", "x")
    assert set(trained_on.labels) > {"0", "2", "3"}
    scored_on = task.read_file(path, "test", "x")
    assert scored_on.labels == ["3", "0", "2", "0"] and len(trained_on.labels) > 4
