"""`evaluation_sets`: sets in a folder and the kind of a single file."""

from __future__ import annotations

import numpy as np
import pytest

from tf_charagram.data._tables.lines import BadLines
from tf_charagram.data._tables.scored import ScoredPairs, SetFormat
from tf_charagram.data.sets import evaluation_sets, register_format
from tf_charagram.data.starter import STARTER
from tf_charagram.errors import ConfigError, DataError

SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
CONTENTS = {
    "rw.txt": "cat\tdog\t1\ncat\tcats\t2\n",
    "STS2013/STS.input.OnWN.txt": "a b\tc d\ne\tf\n",
    "STS2013/STS.gs.OnWN.txt": "1\n2\n",
    "2012.MSRpar.tsv": "1\ta b\tc\n2\td\te\n",
    "SICK_test_annotated.txt": f"{SICK}1\ta b\tc\t4\tx\n2\td\te\t1\tx\n",
    "SICK_train.txt": f"{SICK}1\ta b\tc\t4\tx\n2\td\te\t1\tx\n",
    "notes.txt": "nothing to score",
}
KINDS = {
    "wordsim": ["RW"],
    "sts": ["STS2012.MSRpar", "STS2013.OnWN", "SICK.test"],
}


def names(sets):
    return [pairs.name for pairs in sets]


@pytest.fixture
def folder(tmp_path):
    for name, content in CONTENTS.items():
        path = tmp_path / "sets" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return tmp_path / "sets"


class TestFolder:
    def test_everything(self, folder):
        assert names(evaluation_sets(folder)) == [name for kind in KINDS.values() for name in kind]

    @pytest.mark.parametrize("kind", KINDS)
    def test_one_kind(self, folder, kind):
        assert names(evaluation_sets(folder, kinds=(kind,))) == KINDS[kind]

    def test_no_set_of_that_kind(self, tmp_path):
        with pytest.raises(DataError, match=r"found no set of word similarity \(SL999, WS353\)"):
            evaluation_sets(tmp_path)
        with pytest.raises(DataError, match="no set of phrase similarity with its usual name"):
            evaluation_sets(tmp_path, ["phrases"])

    def test_bad_lines(self, folder):
        (folder / "2012.MSRpar.tsv").write_text("1\ta\tb\n9\tc\td\n2\te\tf\n")
        with pytest.raises(DataError, match=r"MSRpar\.tsv:2: expected a score from 0 to 5"):
            evaluation_sets(folder)
        bad = BadLines("skip")
        assert len(evaluation_sets(folder, ["sts"], on_bad_line=bad)[0]) == 2
        assert bad.count == 1


class TestFile:
    @pytest.mark.parametrize(
        ("name", "expected", "metric"),
        [
            ("rw.txt", "RW", "spearman"),
            ("STS2013/STS.input.OnWN.txt", "STS2013.OnWN", "pearson"),
            ("STS2013/STS.gs.OnWN.txt", "STS2013.OnWN", "pearson"),
            ("2012.MSRpar.tsv", "STS2012.MSRpar", "pearson"),
            ("SICK_train.txt", "SICK.train", "pearson"),
        ],
    )
    def test_name_tells(self, folder, name, expected, metric):
        (pairs,) = evaluation_sets(folder / name)
        assert (pairs.name, pairs.metric, len(pairs)) == (expected, metric, 2)

    @pytest.mark.parametrize(
        ("content", "kind", "metric"),
        [
            ("cat\tdog\t1\ncat\tcats\t2\n", "wordsim", "spearman"),
            ("7\t8\t1\n8\t9\t2\n", "wordsim", "spearman"),
            ("1\ta b\tc\n2\td\te\n", "sts", "pearson"),
            ("1\ta b\tc\tNEUTRAL\n2\td\te\tNEUTRAL\n", "sts", "pearson"),
            (CONTENTS["SICK_train.txt"], "sts", "pearson"),
        ],
    )
    def test_content_tells(self, tmp_path, content, kind, metric):
        path = tmp_path / "mine.tsv"
        path.write_text(f"\ufeff\n{content}", encoding="utf-8")
        (pairs,) = evaluation_sets(path, kinds=[kind])
        assert (pairs.name, pairs.metric, len(pairs)) == ("mine", metric, 2)
        assert all(not text.replace(".", "").isdigit() for text in pairs.left) or kind == "wordsim"

    @pytest.mark.parametrize(
        ("content", "columns", "scores"),
        [
            ("id,qid1,qid2,question1,question2,is_duplicate\n0,1,2,a b,c?,0\n1,3,4,d,e,True\n", (),
             [0, 1]),
            ("split,score,sentence1,sentence2\ndev,70.5,a b,c?\ndev,9,d,e\ndev,,f,g\n", (),
             [70.5, 9]),
            ("\ufeffSatz 1;Satz 2;Wert\r\na b;c?;3,5\r\nd;e;4\r\n", ("satz 1", "2", "Wert"),
             [3.5, 4]),
            ("text1;text2;similarity\na b;c?;0,125\nd;e;2\n", (), [0.125, 2]),
            ("7,0,a b,c?,1\n8,0,d,e,2\n", ("3", "4", "5"), [1, 2]),
        ],
    )  # fmt: skip
    def test_tables(self, tmp_path, content, columns, scores):
        path = tmp_path / "mine.csv"
        path.write_text(content, encoding="utf-8", newline="")
        (pairs,) = evaluation_sets(path, columns=columns)
        assert (pairs.left, pairs.right) == (["a b", "d"], ["c?", "e"])
        assert (list(pairs.scores), pairs.name, pairs.group) == (scores, "mine", None)

    @pytest.mark.parametrize("policy", ["error", "skip"])
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("id,qid1,qid2,q,r,same\n0,1,2,a?,b?,0\n1,3,4,c?,d?,1\n",
             r"two texts and a score\. The columns.*: id '0', .* q 'a\?', .*Choose with --columns"),
            ("0,1,2,a?,b?,0\n1,3,4,c?,d?,1\n", r"column 2 should .* 4 'a\?', .*--columns"),
            ("text,label\na,b\n", "expected columns of two texts and a score"),
            ("what is this\nor that\n", "two texts and a score.* Tabs separate columns"),
            ("# mine\ntext1,text2,similarity\na,b,1\n", "two texts and a score.* # mine ''"),
        ],
    )  # fmt: skip
    def test_other_tables(self, tmp_path, content, message, policy):
        path = tmp_path / "mine.csv"
        path.write_text(content)
        with pytest.raises(DataError, match=message) as info:
            evaluation_sets(path, on_bad_line=policy)
        assert "on-bad-line" not in str(info.value)

    def test_columns_are_for_files(self, folder):
        for path in (None, folder):
            with pytest.raises(ConfigError, match="`columns` and `header` are for a file"):
                evaluation_sets(path, columns=("1", "2", "3"))

    def test_missing(self, tmp_path):
        with pytest.raises(DataError, match="no such file or folder to evaluate on"):
            evaluation_sets(tmp_path / "none")


def test_default_sets():
    assert names(evaluation_sets(None))[0] == STARTER
    assert names(evaluation_sets(None, ["wordsim"])) == names(evaluation_sets(None))


def test_a_registered_format(tmp_path, monkeypatch):
    monkeypatch.setattr("tf_charagram.data.sets._formats", [])
    pairs = ScoredPairs("mine", ["a"], ["b"], np.array([1.0]))
    register_format(
        SetFormat("phrases", lambda folder: {"mine": folder / "x"}, lambda path, **_: pairs)
    )
    assert names(evaluation_sets(tmp_path, ["phrases"])) == ["mine"]
