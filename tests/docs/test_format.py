"""The page about model folders has the numbers of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tf_charagram.models._storage.locations import FILES, FORMAT_VERSION
from tf_charagram.text._algorithm import hashing
from tf_charagram.text._spelling import patterns
from tf_charagram.text._spelling.word_filter import BASE

PAGE = Path(__file__).parents[2] / "docs" / "format.md"


@pytest.fixture(scope="module")
def page():
    return PAGE.read_text(encoding="utf-8")


def test_hashes(page):
    expected = {int(hashing.MULTIPLIER), hashing.ROW_STEP, BASE}
    expected |= {int(multiplier) for _, multiplier in hashing._FINALIZERS}
    found = {int(digits, 16) for digits in re.findall(r"0x([0-9A-F]{16})", page)}
    assert found == expected


def test_weights_of_errors(page):
    rows = dict(re.findall(r"^\| (.*\w.*) \| ([-\d.; ]+)(?: more)? \|$", page, re.MULTILINE))
    assert rows["a wrong letter"] == f"{patterns.WRONG:g}"
    assert rows["a missing letter"] == f"{patterns.MISSING:g}"
    added = f"{patterns.ADDED:g}; {patterns.DOUBLED:g}"
    assert rows["an added letter; equal to the letter before"] == added
    assert rows["two adjacent letters swapped"] == f"{patterns.SWAPPED}"
    assert rows["any of these at the first letter"] == f"{patterns.FIRST_LETTER}"
    assert rows["digits in place of letters, also together with the row above"] == "0"
    assert f"{patterns.UNKNOWN_WORD} - {-patterns.UNKNOWN_LETTER} length" in page
    assert f"{patterns.JOINED} is added" in " ".join(page.split())


def test_files(page):
    assert all(f"`{name}`" in page for name in FILES)
    assert f"| `format_version` | {FORMAT_VERSION};" in page
