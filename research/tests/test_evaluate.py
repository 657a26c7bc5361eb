"""`python -m research evaluate`: baselines, the papers' numbers, and single pairs."""

from __future__ import annotations

import json

import numpy as np
import pytest

from research.__main__ import main
from tests.search.conftest import save_model

WORDS = ["cat", "cats", "dog", "Dogs", "bird", "fish", "tree", "wood"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Returns a folder with two sets, word vectors, text vectors and an untrained model."""
    folder = tmp_path_factory.mktemp("baselines")
    random = np.random.default_rng(0)
    (folder / "sets").mkdir()
    stored = []
    for name in ("2012.OnWN.tsv", "2013.FNWN.tsv"):
        pairs = [[" ".join(side) for side in random.choice(WORDS, (2, 3))] for _ in range(30)]
        rows = (f"{i % 6}\t{a}\t{b}\n" for i, (a, b) in enumerate(pairs))
        (folder / "sets" / name).write_text("".join(rows))
        stored += [f"{text}\t{len(text)}\t{i}\n" for i, pair in enumerate(pairs) for text in pair]
    (folder / "stored.tsv").write_text("".join(stored))
    vectors = (" ".join([word.lower(), *map(str, random.normal(size=4))]) for word in WORDS[:-1])
    (folder / "vectors.txt").write_text("\n".join(vectors))
    (folder / "counts").write_text("cat 3\ndog 9\n")
    save_model(folder / "model", seed=1)
    return folder


@pytest.fixture
def evaluate(place, capsys, monkeypatch):
    monkeypatch.chdir(place)

    def run(*arguments, status=0):
        words = ["evaluate", *map(str, arguments), "--eval-data", "sets"]
        assert main(words) == status
        streams = capsys.readouterr()
        if status:
            return streams.err
        return json.loads(streams.out) if "--json" in arguments else streams.out

    return run


def test_a_model_next_to_a_baseline_and_the_paper(evaluate):
    arguments = ["model", "--baseline", "average:vectors.txt", "--typos", 1]
    found = evaluate(*arguments, "--json")
    model, baseline, paper = found["models"]
    assert (model["model"], baseline["model"]) == ("model", "average:vectors.txt")
    assert paper["model"] == "charagram: Charagram (2016), tables 1 and 11"
    assert paper["scores"]["STS2012.OnWN"] == 68.7
    # Charagram, table 11: 68.7 and 42.3 on the sets that are there.
    assert paper["scores"]["paper mean"] == pytest.approx((68.7 + 42.3) / 2, abs=0.01)
    ours = [model["scores"][name] for name in ("STS2012.OnWN", "STS2013.FNWN")]
    assert model["scores"]["paper mean"] == pytest.approx(np.mean(ours), abs=0.01)
    assert "paper mean" in baseline["typos"]["scores"] and "typos" not in paper
    text = evaluate(*arguments)
    assert "paper, charagram" in text and "42.30" in text
    text = evaluate(*arguments[:3])
    assert "average:vectors.txt: 1 of 8 words have no vector: wood" in text


def test_each_average_with_each_weighting(evaluate):
    arguments = ["--baseline", "average:vectors.txt", "--baseline", "vectors:stored.tsv"]
    weightings = ["--weighting", "none,sif,inverse-frequency"]
    found = evaluate(*arguments, *weightings, "--frequencies", "counts", "--json")
    average = "average:vectors.txt"
    assert [part["model"] for part in found["models"]] == [
        average, f"{average} (sif)", f"{average} (inverse-frequency)", "vectors:stored.tsv",
    ]  # fmt: skip
    scores = [part["scores"]["STS"] for part in found["models"]]
    assert len(set(scores)) == 4
    zipf = evaluate("--baseline", average, "--weighting", "sif", "--json")
    assert zipf["scores"]["STS"] != scores[1]


def test_save_pairs(evaluate, place):
    evaluate("model", "--baseline", "average:vectors.txt", "--save-pairs", "pairs.tsv")
    header, *rows = (place / "pairs.tsv").read_text().splitlines()
    assert len(rows) == 60 and "average:vectors.txt cosine" in header.split("\t")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Name a model, or a baseline with --baseline."),
        (["--baseline", "averge:x"], "Unknown baseline 'averge'. Did you mean 'average'?"),
        (["--baseline", "average"], "needs a file of word vectors: --baseline average:FILE."),
        (["--baseline", "average:none"], "none: no such file"),
        (["--baseline", "tfidf", "--weighting", "siff"], "Unknown weighting 'siff'. Did you mean"),
        (["--baseline", "vectors:counts"], "expected vectors of texts in a file"),
    ],
)
def test_errors(evaluate, arguments, message):
    assert message in evaluate(*arguments, status=1)


def test_names(capsys):
    assert main([]) == 0 and "analyze" in capsys.readouterr().out
    assert main(["paper"]) == 2
    assert "Unknown command 'paper'. Did you mean 'papers'?" in capsys.readouterr().err
