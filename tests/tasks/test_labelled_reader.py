"""The entry points of the supervised tasks: what they recognise, and what they refuse."""

from __future__ import annotations

import io
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.readers.sick import read_sick
from tf_charagram.errors import ConfigError, DataError
from tf_charagram.tasks.labelled_reader import (
    check_classes,
    check_known_labels,
    read_labelled_pairs,
    read_labelled_texts,
    read_scored_pairs,
)

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
OFFICIAL = (
    "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    "1\ta dog runs\ta dog\t4.5\tENTAILMENT\n2\ta cat\ta bird\t1\tNEUTRAL\n"
)
PLAIN = "4.5\ta dog runs\ta dog\tENTAILMENT\n1\ta cat\ta bird\tNEUTRAL\n"


@pytest.fixture
def write(tmp_path):
    def write(content, name="x.tsv"):
        path = tmp_path / name
        path.write_text(content)
        return path

    return write


@pytest.mark.parametrize(
    ("content", "name"), [(OFFICIAL, "SICK_test_annotated.txt"), (PLAIN, "SICK.test.tsv")]
)
def test_sick(write, content, name):
    path = write(content, name)
    labelled, scored = read_labelled_pairs(path), read_scored_pairs(path)
    assert labelled.left == scored.left == ["a dog runs", "a cat"]
    assert labelled.right == scored.right == ["a dog", "a bird"]
    assert labelled.labels == ["ENTAILMENT", "NEUTRAL"]
    np.testing.assert_array_equal(scored.scores, [4.5, 1])
    assert scored.metric == "pearson"
    assert labelled.name == scored.name == Path(name).stem
    assert len(labelled) == len(scored) == 2
    # The reader of the evaluation finds the same.
    np.testing.assert_array_equal(read_sick(path).scores, scored.scores)


def test_one_split_of_sick(write):
    header = "sentence_A\tsentence_B\tentailment_label\trelatedness_score\tSemEval_set\n"
    path = write(
        f"{header}a\tb\tYES\t2\tTRAIN\nc\td\tNO\t3\tTEST\ne\tf\tNO\t4\tTRAIN\n", "SICK.txt"
    )
    assert read_labelled_pairs(path, split="train").labels == ["YES", "NO"]
    scored = read_scored_pairs(path, split="train")
    assert (scored.name, scored.left) == ("SICK", ["a", "e"])


def test_trees_and_flat_files(write):
    trees = write("(4 (2 It) (4 -LRB-))\n(1 bad)\n(2 so)\n", "train.txt")
    flat = write("1\tIt -lrb-\n0\tbad\n", "sst.binary.train.tsv")
    found = [read_labelled_texts(path) for path in (trees, flat)]
    assert found[0].texts == found[1].texts == ["It (", "bad"]
    assert found[0].labels == found[1].labels == ["1", "0"]
    assert [texts.name for texts in found] == ["train", "sst.binary.train"]
    assert read_labelled_texts(trees, fine_labels=True, name="a").labels == ["4", "1", "2"]
    assert len(read_labelled_texts(trees, phrases=True)) == 3
    # Who names a column means a table.
    with pytest.raises(DataError, match=r"train\.txt:1: expected a column"):
        read_labelled_texts(trees, label_column="5")
    for option in ("phrases", "fine_labels"):
        with pytest.raises(ConfigError, match=r"are for trees; .*\. Received: .*train\.tsv"):
            read_labelled_texts(flat, **{option: True})


