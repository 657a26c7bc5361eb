"""`charagram evaluate --misspellings`: all methods, words left out, and flags that do not fit."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.commands import call
from tests.reference import spelling as reference
from tests.texts import words
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.vectorizer import NgramVectorizer

VOCABULARY = words(120)
# Two letters are swapped; one wrong form is itself a word.
LIST = [(f"{word[1]}{word[0]}{word[2:]}", word) for word in VOCABULARY[40:80]]
LIST += [(VOCABULARY[0], VOCABULARY[1]), ("strange", "stranger"), (VOCABULARY[2], VOCABULARY[2])]
VECTORS, CORRECTED = "vectors", "vectors, edit distance, frequency"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Returns the folders of two models that were not trained."""
    folder = tmp_path_factory.mktemp("models")
    vectorizer = NgramVectorizer.from_texts(VOCABULARY)
    for seed in range(2):
        encoder = Charagram(num_rows=vectorizer.num_rows, dim=16, seed=seed)
        TextEmbedder(vectorizer, encoder).save(folder / f"m{seed}")
    return [folder / f"m{seed}" for seed in range(2)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Returns the list of misspellings, and the vocabulary with counts and a word that is twice."""
    folder = tmp_path_factory.mktemp("lists")
    misspellings, vocabulary = folder / "list.tsv", folder / "words.txt"
    misspellings.write_text("".join(f"{a}\t{b.title()}\n" for a, b in LIST), encoding="utf-8")
    lines = [f"{word}\t{9}\n" for word in [*VOCABULARY, VOCABULARY[3].upper()]]
    vocabulary.write_text("".join(lines), encoding="utf-8")
    return misspellings, vocabulary


@pytest.fixture
def evaluate(files, capsys):
    """Returns a function that runs the command and returns its output."""

    def run(*arguments, misspellings=files[0], vocabulary=files[1], status=0):
        flags = ["--misspellings", misspellings, "--vocabulary", vocabulary, "--bootstrap", 20]
        assert call("evaluate", *arguments, *flags) == status
        streams = capsys.readouterr()
        if status:
            return streams.err
        return json.loads(streams.out) if "--json" in arguments else streams.out

    return run


def test_one_model(evaluate, models):
    result = evaluate(models[0], "--json")
    assert result["models"] == [str(models[0])]
    counts = {"num_words": 120, "num_queries": 41, "num_left_out": 2}
    assert {name: result[name] for name in counts} == counts
    details = {part["method"]: part for part in result["details"]}
    assert list(details)[:2] == [VECTORS, CORRECTED]
    assert details[VECTORS]["recall_at_1"] < details[CORRECTED]["recall_at_1"]
    assert details[VECTORS]["recall_at_50"] <= details[CORRECTED]["recall_at_50"]
    for part in details.values():
        low, high = part["intervals"]["recall_at_10"]
        assert low <= part["recall_at_10"] <= high
    assert result["scores"] == {name: part["recall_at_1"] for name, part in details.items()}
    text = evaluate(models[0])
    assert f"{details[VECTORS]['recall_at_10']:.2f}" in text
    for note in (
        "Recall x 100 of the right form among 120 words",
        "Of equal answers the more frequent word comes first.",
        "Left out, because no right form is in the vocabulary: 2.",
    ):
        assert note in " ".join(text.split())


def test_vectors_equal_exact_search(evaluate, models):
    embedder = TextEmbedder.load(models[0])
    ranks = []
    for wrong, right in LIST[:41]:
        answers = embedder.neighbors(wrong, VOCABULARY, len(VOCABULARY))
        ranks.append([found.text for found in answers if found.text != wrong].index(right))
    found = evaluate(models[0], "--json")["scores"][VECTORS]
    assert found == pytest.approx(reference.recall(ranks, 1))


def test_edit_distance_equals_reference(evaluate, models):
    scores = evaluate(models[0], "--json")["scores"]
    ranks = [
        reference.rank(
            [-reference.osa_distance(wrong, word) for word in VOCABULARY],
            {VOCABULARY.index(right)},
            VOCABULARY.index(wrong) if wrong in VOCABULARY else -1,
        )
        for wrong, right in LIST[:41]
    ]
    assert scores["edit distance"] == pytest.approx(reference.recall(ranks, 1))


def test_two_models(evaluate, models):
    scores = evaluate(*models, "--json")["scores"]
    names = [f"{model}: {name}" for model in ("m0", "m1") for name in (VECTORS, CORRECTED)]
    assert list(scores)[:4] == names
    assert scores[f"m0: {VECTORS}"] == evaluate(models[0], "--json")["scores"][VECTORS]


def test_huge_and_short_words(evaluate, models, tmp_path):
    """Edits of 255 and more are all the same; a list may have any words."""
    path = tmp_path / "odd.tsv"
    path.write_text(f"{'x' * 1_000_000}\tb\nc\tb\n", encoding="utf-8")
    vocabulary = tmp_path / "odd.txt"
    vocabulary.write_bytes(b"a\nb\nb\n" + b"y" * 1_000_000 + b"\n\xff\n")
    result = evaluate(models[0], "--json", misspellings=path, vocabulary=vocabulary)
    assert (result["num_words"], result["num_queries"]) == (4, 2)
    for part in result["details"]:
        assert part["recall_at_10"] == 100


def test_bad_lists(evaluate, models, files, tmp_path):
    (tmp_path / "empty").write_text("")
    (tmp_path / "bad").write_text("a\tb\nc\n")
    (tmp_path / "unknown").write_text("a\tb\n")
    message = evaluate(models[0], misspellings=tmp_path / "empty", status=1)
    assert "empty: no misspellings found: the file is empty" in message
    message = evaluate(models[0], misspellings=tmp_path / "bad", status=1)
    assert "bad:2: expected a wrong and a right form by a tab" in message
    message = evaluate(models[0], misspellings=tmp_path / "unknown", status=1)
    assert "unknown: none of the right forms is among the 120 words" in message
    message = evaluate(models[0], vocabulary=tmp_path / "empty", status=1)
    assert "There are no words in the vocabulary." in message
    message = evaluate(models[0], vocabulary=tmp_path / "nothing", status=1)
    assert "nothing: cannot be read: No such file" in message


def test_flags_that_do_not_go_together(models, files, tmp_path, capsys):
    def error(*arguments):
        assert call("evaluate", *arguments) == 1
        return capsys.readouterr().err

    lists = [models[0], "--misspellings", files[0]]
    assert "--typos does not go with --misspellings. Leave it out." in error(*lists, "--typos", 1)
    assert "--eval-data does not go with" in error(*lists, "--eval-data", tmp_path)
    assert "--vocabulary is for --misspellings" in error(models[0], "--vocabulary", files[1])
    assert "has no texts.txt: name a file with --vocabulary." in error(*lists)
    shutil.copytree(models[0], tmp_path / "tagger")
    config = json.loads((tmp_path / "tagger" / "config.json").read_text(encoding="utf-8"))
    (tmp_path / "tagger" / "config.json").write_text(json.dumps({**config, "kind": "tagger"}))
    message = error(tmp_path / "tagger", *lists[1:], "--vocabulary", files[1])
    assert "a model of the kind 'tagger'. Expected: 'embedder'" in message
