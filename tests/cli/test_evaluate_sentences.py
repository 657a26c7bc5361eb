"""`charagram evaluate` on sentences: tables, JSON, typos, intervals, several models, tf-idf."""

from __future__ import annotations

import json

import keras
import numpy as np
import pytest

from tests.commands import call
from tests.texts import words
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.vectorizer import NgramVectorizer

NAMES = ["STS2012.OnWN", "STS2013.FNWN", "SICK.test"]
ROWS = [*NAMES, "STS2012", "STS2013", "STS"]


def sentences(seed):
    """Yields score, sentence and another that shares as many words as the score says."""
    random = np.random.default_rng(seed)
    vocabulary = np.array(words(200))
    for _ in range(40):
        num_shared = int(random.integers(1, 6))
        left = random.choice(vocabulary, 5, replace=False)
        right = [*left[:num_shared], *random.choice(vocabulary, 5 - num_shared)]
        yield num_shared, " ".join(left), " ".join(right)


def write_plain(path, seed):
    lines = (f"{score}\t{left}\t{right}\n" for score, left, right in sentences(seed))
    path.write_text("".join(lines), encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Returns evaluation sets: an official one with a pair that has no score, and plain ones."""
    folder = tmp_path_factory.mktemp("sets")
    rows = list(sentences(0))
    gold = [str(score) for score, *_ in rows]
    gold[3] = ""
    (folder / "STS2012").mkdir()
    texts = "".join(f"{left}\t{right}\n" for _, left, right in rows)
    (folder / "STS2012" / "STS.input.OnWN.txt").write_text(texts, encoding="utf-8")
    (folder / "STS2012" / "STS.gs.OnWN.txt").write_text("\n".join(gold) + "\n", encoding="utf-8")
    write_plain(folder / "2013.FNWN.tsv", 1)
    write_plain(folder / "SICK.test.tsv", 2)
    return folder


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Returns the folders of three models that were not trained."""
    folder = tmp_path_factory.mktemp("models")
    vectorizer = NgramVectorizer.from_texts(words(200))
    for i, dim in enumerate((20, 4, 3)):
        keras.utils.set_random_seed(i)
        encoder = Charagram(num_rows=vectorizer.num_rows, dim=dim)
        TextEmbedder(vectorizer, encoder).save(folder / f"m{i}" / "model")
    return [folder / f"m{i}" for i in range(3)]


@pytest.fixture
def evaluate(folder, capsys):
    """Returns a function that runs the command and returns its output."""

    def run(*arguments, place=folder, status=0):
        assert call("evaluate", *arguments, "--eval-data", place) == status
        streams = capsys.readouterr()
        if status:
            return streams.err
        return json.loads(streams.out) if "--json" in arguments else streams.out

    return run


def row(text, name):
    """Returns the cells of the first row of a table that begins so."""
    line = next(line for line in text.splitlines() if line.startswith(f"\u2502 {name}"))
    return [cell.strip() for cell in line.strip("\u2502").split("\u2502")]


def notes(text):
    """Returns the text below a table, without its line breaks."""
    return " ".join(text.rpartition("\u2518")[2].split())


class TestOneModel:
    def test_json(self, evaluate, models):
        found = evaluate(models[0], "--json")
        assert found["model"] == str(models[0])
        assert list(found["scores"]) == ROWS
        details = {part["name"]: part for part in found["details"]}
        assert {name: part["value"] for name, part in details.items()} == found["scores"]
        assert all(part["metric"] == "pearson" for part in details.values())
        assert details["STS2012.OnWN"]["num_pairs"] == 39
        assert details["STS2012.OnWN"]["num_unscored"] == 1
        assert details["STS2012.OnWN"]["interval"] is None
        assert details["STS"]["sets"] == NAMES[:2]
        assert "typos" not in found

    def test_table(self, evaluate, models):
        scores = evaluate(models[0], "--json")["scores"]
        text = evaluate(models[0])
        for name in NAMES:
            assert f"{scores[name]:.2f}*" in row(text, name)
        assert row(text, "STS2012 (mean of 1)")[1] == "39"
        assert "STS2012.OnWN: 1 without a human score left out." in notes(text)
        assert "95 %" not in text

    def test_intervals(self, evaluate, models):
        arguments = [models[0], "--bootstrap", 50, "--json"]
        found = evaluate(*arguments)
        for part in found["details"]:
            low, high = part["interval"]
            assert low <= part["value"] <= high
        assert evaluate(*arguments) == found
        assert evaluate(*arguments, "--seed", 1) != found
        low, high = found["details"][0]["interval"]
        text = evaluate(models[0], "--bootstrap", 50)
        assert row(text, NAMES[0])[-1] == f"{low:.2f} to {high:.2f}"

    def test_typos(self, evaluate, models):
        found = evaluate(models[0], "--typos", 3, "--json")
        assert found["scores"] == evaluate(models[0], "--json")["scores"]
        typos = found["typos"]
        assert list(typos["scores"]) == ROWS
        assert all(typos["scores"][name] != found["scores"][name] for name in NAMES)
        for change in typos["differences"]:
            clean, mistyped = found["scores"][change["name"]], typos["scores"][change["name"]]
            assert change["value"] == pytest.approx(mistyped - clean, abs=0.006)
            low, high = change["interval"]
            assert low <= change["value"] <= high
        cells = row(evaluate(models[0], "--typos", 3), NAMES[0])
        assert cells[3:5] == [f"{part['scores'][NAMES[0]]:.2f}" for part in (found, typos)]
        assert cells[5] == f"{typos['differences'][0]['value']:+.2f}"

    def test_typos_do_not_depend_on_other_sets(self, evaluate, models, folder):
        arguments = [models[0], "--typos", 2, "--json"]
        alone = evaluate(*arguments, place=folder / "2013.FNWN.tsv")
        both = evaluate(*arguments)
        assert alone["typos"]["scores"]["STS2013.FNWN"] == both["typos"]["scores"]["STS2013.FNWN"]

    def test_constant_scores(self, evaluate, models, tmp_path):
        (tmp_path / "2012.OnWN.tsv").write_text("1\ta b\tc d\n1\te\tf\n", encoding="utf-8")
        text = evaluate(models[0], place=tmp_path)
        assert row(text, "STS2012.OnWN")[2:4] == ["-", "-"]
        note = "STS2012.OnWN: no correlation, because all cosines or scores are equal."
        assert note in notes(text)
        found = evaluate(models[0], "--json", place=tmp_path)
        assert found["scores"] == {"STS2012.OnWN": None, "STS2012": None}
        assert "+" not in evaluate(models[0], "--typos", 1, place=tmp_path)

    def test_bad_lines(self, evaluate, models, tmp_path, capsys):
        path = tmp_path / "2012.OnWN.tsv"
        path.write_text("1\ta b\tc d\n7\tx\ty\n2\te\tf\n", encoding="utf-8")
        message = evaluate(models[0], place=path, status=1)
        assert "2012.OnWN.tsv:2: expected a score from 0 to 5, found '7'" in message
        arguments = [models[0], "--on-bad-line", "skip", "--json", "--eval-data", path]
        assert call("evaluate", *arguments) == 0
        assert capsys.readouterr().err.startswith("skipped 1 bad line; first: ")

    def test_columns(self, evaluate, models, folder, tmp_path):
        path = tmp_path / "2013.FNWN.tsv"
        lines = (folder / path.name).read_text(encoding="utf-8").splitlines()
        path.write_text("".join(f"0\t{line}\n" for line in lines), encoding="utf-8")
        columns = ["--columns", "3,4,2"]
        expected = evaluate(models[0], "--json", place=folder / path.name)["scores"]["STS2013.FNWN"]
        assert evaluate(models[0], "--json", *columns, place=path)["scores"] == {
            "2013.FNWN": expected
        }
        message = evaluate(models[0], "--columns", "3,4,9", place=path, status=1)
        assert "expected a column 9. The columns, each with a value: 0 '0', " in message
        assert "`columns` and `header` are for a file" in evaluate(models[0], *columns, status=1)


class TestSeveralModels:
    def test_two(self, evaluate, models):
        found = evaluate(*models[:2], "--json")
        first, second = found["models"]
        assert [first["model"], second["model"]] == [str(model) for model in models[:2]]
        assert first == evaluate(models[0], "--bootstrap", 1000, "--json")
        for change in found["differences"]:
            name = change["name"]
            expected = second["scores"][name] - first["scores"][name]
            assert change["value"] == pytest.approx(expected, abs=0.006)
            assert change["interval"][0] <= change["value"] <= change["interval"][1]
        text = evaluate(*models[:2])
        assert "m0" in text and "m1" in text
        cells = row(text, "STS2013.FNWN")
        assert cells[3:5] == [f"{part['scores']['STS2013.FNWN']:.2f}" for part in (first, second)]
        assert cells[5] == f"{found['differences'][1]['value']:+.2f}"

    def test_paired_intervals_are_narrower(self, evaluate, models):
        """A model against itself has no difference, whatever the pairs."""
        found = evaluate(models[0], models[0] / "model", "--json")
        assert all(change["interval"] == [0, 0] for change in found["differences"])

    def test_two_with_typos(self, evaluate, models):
        found = evaluate(*models[:2], "--typos", 2, "--bootstrap", 20, "--json")
        assert [part["name"] for part in found["differences_typos"]] == ROWS
        assert all("typos" in part for part in found["models"])
        text = evaluate(*models[:2], "--typos", 2, "--bootstrap", 20)
        assert "with typos" in text and "change by typos" in text
        assert text.count("STS2013.FNWN") == 3

    def test_three(self, evaluate, models):
        found = evaluate(*models, "--json")
        assert set(found) == {"models"} and len(found["models"]) == 3
        assert found["models"][0]["details"][0]["interval"] is None
        text = evaluate(*models)
        assert "m2" in text and "difference" not in text

    def test_models_of_the_same_name(self, evaluate, models):
        text = evaluate(models[0], models[0], "--bootstrap", 0)
        assert "95 %" not in text
        assert "m0" in text


class TestTfidf:
    def test_beside_a_model(self, evaluate, models):
        found = evaluate(models[0], "--baseline", "tfidf", "--typos", 1, "--json")
        assert [part["model"] for part in found["models"]] == [str(models[0]), "tfidf"]
        assert found["models"][0] == evaluate(models[0], "--typos", 1, "--json")
        assert found["differences"] and found["differences_typos"]
        assert "tfidf" in evaluate(models[0], "--baseline", "tfidf")

    def test_sets_are_fitted_one_by_one(self, evaluate, folder):
        both = evaluate("--baseline", "tfidf", "--json")["scores"]
        alone = evaluate("--baseline", "tfidf", "--json", place=folder / "2013.FNWN.tsv")
        assert alone["scores"]["STS2013.FNWN"] == both["STS2013.FNWN"]


@pytest.mark.parametrize("flag", ["--typos", "--bootstrap", "--seed"])
def test_negative_numbers(evaluate, models, flag):
    message = evaluate(models[0], flag, -1, status=1)
    assert f"`{flag[2:]}` must not be negative. Received: {flag[2:]}=-1" in message


def test_no_model(folder, capsys):
    assert call("evaluate", "--eval-data", folder) == 2
    assert "error: the following arguments are required: model" in capsys.readouterr().err