def test_columns(write):
    path = write("id,body,stars\n1,good,5\n2,awful,1\n", "x.csv")
    found = read_labelled_texts(path, text_columns=["body"], label_column="stars")
    assert (found.texts, found.labels) == (["good", "awful"], ["5", "1"])
    path = write("a\tb\tYES\nc\td\tNO\n")
    columns = {"text_columns": ["1", "0"], "label_column": "2", "header": False}
    assert read_labelled_pairs(path, **columns).left == ["b", "d"]
    path = write("a\tb\t2\nc\td\t7\n")
    columns = {"text_columns": ["0", "1"], "label_column": "2", "header": False}
    assert read_scored_pairs(path, num_classes=7, **columns).scores.tolist() == [2, 7]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("0.5", "expected a score from 1 to 3, found '0.5'"),
        ("3.1", "expected a score from 1 to 3, found '3.1'"),
        ("high", "expected a finite number as score, found 'high'"),
        ("nan", "expected a finite number as score, found 'nan'"),
        ("", "expected a label in column 0, but it is empty"),
    ],
)
def test_bad_scores(write, cell, message):
    path = write(f"1\ta\tb\n{cell}\tc\td\n3\te\tf\n")
    with pytest.raises(DataError, match=rf"x\.tsv:2: {message}"):
        read_scored_pairs(path, num_classes=3)
    bad = BadLines("skip")
    assert read_scored_pairs(path, num_classes=3, on_bad_line=bad).left == ["a", "e"]
    assert bad.count == 1


def test_an_empty_premise(write):
    path = write("YES\ta\tb\nNO\t \td\n")
    with pytest.raises(DataError, match=r"x\.tsv:2: expected a text in column 1, but it is empty"):
        read_labelled_pairs(path)
    assert len(read_labelled_pairs(path, on_bad_line="skip")) == 1


def test_standard_input(monkeypatch):
    stream = io.BufferedReader(io.BytesIO(b"1\tgood\n0\tbad\n"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
    assert read_labelled_texts("-").texts == ["good", "bad"]


def test_one_class_of_scores(write):
    with pytest.raises(ConfigError, match=r"must be at least 2\. Received: num_classes=1"):
        read_scored_pairs(write(PLAIN), num_classes=1)


def test_swapped_columns(write):
    with pytest.raises(DataError, match="column 0 should hold texts, but it holds numbers"):
        read_scored_pairs(write(PLAIN), text_columns=["0", "2"], label_column="1")


def test_check_classes():
    assert check_classes(["b", "a", "b"], "train.tsv") == ("a", "b")
    with pytest.raises(DataError, match=r"train\.tsv: expected at least 2 different .* only 'a'"):
        check_classes(["a", "a"], "train.tsv")
    with pytest.raises(DataError, match="found none"):
        check_classes([], "train.tsv")


def test_check_known_labels():
    check_known_labels(["a"], ["a", "b"], "dev.tsv")
    with pytest.raises(DataError, match=r"dev\.tsv: .* \('a', 'b'\), found also 'c', 'd'\. Check"):
        check_known_labels(["d", "a", "c", "d"], ["b", "a"], "dev.tsv")
    with pytest.raises(DataError, match="'7', '8', and 3 more"):
        check_known_labels("4567890ac", "b4", "dev.tsv")


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared/data")
def test_real_files():
    sick = read_labelled_pairs(SHARED / "sts" / "SICK.test.tsv")
    counts = {"NEUTRAL": 2793, "ENTAILMENT": 1414, "CONTRADICTION": 720}
    assert Counter(sick.labels) == counts
    assert len(read_scored_pairs(SHARED / "sts" / "SICK.train.tsv")) == 4500
    assert Counter(read_labelled_texts(SHARED / "sst" / "sst.binary.test.tsv").labels) == {
        "0": 912,
        "1": 909,
    }
    fine = read_labelled_texts(SHARED / "sst" / "sst.fine.train.tsv")
    assert check_classes(fine.labels, fine.name) == ("0", "1", "2", "3", "4")
    assert not any("-lrb-" in text for text in fine.texts)


def test_another_scale(tmp_path):
    """Left out as bad lines, the pairs that are least alike would be gone."""
    path = tmp_path / "sts.tsv"
    path.write_text("".join(f"{i / 10}\ta cat {i}\tcats {i}\n" for i in range(51)))
    message = r"10 of 51 scores are not from 1 to 5: give the highest with --num-classes, and add"
    with pytest.raises(DataError, match=message):
        read_scored_pairs(path, on_bad_line="skip")
