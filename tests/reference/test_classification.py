"""Checks accuracy, F1 and confusion against counts made by hand."""

import pytest

from . import classification

GOLD, PREDICTED = "aaabc", "aabbb"


def test_shares_by_hand():
    """3 of 5 are right. Both predicted a are, of three: F1 = 2 (1) (2/3) / (1 + 2/3) = 4/5.

    One of three predicted b is, the only one: F1 = 2 (1/3) (1) / (1/3 + 1) = 1/2. No c is
    predicted, so its F1 is 0, and d is nowhere. Macro F1: (4/5 + 1/2 + 0) / 3 = 13/30.
    """
    assert classification.accuracy(GOLD, PREDICTED) == 3 / 5
    for label, precision, recall, f1 in (
        ("a", 1.0, 2 / 3, 4 / 5),
        ("b", 1 / 3, 1.0, 1 / 2),
        ("c", None, 0.0, 0.0),
        ("d", None, None, None),
    ):
        assert classification.precision(GOLD, PREDICTED, label) == precision
        assert classification.recall(GOLD, PREDICTED, label) == recall
        assert classification.f1(GOLD, PREDICTED, label) == (f1 and pytest.approx(f1))
    assert classification.macro_f1(GOLD, PREDICTED) == pytest.approx(13 / 30)


def test_confusion_by_hand():
    """Rows are what is right: of three a one is taken for b, and so is the only c."""
    found = classification.confusion(GOLD, PREDICTED, "abc")
    assert found == [[2, 1, 0], [0, 1, 0], [0, 1, 0]]


def test_written_out():
    assert classification.written_out("xyz", [2, 0, 1]) == ["x", "x", "z"]
