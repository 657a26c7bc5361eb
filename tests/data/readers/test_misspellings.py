"""Lists of misspellings in all formats, and bad ones."""

from __future__ import annotations

import gzip

import pytest

from tf_charagram.data._tables.lines import BadLines
from tf_charagram.data.readers.misspellings import read_misspellings
from tf_charagram.errors import DataError


def read(tmp_path, content, **arguments):
    path = tmp_path / "list.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return [(wrong, list(right)) for wrong, right in read_misspellings(path, **arguments)]


FORMATS = {
    "tabs": (
        "wrong\tright\nteh\tthe\n\n Abit \ta bit\r\n",
        [("teh", ["the"]), ("Abit", ["a bit"])],
    ),
    "dollar": (
        "$the\nteh\n\nhte 12\n$a_lot\nalot\nno_one\n",
        [("teh", ["the"]), ("hte", ["the"]), ("alot", ["a lot"]), ("no one", ["a lot"])],
    ),
    "arrow": ("teh->the\nther->there, their,\n", [("teh", ["the"]), ("ther", ["there", "their"])]),
    "twice": ("a\tb\na\tc\nd\td\n", [("a", ["b"]), ("a", ["c"]), ("d", ["d"])]),
    "broken": (b"caf\xff\tcaf\xc3\xa9\n", [("caf\ufffd", ["caf\xe9"])]),
    "compressed": (gzip.compress(b"\xef\xbb\xbfteh\tthe\n"), [("teh", ["the"])]),
}


@pytest.mark.parametrize(("content", "expected"), FORMATS.values(), ids=FORMATS)
def test_formats(tmp_path, content, expected):
    assert read(tmp_path, content) == expected


BAD = {
    "one column": ("a\tb\nc\n", ":2: expected a wrong and a right form by a tab, found 1 columns"),
    "no arrow": ("a->b\nc\n", ":2: expected a wrong form, -> and right forms, found no ->"),
    "no wrong": ("\tb\n", ":1: expected two forms, but the wrong one is empty"),
    "no right": ("b-> ,\n", ":1: expected two forms, but the right one is empty"),
    "nothing right": ("$\nb\n", ":2: expected two forms, but the right one is empty"),
    "empty": (" \n\n", "no misspellings found: the file is empty"),
    "header": ("wrong\tright\n", "no misspellings found: no bad lines"),
    "only right": ("$the\n", "no misspellings found: no bad lines"),
}


@pytest.mark.parametrize(("content", "message"), BAD.values(), ids=BAD)
def test_bad(tmp_path, content, message):
    with pytest.raises(DataError) as error:
        read(tmp_path, content)
    assert message in str(error.value)


def test_bad_lines_are_skipped_and_counted(tmp_path):
    bad = BadLines("skip")
    assert read(tmp_path, "a\tb\nc\nd\t\n", on_bad_line=bad) == [("a", ["b"])]
    assert bad.count == 2
    with pytest.raises(DataError, match="no misspellings found: skipped 1 bad line"):
        read(tmp_path, "c\n", on_bad_line="skip")
