"""The command `evaluate` with baselines, and with a file of single pairs."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from scipy import stats

from tests.commands import call
from tests.search.conftest import save_model
from tf_charagram.data.readers.scored import ScoredPairs
from tf_charagram.evaluation.pair_scores import on_gold_scale

WORDS = ["cat", "cats", "dog", "Dogs", "bird", "fish", "tree", "wood"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Returns a folder with two sets, word vectors and a model that was not trained."""
    folder = tmp_path_factory.mktemp("baselines")
    random = np.random.default_rng(0)
    (folder / "sets").mkdir()
    for name in ("2012.OnWN.tsv", "2013.FNWN.tsv"):
        pairs = (random.choice(WORDS, (2, 3)) for _ in range(30))
        rows = (f"{i % 6}\t{' '.join(a)}\t{' '.join(b)}\n" for i, (a, b) in enumerate(pairs))
        (folder / "sets" / name).write_text("".join(rows))
    vectors = (" ".join([word.lower(), *map(str, random.normal(size=4))]) for word in WORDS[:-1])
    (folder / "vectors.txt").write_text("\n".join(vectors))
    save_model(folder / "model", seed=1)
    return folder


@pytest.fixture
def evaluate(place, capsys):
    def run(*arguments, status=0):
        assert call("evaluate", *arguments, "--eval-data", place / "sets") == status
        streams = capsys.readouterr()
        if status:
            return streams.err
        return json.loads(streams.out) if "--json" in arguments else streams.out

    return run


def read_tsv(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


class TestBaselines:
    def test_beside_a_model(self, evaluate, place):
        average = f"average:{place / 'vectors.txt'}"
        found = evaluate(place / "model", "--baseline", average, "--typos", 1, "--json")
        assert [part["model"] for part in found["models"]] == [str(place / "model"), average]
        assert found["models"][0] == evaluate(place / "model", "--typos", 1, "--json")
        for change in found["differences"]:
            low, high = change["interval"]
            assert low <= change["value"] <= high
        assert found["differences_typos"]
        (note,) = found["models"][1]["notes"]
        assert note.startswith("average:vectors.txt: ") and "words have no vector: " in note
        text = evaluate(place / "model", "--baseline", average)
        assert "average:" in text and "vectors.txt" in text and "difference" in text
        assert "1 of 8 words have no vector: wood" in text

    def test_each_average_with_each_weighting(self, evaluate, place):
        average = f"average:{place / 'vectors.txt'}"
        (place / "counts").write_text("cat 3\ndog 9\n")
        arguments = ["--baseline", average, "--baseline", f"vectors:{self.stored(place)}"]
        weightings = ["--weighting", "none,sif,inverse-frequency"]
        found = evaluate(*arguments, *weightings, "--frequencies", place / "counts", "--json")
        assert [part["model"] for part in found["models"]] == [
            average, f"{average} (sif)", f"{average} (inverse-frequency)", arguments[-1],
        ]  # fmt: skip
        scores = [part["scores"]["STS"] for part in found["models"]]
        assert len(set(scores)) == 4
        text = evaluate("--baseline", average, *weightings)
        lines = [[cell.strip() for cell in line.split("\u2503")] for line in text.splitlines()]
        assert any(line.count("vectors.txt") == 2 for line in lines) and "\\n" not in text
        zipf = evaluate("--baseline", average, "--weighting", "sif", "--json")
        assert zipf["scores"]["STS"] != scores[1]

    def stored(self, place):
        """Returns a file of vectors for all texts."""
        rows = [
            f"{text}\t{len(text)}\t{i}\n"
            for path in (place / "sets").iterdir()
            for i, line in enumerate(path.read_text().splitlines())
            for text in line.split("\t")[1:]
        ]
        (place / "stored.tsv").write_text("".join(rows))
        return place / "stored.tsv"

    def test_sets_are_fitted_one_by_one(self, evaluate, place, capsys):
        pytest.importorskip("sklearn")
        both = evaluate("--baseline", "tfidf", "--json")["scores"]
        capsys.readouterr()
        alone = place / "sets" / "2013.FNWN.tsv"
        assert call("evaluate", "--baseline", "tfidf", "--eval-data", alone, "--json") == 0
        found = json.loads(capsys.readouterr().out)
        assert found["scores"]["STS2013.FNWN"] == both["STS2013.FNWN"]
        of_file = evaluate("--baseline", f"tfidf:{place / 'sets' / '2012.OnWN.tsv'}", "--json")
        assert of_file["scores"] != both

    def test_missing_texts(self, evaluate, place):
        (place / "some.tsv").write_text("cat\t1\t2\n")
        message = evaluate("--baseline", f"vectors:{place / 'some.tsv'}", status=1)
        assert "some.tsv: lacks the vectors of" in message and "--save-pairs" in message

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["averge:x"], "Unknown baseline 'averge'. Did you mean 'average'?"),
            (["average"], "needs a file of word vectors: --baseline average:FILE."),
            (["average:none"], "none: no such file"),
            (["tfidf", "--weighting", "sif"], "--weighting is for --baseline average:FILE."),
            (["tfidf", "--weighting", "siff"], "Unknown weighting 'siff'. Did you mean 'sif'?"),
            (["tfidf", "--frequencies", "x"], "--frequencies is for --baseline average:FILE with"),
            (["tfidf", "--save-pairs", "x.csv"], "must end in .tsv, .jsonl, .parquet."),
        ],
    )
    def test_errors(self, evaluate, arguments, message):
        assert message in evaluate("--baseline", *arguments, status=1)

    def test_not_with_misspellings(self, place, capsys):
        assert call("evaluate", place / "model", "--misspellings", "x", "--baseline", "tfidf") == 1
        assert "--baseline does not go with --misspellings." in capsys.readouterr().err


