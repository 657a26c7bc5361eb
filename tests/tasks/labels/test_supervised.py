"""Labels that cannot be learned or predicted, and tables of predicted labels."""

from __future__ import annotations

import pytest

from tf_charagram.data._tables.columns import Labelled
from tf_charagram.errors import DataError
from tf_charagram.evaluation.classification import score_labels
from tf_charagram.tasks._shared.labelled import _named_sets
from tf_charagram.tasks.labels._heads.relatedness import relatedness_table, score_relatedness
from tf_charagram.tasks.labels.supervised import (
    _check_known_labels,
    _classification_table,
    _label_table,
)


@pytest.mark.parametrize(
    ("eval_data", "data", "expected"),
    [
        ((), ("starter",), ["starter.dev", "starter.test"]),
        (("x.tsv",), ("starter",), ["x"]),
        (("dev.conllu",), ("train.conllu",), ["dev"]),
        ((), ("x.tsv",), []),
        ((), ("starter", "x.tsv"), []),
        (("starter", "a/x.tsv", "b/x.tsv"), (),
         ["starter.dev", "starter.test", "a/x.tsv", "b/x.tsv"]),
    ],
)  # fmt: skip
def test_named_sets(eval_data, data, expected):
    assert [name for name, _, _ in _named_sets(eval_data, data)] == expected


def test_check_known_labels():
    def check(labels, known):
        _check_known_labels(Labelled("dev.tsv", (), labels), known)

    check(["a"], ["a", "b"])
    with pytest.raises(DataError, match=r"dev\.tsv: .* \('a', 'b'\), found also 'c', 'd'\. Check"):
        check(["d", "a", "c", "d"], ["a", "b"])
    with pytest.raises(DataError, match=r"'7', '8', \.\.\.\. Check"):
        check([*"4567890ac"], [*"4b"])


def cells(table):
    """Returns the cells of a table, row by row."""
    return [list(row) for row in zip(*(column.cells for column in table.columns), strict=True)]


def test_relatedness_table():
    gold = [1.0, 2.0, 4.0, 5.0] * 300
    good = score_relatedness(gold, [1.5, 2.5, 3.5, 5.0] * 300, num_resamples=50)
    constant = score_relatedness(gold[:4], [3.0] * 4, num_resamples=0)
    first, second = cells(relatedness_table([("[test]", good), ("flat", constant)]))
    assert first[:3] == [r"\[test]", "1,200", f"{good.metrics['pearson']:.2f}"]
    assert first[6] == "0.1875" and first[7].startswith("0.1") and " to 0." in first[7]
    assert second == ["flat", "4", "-", "-", "-", "-", "2.5000", "-"]


def test_classification_table():
    score = score_labels(["a", "a", "a", "b"], ["a", "a", "b", "b"], ["a", "b"], num_resamples=0)
    resampled = score_labels(["a"] * 9, ["a"] * 9, ["a", "b"], num_resamples=9)
    first, second = cells(_classification_table([("dev", score), ("x", resampled)]))
    assert first == ["dev", "4", "75.00", "-", "73.33", "-"]
    assert second[3] == "100.00 to 100.00"


def test_label_table():
    gold, predicted = ["[a]", "[a]", "[a]", "b"], ["[a]", "[a]", "b", "b"]
    table = _label_table(score_labels(gold, predicted, ["[a]", "b", "c"], num_resamples=0), "x")
    assert [column.header for column in table.columns[-2:]] == ["-> b", "-> c"]
    first, _, last = cells(table)
    assert first == [r"\[a]", "3", "100.00", "66.67", "80.00", "2", "1", "0"]
    assert last == ["c", "0", "-", "-", "-", "0", "0", "0"]
