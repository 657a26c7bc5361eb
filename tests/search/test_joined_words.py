"""Words that texts of a list join or split in different ways."""

from __future__ import annotations

import pytest

from tf_charagram.search._pairs.joined_words import respelled
from tf_charagram.search._pairs.word_lists import WordLists
from tf_charagram.search.statistics import TextStatistics


@pytest.mark.parametrize(("counted", "bag", "expected"), [
    (["walmart"], "wal mart", ["walmart"]),
    (["wal mart"], "walmart", ["wal", "mart"]),
    (["wal mart"], "wal mart", ["wal", "mart"]),
    (["walmart", "wal mart"], "a wal mart b", ["a", "walmart", "b"]),
    (["wal", "mart"], "walmart", ["walmart"]),
    (["i b m"], "ibm", ["i", "b", "m"]),
    (["ibm"], "i b m", ["ibm"]),
    (["kd55x9000"], "kd 55 x9000", ["kd55x9000"]),
    (["12"], "1 2", ["1", "2"]),
    ([], "wal mart", ["wal", "mart"]),
    (["cat"], "", []),
    (["walmart", "wal", "mart x"], "mart wal mart", ["mart", "walmart"]),
    (["a b", "bc"], "abc", ["abc"]),
    (["caf\u00e9 noir"], "caf\u00e9noir", ["caf\u00e9", "noir"]),
    (["wal", "mart", "i wal", "mart x"], "walmart", ["walmart"]),
])  # fmt: skip
def test_respelled(counted, bag, expected):
    statistics = TextStatistics.of_words(WordLists.of_bags([text.split() for text in counted]))
    found = respelled(WordLists.of_bags([["x"], bag.split()]), statistics)
    assert found.strings([0, 1]) == [["x"], expected]
