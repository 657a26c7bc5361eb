"""What the tables of predicted labels and scores say."""

from __future__ import annotations

import io

from rich.console import Console

from tf_charagram.evaluation.classification import score_labels
from tf_charagram.tasks.pairs.scores import score_relatedness
from tf_charagram.tasks.supervised_tables import (
    classification_table,
    label_table,
    relatedness_table,
)


def lines(table):
    console = Console(file=io.StringIO(), width=200)
    console.print(table)
    return console.file.getvalue().splitlines()


def row(table, name):
    (found,) = [line for line in lines(table) if line.startswith(f"│ {name} ")]
    return [cell.strip() for cell in found.strip("│").split("│")]


def test_relatedness():
    gold = [1.0, 2.0, 4.0, 5.0] * 300
    good = score_relatedness(gold, [1.5, 2.5, 3.5, 5.0] * 300, num_resamples=50)
    constant = score_relatedness(gold[:4], [3.0] * 4, num_resamples=0)
    table = relatedness_table([("[test]", good), ("flat", constant)])
    cells = row(table, "[test]")
    assert cells[:3] == ["[test]", "1,200", f"{good.pearson:.2f}"]
    assert cells[6] == "0.1875" and cells[7].startswith("0.1") and " to 0." in cells[7]
    assert row(table, "flat") == ["flat", "4", "-", "-", "-", "-", "2.5000", "-"]
    assert any("squared units of the scale" in line for line in lines(table))


def test_classification():
    score = score_labels(["a", "a", "a", "b"], ["a", "a", "b", "b"], ["a", "b"], num_resamples=0)
    table = classification_table([("dev", score)])
    assert row(table, "dev") == ["dev", "4", "75.00", "-", "73.33", "-"]
    resampled = score_labels(["a"] * 9, ["a"] * 9, ["a", "b"], num_resamples=9)
    assert row(classification_table([("x", resampled)]), "x")[3] == "100.00 to 100.00"


def test_labels():
    gold, predicted = ["[a]", "[a]", "[a]", "b"], ["[a]", "[a]", "b", "b"]
    table = label_table(score_labels(gold, predicted, ["[a]", "b", "c"], num_resamples=0))
    header = next(line for line in lines(table) if "precision" in line)
    assert [cell.strip() for cell in header.strip("┃").split("┃")][-3:] == [
        "-> [a]",
        "-> b",
        "-> c",
    ]
    assert row(table, "[a]") == ["[a]", "3", "100.00", "66.67", "80.00", "2", "1", "0"]
    assert row(table, "c") == ["c", "0", "-", "-", "-", "0", "0", "0"]
