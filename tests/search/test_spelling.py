"""Tests of spelling correction, and of `charagram search --spelling`."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.commands import call
from tests.reference import spelling as reference
from tests.search.conftest import WORDS
from tf_charagram.errors import ConfigError
from tf_charagram.models._answers.vectors import nearest
from tf_charagram.search._pairs.spelling import (
    MAX_EDITS,
    CorrectionWeights,
    SpellingCorrector,
    candidate_features,
    edit_shares,
    ordered,
    read_words,
)
from tf_charagram.search.texts import NUM_OFFERED, read_vocabulary

SHORT = st.text("abc", max_size=14)


@settings(max_examples=300)
@given(SHORT, st.lists(SHORT, min_size=1, max_size=5))
def test_edit_shares_equal_reference(word, others):
    distances = [reference.osa_distance(word, other) for other in others]
    expected = [
        distance / max(len(word), len(other), 1) if distance <= MAX_EDITS else 1
        for distance, other in zip(distances, others, strict=True)
    ]
    np.testing.assert_allclose(edit_shares(word, others), expected)


def test_edit_shares_of_odd_words():
    assert edit_shares("x", ["ab" * 10_000, "teh"]).tolist() == [1, 1]
    assert edit_shares("", ["", "a"]).tolist() == [0, 1]
    assert edit_shares("a\0", ["a", "\0a", "\ud800"]).tolist() == [1 / 2, 1 / 2, 1]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("own", [-1, 3])
def test_nearest_equals_sorting(seed, own):
    cosines = np.random.default_rng(seed).integers(0, 4, 20).astype(np.float32)
    order = [position for position in np.argsort(-cosines, kind="stable") if position != own]
    for k in (1, 7, 20, 50):
        assert nearest(cosines, k, own).tolist() == order[:k]


def test_features_and_order_by_hand():
    """`teh` is one swap from `the`, and two edits from `oh`, which starts with another letter."""
    cosines = np.array([0.5, 0.75])
    features = candidate_features("teh", np.array([1, 0]), cosines, ["the", "oh"])
    expected = [[0.75, 2 / 3, np.log(2), 1, 0], [0.5, 1 / 3, 0, 0, 1]]
    np.testing.assert_allclose(features, expected)
    order, probabilities = ordered(features, CorrectionWeights(4, -3, 0, 0, 0))
    assert order.tolist() == [0, 1]
    np.testing.assert_allclose(probabilities, [0.5, 0.5])
    assert ordered(features, CorrectionWeights(0, 0, 0, 0, 1))[0].tolist() == [1, 0]


def test_correct(embedder):
    corrector = SpellingCorrector(embedder, [*WORDS, "Cat", " dog ", "", "DOG"])
    assert corrector.words == list(WORDS)
    corrections = corrector.correct("Hosre", k=3)
    assert corrections[0].word == "horse"
    probabilities = [correction.probability for correction in corrector.correct("hosre", k=99)]
    assert len(probabilities) == len(WORDS) and sum(probabilities) == pytest.approx(1)
    assert probabilities == sorted(probabilities, reverse=True)
    assert "horse" not in {word for word, _ in corrector.correct("HORSE", k=99)}
    for word in ("", "c", "x" * 1_000_000):
        assert len(corrector.correct(word)) == len(WORDS)
    with pytest.raises(ConfigError, match=r"`k` must be at least 1\. Received: k=0"):
        corrector.correct("cat", k=0)
    with pytest.raises(ConfigError, match="no words to choose corrections from"):
        SpellingCorrector(embedder, [" "])
    assert SpellingCorrector(embedder, ["cat"]).correct("cat") == []
    assert corrector.correct(b"hosre") == corrector.correct("hosre")
    with pytest.raises(ConfigError, match=r"`words` must be a list of texts.* single string"):
        SpellingCorrector(embedder, "cat")


def test_command(model, tmp_path, capsys):
    path = tmp_path / "words.txt"
    lines = (f"{word} \t{len(word)}\n" for word in WORDS)
    path.write_bytes("".join(lines).encode() + b"\xff\n")
    arguments = ["search", path, "--model", model, "--spelling"]
    assert call(*arguments, "hosre", "byrdd", "--k", 2, "--json") == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [record["query"] for record in records] == ["hosre", "byrdd"]
    assert [record["hits"][0]["text"] for record in records] == ["horse", "byrd"]
    assert [record["hits"][0]["row"] for record in records] == [4, 7]
    # Others are so improbable that they would be shown as 0.000.
    scores = [hit["score"] for record in records for hit in record["hits"]]
    assert min(scores) >= 0.0005 and len(scores) < 4
    assert call(*arguments, "hosre", "--threshold", 1, "--json") == 0
    assert json.loads(capsys.readouterr().out)["hits"] == []
    assert call(*arguments, "hosre", "--k", 1) == 0
    _, _, value, word = capsys.readouterr().out.splitlines()[1].split(",")
    assert word == "horse"
    assert float(value) == pytest.approx(records[0]["hits"][0]["score"], abs=6e-4)


def test_command_errors(model, tmp_path, capsys):
    empty = tmp_path / "empty"
    empty.write_text("\n")
    errors = {
        "--save does not go with --spelling, which takes a list of": (
            model,
            "--save",
            tmp_path / "index",
        ),
        "There are no words to choose corrections from": (empty, "--model", model),
        f"name a file with `search FILE --spelling --model {model}`.": (model,),
    }
    for message, arguments in errors.items():
        assert call("search", *arguments, "--spelling", "teh") == 1
        assert message in capsys.readouterr().err


def test_rare_words_are_corrections_but_not_offered():
    words = read_words(None, "english")
    assert read_vocabulary(None, "english") == words[:NUM_OFFERED]
    assert "ves" in words[NUM_OFFERED:]
