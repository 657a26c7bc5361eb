"""`read_wordsim` and `find_wordsim` on all known formats."""

from __future__ import annotations

import numpy as np
import pytest

from tf_charagram.data._tables.lines import BadLines
from tf_charagram.data.readers.wordsim import find_wordsim, read_wordsim
from tf_charagram.errors import DataError

FORMATS = {
    "EN-SIMLEX-999.tsv": "old\tnew\t1.58\nbig\tlarge\t9.5\n",
    "SimLex-999.txt": (
        "word1\tword2\tPOS\tSimLex999\tconc(w1)\tconc(w2)\tconcQ\tAssoc(USF)\tSimAssoc333\tSD\n"
        "old\tnew\tA\t1.58\t2.72\t2.81\t2\t7.25\t1\t0.41\n"
        "big\tlarge\tA\t9.5\t1.75\t1.46\t1\t7.11\t1\t0.67\n"
    ),
    "combined.csv": "Word 1,Word 2,Human (mean)\nold,new,1.58\nbig,large,9.50\n",
    "combined.tab": "Word 1\tWord 2\tHuman (mean)\nold\tnew\t1.58\nbig\tlarge\t9.50\n",
    "set1.csv": "Word 1,Word 2,Human (mean),1,2\nold,new,1.58,1,2\nbig,large,9.50,9,10\n",
    "wordsim_similarity_goldstandard.txt": "old\tnew\t1.58\nbig\tlarge\t9.5\n",
    "commented.tsv": "# a set\n# Word 1\tWord 2\tHuman\nold\tnew\t1.58\nbig\tlarge\t9.5\n",
    "rw.txt": "".join(
        f"{row}\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\n" for row in ("old\tnew\t1.58", "big\tlarge\t9.5")
    ),
    "MEN_dataset_natural_form_full": "old new 1.580000\nbig large 9.500000\n",
    "SimVerb-3500.txt": "old\tnew\tV\t1.58\tANTONYMS\nbig\tlarge\tV\t9.5\tSYNONYMS\n",
}


@pytest.fixture
def read(tmp_path):
    def read(content, file_name="set.tsv", **arguments):
        path = tmp_path / file_name
        path.write_text(content, encoding="utf-8", newline="")
        return read_wordsim(path, **arguments)

    return read


@pytest.mark.parametrize("file_name", FORMATS)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_formats(read, file_name, ends):
    content = "\ufeff" + FORMATS[file_name].replace("\n", ends)
    pairs = read(content, file_name)
    assert (pairs.left, pairs.right) == (["old", "big"], ["new", "large"])
    np.testing.assert_array_equal(pairs.scores, [1.58, 9.5])
    assert pairs.scores.dtype == np.float64
    assert len(pairs) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("c\td", "expected 3 columns as in the first row, found 2"),
        ("c\td\t1\t2", "expected 3 columns as in the first row, found 4"),
        ("c\t\t1", "expected two texts, but one is empty"),
        ("c\td\thigh", "expected a finite number as score, found 'high'"),
        ("c\td\tnan", "expected a finite number as score, found 'nan'"),
    ],
)
def test_bad_lines(read, line, message):
    content = f"a\tb\t1\n\n{line}\ne\tf\t2\n"
    with pytest.raises(DataError, match=rf"set\.tsv:3: {message}"):
        read(content)
    bad = BadLines("skip")
    assert read(content, on_bad_line=bad).left == ["a", "e"]
    assert bad.count == 1


@pytest.mark.parametrize(("content", "found"), [("", 0), ("a\tb\t1\n", 1)])
def test_fewer_than_two_rows(read, content, found):
    with pytest.raises(DataError, match=f"expected at least 2 rows with a score, found {found}"):
        read(content)


def test_find_official_files(tmp_path):
    names = [
        "SimLex-999/SimLex-999.txt",
        "SimLex-999/README.txt",
        "ws/combined.csv",
        "ws/combined.tab",
        "ws/wordsim353_agreed.txt",
        "ws/wordsim_relatedness_goldstandard.txt",
        "MEN/MEN_dataset_lemma_form_full",
        "MEN/MEN_dataset_natural_form_full",
        "data/SimVerb-3500.txt",
        "data/SimVerb-3500-stats.txt",
        "rw.txt.gz",
    ]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = {name: path.name for name, path in find_wordsim(tmp_path).items()}
    assert found == {
        "SL999": "SimLex-999.txt",
        "WS353": "combined.csv",
        "WS353-REL": "wordsim_relatedness_goldstandard.txt",
        "RW": "rw.txt.gz",
        "MEN": "MEN_dataset_natural_form_full",
        "SimVerb": "SimVerb-3500.txt",
    }
