"""Readers of pairs with labels or scores: formats they recognize, and errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tf_charagram.data._tables.columns import read_labelled, read_scored_pairs
from tf_charagram.data._tables.lines import BadLines
from tf_charagram.data.readers.sts import read_sts
from tf_charagram.errors import DataError

OFFICIAL = (
    "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    "1\ta dog runs\ta dog\t4.5\tENTAILMENT\n2\ta cat\ta bird\t1\tNEUTRAL\n"
)
PLAIN = "4.5\ta dog runs\ta dog\tENTAILMENT\n1\ta cat\ta bird\tNEUTRAL\n"


# Name of the files of `write`.
FILE_NAME = "x.tsv"


@pytest.mark.parametrize(
    ("content", "name"), [(OFFICIAL, "SICK_test_annotated.txt"), (PLAIN, "SICK.test.tsv")]
)
def test_sick(write, content, name):
    path = write(content, name)
    labelled, scored = read_labelled(path, 2), read_scored_pairs(path)
    assert labelled.sides == (scored.left, scored.right)
    assert labelled.sides == (["a dog runs", "a cat"], ["a dog", "a bird"])
    assert labelled.labels == ["ENTAILMENT", "NEUTRAL"]
    np.testing.assert_array_equal(scored.scores, [4.5, 1])
    assert scored.metric == "pearson"
    assert labelled.name == scored.name == Path(name).stem
    # The reader of the evaluation finds the same.
    np.testing.assert_array_equal(read_sts(path).scores, scored.scores)


def test_columns(write):
    columns = ["2", "1", "3"]
    path = write("a\tb\tYES\nc\td\tNO\n")
    assert read_labelled(path, 2, columns=columns, header=False).sides[0] == ["b", "d"]
    scored = read_scored_pairs(write("a\tb\t2\nc\td\t7,5\n"), 1, 8, columns=columns)
    assert scored.scores.tolist() == [2, 7.5]
    with pytest.raises(DataError, match=r"column 4\.5 should hold texts, but it holds numbers"):
        read_scored_pairs(write(PLAIN), columns=["1", "3", "2"])


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("3.1", "expected a score from 1 to 3, found '3.1'"),
        ("nan", "expected a finite number as score, found 'nan'"),
        ("", "expected a label in column 1, but it is empty"),
    ],
)
def test_bad_scores(write, cell, message):
    path = write(f"1\ta\tb\n{cell}\tc\td\n3\te\tf\n")
    with pytest.raises(DataError, match=rf"x\.tsv:2: {message}"):
        read_scored_pairs(path, 1, 3)
    bad = BadLines("skip")
    assert read_scored_pairs(path, 1, 3, on_bad_line=bad).left == ["a", "e"]
    assert bad.count == 1