class TestPairs:
    def test_all_pairs(self, evaluate, place, tmp_path):
        average = f"average:{place / 'vectors.txt'}"
        path = tmp_path / "pairs.tsv"
        arguments = [place / "model", "--baseline", average, "--typos", 1, "--json"]
        found = evaluate(*arguments, "--save-pairs", path)
        rows = read_tsv(path)
        assert len(rows) == 2 * 2 * 30
        for label, model in zip((place.name, "average:vectors.txt"), found["models"], strict=True):
            for typos, scores in (("0", model["scores"]), ("1", model["typos"]["scores"])):
                of_set = [r for r in rows if (r["set"], r["typos"]) == ("STS2013.FNWN", typos)]
                gold = [float(row["gold"]) for row in of_set]
                for column in (f"{label} cosine", f"{label} score"):
                    values = [float(row[column]) for row in of_set]
                    pearson = 100 * stats.pearsonr(values, gold).statistic
                    assert pearson == pytest.approx(scores["STS2013.FNWN"], abs=0.02)
                assert (min(values), max(values)) == (0, 5)
        assert [r["right"] for r in rows[:60]] != [r["right"] for r in rows[60:]]
        assert [r["left"] for r in rows[:60]] == [r["left"] for r in rows[60:]]

    def test_a_model_given_twice(self, evaluate, place, tmp_path):
        path, model = tmp_path / "pairs.tsv", place / "model"
        evaluate(model, model, "--save-pairs", path)
        row = read_tsv(path)[0]
        assert list(row)[5:] == [
            f"{label} {value}" for label in (model, f"{model} (2)") for value in ("cosine", "score")
        ]
        assert row[f"{model} cosine"] == row[f"{model} (2) cosine"]

    @pytest.mark.parametrize(
        "flag",
        [
            "--eval-data=sets/2012.OnWN.tsv",
            "--eval-data=sets",
            "--baseline=tfidf:sets/2012.OnWN.tsv",
        ],
    )
    def test_what_is_read_is_not_overwritten(self, place, monkeypatch, capsys, flag):
        monkeypatch.chdir(place)
        path = place / "sets" / "2012.OnWN.tsv"
        before = path.read_text()
        assert call("evaluate", "model", flag, "--save-pairs", path) == 1
        assert f"{path} is read as well" in capsys.readouterr().err
        assert path.read_text() == before

    def test_gold_scale(self):
        """The scale is that of the set, else that of its scores; equal cosines get the middle."""
        pairs = ScoredPairs("x", ["a"] * 3, ["b"] * 3, np.array([2.0, 4, 10]))
        cosines = np.array([0.5, 0.25, 1.0])
        np.testing.assert_allclose(on_gold_scale(cosines, pairs), [2 + 8 / 3, 2, 10])
        with_scale = ScoredPairs("x", ["a"] * 3, ["b"] * 3, pairs.scores, scale=(0, 5))
        np.testing.assert_allclose(on_gold_scale(cosines, with_scale), [5 / 3, 0, 5])
        np.testing.assert_allclose(on_gold_scale(np.ones(3), with_scale), [2.5] * 3)
