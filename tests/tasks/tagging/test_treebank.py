"""Sections of the Penn Treebank, as trees and as files `.pos`."""

from __future__ import annotations

import pytest

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.errors import DataError
from tf_charagram.tasks import task_class
from tf_charagram.tasks.tagging.reader import read_tagged
from tf_charagram.tasks.tagging.settings import TaggingConfig
from tf_charagram.tasks.tagging.treebank import (
    SPLITS,
    is_treebank_split,
    read_treebank,
    treebank_files,
)

TREE = "( (S (NP-SBJ (DT The) (NN {word})) (VP (VBZ sits)) (. .)) )\n"
POS = """
[ The/DT {word}/NN ]
sits/VBZ ,/,\x20
[ 1\\/2/CD years/NNS ]
./.\x20
======================================

No/UH|DT !/.
"""


def write(folder, sections, suffix, content):
    for section in sections:
        path = folder / f"{section:02}" / f"wsj_{section:02}01.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content.format(word=f"w{section}"))


@pytest.fixture
def wsj(tmp_path):
    write(tmp_path / "parsed" / "wsj", range(25), "mrg", TREE)
    write(tmp_path / "tagged" / "wsj", range(25), "pos", POS)
    (tmp_path / "parsed" / "wsj" / "README").touch()
    return tmp_path


@pytest.mark.parametrize(("split", "sections"), [("train", 18), ("dev", 3), ("test", 3)])
def test_splits(wsj, split, sections):
    """Trees go before files `.pos`; no section is in two splits."""
    name = f"{wsj}:{split}"
    assert is_treebank_split(name)
    assert [path.suffix for path in treebank_files(name)] == [".mrg"] * sections
    sentences = list(read_treebank(name))
    assert [sentence.words[1] for sentence in sentences] == [f"w{s}" for s in SPLITS[split]]
    assert sentences[0].tags == ("DT", "NN", "VBZ", ".")


def test_pos_files(wsj):
    sentences = list(read_treebank(f"{wsj / 'tagged'}:dev"))
    assert len(sentences) == 6
    assert sentences[0].words == ("The", "w19", "sits", ",", "1/2", "years", ".")
    assert sentences[0].tags == ("DT", "NN", "VBZ", ",", "CD", "NNS", ".")
    assert sentences[1].tags == ("UH", ".")


def test_a_bad_line_of_a_pos_file(tmp_path):
    (tmp_path / "a.pos").write_text("[ The/DT cat ]\n./.\n\nYes/UH\n")
    with pytest.raises(DataError, match=r"a\.pos:1: expected word/TAG, found 'cat'"):
        list(read_tagged(tmp_path / "a.pos"))
    bad = BadLines("skip")
    assert [s.words for s in read_tagged(tmp_path / "a.pos", on_bad_line=bad)] == [("Yes",)]
    assert bad.count == 1


def test_missing_sections(tmp_path):
    write(tmp_path, (0, 19, 21), "mrg", TREE)
    message = r"of the sections 19 to 21 in it; no file of 20"
    with pytest.raises(DataError, match=message):
        treebank_files(f"{tmp_path}:dev")
    assert not is_treebank_split(f"{tmp_path}:valid")
    assert not is_treebank_split(f"{tmp_path}/none:dev")


def test_task(wsj):
    data = {"data": (f"{wsj}:train",), "eval_data": (f"{wsj}:dev", f"{wsj}:test")}
    task = task_class("pos")(TaggingConfig(task="pos", **data), BadLines())
    assert task.find_sets() == [f"{wsj.name}:dev", f"{wsj.name}:test"]
    task.read()
    assert [len(tagged.sentences) for tagged in task.sets] == [3, 3]
    assert len(task.sentences) == len(task.input_files(task.config)) == 18
