"""`read_sick` and `find_sick` on official and plain files."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from tf_charagram.data.readers.lines import BadLines
from tf_charagram.data.readers.sick import find_sick, read_sick
from tf_charagram.errors import DataError

WHOLE = (
    "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tentailment_AB\t"
    "entailment_BA\tsentence_A_original\tsentence_B_original\tsentence_A_dataset\t"
    "sentence_B_dataset\tSemEval_set\n"
)
SPLIT = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
ROWS = "".join(
    f"1\t{split} {i}\tb\tNEUTRAL\t{i}\tx\tx\to\to\tFLICKR\tFLICKR\t{split}\n"
    for i in (1, 5)
    for split in ("TRAIN", "TRIAL", "TEST")
)


@pytest.fixture
def write(tmp_path):
    def write(content, name="SICK.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize("name", ["SICK.train", "SICK.trial", "SICK.test", None])
def test_whole_file(write, name):
    pairs = read_sick(write(WHOLE + ROWS), name=name)
    split = (name or "SICK.test").partition(".")[2]
    assert (pairs.name, pairs.metric, pairs.group) == (f"SICK.{split}", "pearson", None)
    assert pairs.left == [f"{split.upper()} 1", f"{split.upper()} 5"]
    np.testing.assert_array_equal(pairs.scores, [1, 5])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("SICK_test_annotated.txt", "SICK.test"),
        ("SICK_trial.txt", "SICK.trial"),
        ("SICK_train.txt.gz", "SICK.train"),
    ],
)
def test_one_file_per_split(write, name, expected):
    raw = f"\ufeff{SPLIT}1\ta\tb\t4.5\tNEUTRAL\n\n2\tc\td\t1\tENTAILMENT\n".replace("\n", "\r\n")
    raw = raw.encode()
    pairs = read_sick(write(gzip.compress(raw) if name.endswith(".gz") else raw, name))
    assert (pairs.name, pairs.left, pairs.right) == (expected, ["a", "c"], ["b", "d"])
    np.testing.assert_array_equal(pairs.scores, [4.5, 1])


@pytest.mark.parametrize("label", ["", "\tNEUTRAL"])
def test_plain(write, label):
    path = write(f"3.3\ta\xff\tb{label}\n3.7\tc\td{label}\n".encode("latin-1"), "SICK.trial.tsv")
    pairs = read_sick(path)
    assert (pairs.name, pairs.left, pairs.right) == ("SICK.trial", ["a\ufffd", "c"], ["b", "d"])


def test_names(write):
    path = write("3.3\ta\tb\n3.7\tc\td\n", "mine.tsv")
    assert read_sick(path).name == "mine"
    assert read_sick(path, name="x").name == "x"


def test_bad_lines(write):
    good = "1\ta\tb\t3\tx\n"
    path = write(f"{SPLIT}{good}1\ta\tb\t6\tx\n{good}", "SICK_test.txt")
    with pytest.raises(DataError, match=r"test\.txt:3: expected a score from 1 to 5, found '6'"):
        read_sick(path)
    bad = BadLines("skip")
    assert (len(read_sick(path, on_bad_line=bad)), bad.count) == (2, 1)


def test_find(write, tmp_path):
    trial = write(SPLIT, "SICK_trial.txt")
    write(SPLIT, "SICK_train.txt")
    assert find_sick(tmp_path) == {"SICK.trial": trial}
    write("pair_ID\tsentence_A\tsentence_B\n", "SICK_test.txt")
    test = write(SPLIT, "SICK_test_annotated.txt")
    assert find_sick(tmp_path) == {"SICK.trial": trial, "SICK.test": test}
    whole = write(WHOLE)
    assert find_sick(tmp_path) == {"SICK.trial": whole, "SICK.test": whole}
