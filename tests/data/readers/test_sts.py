"""`read_sts` and `find_sts` on official and plain files of STS and SICK."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from tf_charagram.data._tables.lines import BadLines
from tf_charagram.data.readers.sts import find_sts, read_sts
from tf_charagram.data.sets import evaluation_sets
from tf_charagram.errors import DataError

TEXTS = "A man sings.\tA man is singing.\nA dog runs.\tA cat sleeps.\nOne.\tTwo.\n"
GOLD = "5.0\n\n0.25\n"
WHOLE_SICK = "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tSemEval_set\n"
SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"


@pytest.fixture
def official(tmp_path):
    """Returns a function that writes an official pair of files and returns the first."""

    def write(texts=TEXTS, gold=GOLD, folder="STS2013-test", name="OnWN", prefix="STS", end=".txt"):
        folder = tmp_path / folder
        folder.mkdir(parents=True, exist_ok=True)
        for part, content in (("input", texts), ("gs", gold)):
            raw = content if isinstance(content, bytes) else content.encode()
            raw = gzip.compress(raw) if end.endswith(".gz") else raw
            (folder / f"{prefix}.{part}.{name}{end}").write_bytes(raw)
        return folder / f"{prefix}.input.{name}{end}"

    return write


class TestOfficial:
    @pytest.mark.parametrize("end", [".txt", ".txt.gz"])
    @pytest.mark.parametrize("part", ["input", "gs"])
    def test_read(self, official, part, end):
        path = official(end=end)
        pairs = read_sts(path.with_name(path.name.replace("input", part)))
        assert (pairs.name, pairs.group, pairs.metric) == ("STS2013.OnWN", "STS2013", "pearson")
        assert pairs.left == ["A man sings.", "One."]
        assert pairs.right == ["A man is singing.", "Two."]
        np.testing.assert_array_equal(pairs.scores, [5.0, 0.25])
        assert pairs.num_unscored == 1

    def test_columns_of_2016(self, official):
        rows = "a\tb\tsource 1\tsource 2\nc\td\tsource 1\tsource 2\n"
        path = official(rows, "1\n2\n", "data", "headlines", prefix="STS2016")
        pairs = read_sts(path)
        assert pairs.name == "STS2016.headlines"
        assert (pairs.left, pairs.right) == (["a", "c"], ["b", "d"])

    @pytest.mark.parametrize(
        ("folder", "name", "expected", "group"),
        [
            ("STS2012-en-test", "surprise.OnWN", "STS2012.OnWN", "STS2012"),
            ("sts14/test", "DEFT-news", "STS2014.deft-news", "STS2014"),
            ("2014/files 2", "images", "STS2014.images", "STS2014"),
            ("2015", "new-set", "STS2015.new-set", "STS2015"),
        ],
    )
    def test_names(self, official, folder, name, expected, group):
        pairs = read_sts(official(folder=folder, name=name))
        assert (pairs.name, pairs.group) == (expected, group)

    @pytest.mark.parametrize(
        ("gold", "message"),
        [
            ("1\n2\n", r"gs\.OnWN\.txt: expected a line 3, as .*input\.OnWN\.txt has one"),
            ("", r"gs\.OnWN\.txt: expected a line 1, as"),
            ("1\n\n3\n4\n", r"input\.OnWN\.txt: expected a line 4, as .*gs\.OnWN\.txt has one"),
        ],
    )
    def test_files_of_different_length(self, official, gold, message):
        with pytest.raises(DataError, match=message):
            read_sts(official(gold=gold))

    def test_blank_lines_at_the_end(self, official):
        assert len(read_sts(official(texts=f"{TEXTS}\n \n"))) == 2
        assert len(read_sts(official(gold=f"{GOLD}\n"))) == 2

    def test_no_scores(self, official):
        path = official()
        path.with_name("STS.gs.OnWN.txt").unlink()
        with pytest.raises(DataError, match=r"STS\.gs\.OnWN\.txt: cannot be read: No such file"):
            read_sts(path)

    @pytest.mark.parametrize(
        ("texts", "gold", "message"),
        [
            ("a\tb\nc\n", "1\n2\n", r"input\.OnWN\.txt:2: expected 2 tab-separated texts, found 1"),
            ("a\tb\n\t d\n", "1\n2\n", r"input\.OnWN\.txt:2: expected two texts, but one is empty"),
            ("a\tb\nc\td\n", "1\nx\n", r"gs\.OnWN\.txt:2: expected a finite number .* found 'x'"),
            ("a\tb\nc\td\n", "1\n5.5\n", r"gs\.OnWN\.txt:2: expected a score from 0 to 5, found"),
        ],
    )
    def test_bad_lines(self, official, texts, gold, message):
        path = official(texts + TEXTS, gold + GOLD)
        with pytest.raises(DataError, match=message):
            read_sts(path)
        bad = BadLines("skip")
        assert len(read_sts(path, on_bad_line=bad)) == 3
        assert bad.count == 1


class TestPlain:
    def test_read(self, tmp_path):
        path = tmp_path / "2012.OnWN.tsv"
        path.write_text("5\ta b\tc\n\n\td\te\n0.5\tf\tg\n", encoding="utf-8")
        pairs = read_sts(path)
        assert (pairs.name, pairs.group, pairs.num_unscored) == ("STS2012.OnWN", "STS2012", 1)
        assert pairs.left == ["a b", "f"]
        np.testing.assert_array_equal(pairs.scores, [5, 0.5])

    @pytest.mark.parametrize(
        ("content", "message"),
        [("\n\n", "no rows found"), ("5\ta\tb\n", "expected at least 2 rows with a score")],
    )
    def test_too_few_rows(self, tmp_path, content, message):
        (tmp_path / "2012.OnWN.tsv").write_text(content)
        with pytest.raises(DataError, match=rf"OnWN\.tsv: {message}"):
            read_sts(tmp_path / "2012.OnWN.tsv")


class TestFind:
    def test_official_before_plain_and_no_training_sets(self, official, tmp_path):
        expected = {
            "STS2012.MSRpar": official(folder="STS2012/test-gold", name="MSRpar"),
            "STS2013.FNWN": official(folder="sts2013", name="FNWN", end=".txt.gz"),
            "STS2016.plagiarism": official(folder="x", name="plagiarism", prefix="STS2016"),
        }
        official(folder="STS2012/train", name="MSRvid")
        official(folder="STS2012/test-gold", name="ALL")
        for name in ("2012.MSRpar.tsv", "2014.images.tsv", "2014.report.tsv", "notes.txt"):
            (tmp_path / name).touch()
        expected["STS2014.images"] = tmp_path / "2014.images.tsv"
        assert find_sts(tmp_path) == expected

    def test_files_without_scores_are_skipped(self, official, tmp_path):
        official().with_name("STS.gs.OnWN.txt").unlink()
        assert find_sts(tmp_path) == {}


class TestSick:
    @pytest.fixture
    def write(self, tmp_path):
        def write(content, name="SICK.txt"):
            (tmp_path / name).write_text(content)
            return tmp_path / name

        return write

    @pytest.mark.parametrize("name", ["SICK.train", "SICK.trial", "SICK.test", None])
    def test_whole_file(self, write, name):
        parts = [(score, part) for score in (1, 5) for part in ("TRAIN", "TRIAL", "TEST")]
        rows = [f"1\t{part} {score}\tb\tNEUTRAL\t{score}\t{part}\n" for score, part in parts]
        path = write(WHOLE_SICK + "".join(rows))
        pairs = read_sts(path, name=name)
        part = (name or "SICK.test").partition(".")[2]
        assert (pairs.name, pairs.metric, pairs.group) == (f"SICK.{part}", "pearson", None)
        assert pairs.left == [f"{part.upper()} 1", f"{part.upper()} 5"]
        np.testing.assert_array_equal(pairs.scores, [1, 5])
        (found,) = evaluation_sets(path.rename(path.with_name("mine.tsv")))
        assert (found.name, found.left) == ("mine", ["TEST 1", "TEST 5"])

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("SICK_test_annotated.txt", "SICK.test"),
            ("SICK_trial.txt", "SICK.trial"),
            ("sick-train.tsv", "SICK.train"),
        ],
    )
    def test_one_file_per_part(self, write, name, expected):
        for content in (f"{SICK}1\ta\tb\t4.5\tNEUTRAL\n2\tc\td\t1\tYES\n", "4.5\ta\tb\n1\tc\td\n"):
            pairs = read_sts(write(content, name))
            assert (pairs.name, pairs.left, pairs.right) == (expected, ["a", "c"], ["b", "d"])
            np.testing.assert_array_equal(pairs.scores, [4.5, 1])

    def test_bad_score(self, write):
        path = write(f"{SICK}1\ta\tb\t3\tx\n1\ta\tb\t0\tx\n", "SICK_test.txt")
        with pytest.raises(DataError, match=r"test\.txt:3: expected a score from 1 to 5"):
            read_sts(path)

    def test_find(self, write, tmp_path):
        trial = write(SICK, "SICK_trial.txt")
        write(SICK, "SICK_train.txt")
        assert find_sts(tmp_path) == {"SICK.trial": trial}
        write("pair_ID\tsentence_A\tsentence_B\n", "SICK_test.txt")
        test = write(SICK, "SICK_test_annotated.txt")
        assert find_sts(tmp_path) == {"SICK.trial": trial, "SICK.test": test}
        whole = write(WHOLE_SICK)
        assert find_sts(tmp_path) == {"SICK.trial": whole, "SICK.test": whole}


@pytest.mark.parametrize("name", ["mine.tsv", "mine.csv"])
@pytest.mark.parametrize(
    "header", ["", "score,sentence1,sentence2", "Similarity,text_a,text_b", "left,right,id,score"]
)
def test_own_files(tmp_path, name, header):
    content = f'{header}\n4.5,a cat,"a, cat"\n0,dog,house\n'.lstrip()
    if header.endswith("score"):
        content = f'{header}\na cat,"a, cat",7,4.5\ndog,house,8,0\n'
    if name.endswith(".tsv"):
        content = content.replace('"a, cat"', "a; cat").replace(",", "\t").replace(";", ",")
    (tmp_path / name).write_text(content)
    (pairs,) = evaluation_sets(tmp_path / name, kinds=("sts",))
    assert (pairs.name, pairs.metric) == ("mine", "pearson")
    assert [*zip(pairs.left, pairs.right, pairs.scores, strict=True)] == [
        ("a cat", "a, cat", 4.5), ("dog", "house", 0.0),
    ]  # fmt: skip
