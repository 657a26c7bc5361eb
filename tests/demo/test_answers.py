"""Tests of the answers of the demo: neighbors, typos and explanations."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.demo.conftest import TEXTS, as_reader
from tests.models.answers import parts, randomized
from tests.texts import NASTY
from tf_charagram.data.typos import add_typos
from tf_charagram.demo.answers import MAX_EDITS, Answers, embedder_of, example
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.tasks.labels._heads.heads import PairScoreHead
from tf_charagram.tasks.labels.models import PairScorer
from tf_charagram.tasks.tagging.head import TaggingHead
from tf_charagram.tasks.tagging.model import Tagger
from tf_charagram.text.vectorizer import NgramVectorizer

NASTY_TEXTS = [text for text in NASTY.values() if isinstance(text, str)]


@pytest.mark.parametrize(
    "query", ["cats", "a dog sat", "", "\U0001f408", "\u05e9\u05dc", "\0", "\ud800"]
)
def test_neighbors_are_those_of_the_embedder(answers, embedder, query):
    found = answers.neighbors(query, 0, 0)
    expected = [n for n in embedder.neighbors(query, TEXTS, k=len(TEXTS)) if n.text != query]
    cosines = [n["cosine"] for n in found["neighbors"]]
    np.testing.assert_allclose(cosines, [n.cosine for n in expected[:10]], atol=1e-5)
    # Texts with the same cosine up to rounding are in any order.
    cosine_of = {n.text: n.cosine for n in expected}
    of_texts = [cosine_of[n["text"]] for n in found["neighbors"]]
    np.testing.assert_allclose(cosines, of_texts, atol=1e-5)
    assert found["typed"] == query and found["num_stay"] == 10
    assert all(n["stays"] for n in found["neighbors"])


def test_typos(answers, embedder):
    text = "the cattle were sitting between"
    for edits in range(MAX_EDITS + 1):
        found = answers.neighbors(text, edits, 7)
        assert found["typed"] == add_typos(text, edits, np.random.default_rng(7))
        assert found == answers.neighbors(text, edits, 7)
        (cosine,) = embedder.similarity([text], [found["typed"]])
        assert found["cosine"] == pytest.approx(cosine, abs=1e-5)
    assert answers.neighbors(text, 5, 8)["typed"] != found["typed"]


def test_neighbors_that_stay(answers):
    """The text itself, as a neighbor of the misspelled one, counts as one that stays."""
    near = {n["text"] for n in answers.neighbors("some cats", 0, 0)["neighbors"]}
    nums = []
    for seed in range(9):
        found = answers.neighbors("some cats", 2, seed)
        names = [n["text"] for n in found["neighbors"]]
        stays = [name in near or name == "some cats" for name in names]
        assert [n["stays"] for n in found["neighbors"]] == stays
        nums.append(found["num_stay"])
        assert nums[-1] == sum(stays)
    assert min(nums) < 10


def test_long_texts_are_truncated(answers):
    text = "cat " * 250_000
    found = answers.neighbors(text, 3, 0)
    assert found["is_cut"] and len(found["typed"]) <= answers.max_chars + 3
    cut = answers.neighbors(text[: answers.max_chars], 3, 0)
    assert not cut["is_cut"] and {**cut, "is_cut": True} == found
    assert answers.compare(text, text, 0, 0)["explanation"] is None
    assert answers.compare("cat", "dog" * 67, 0, 0)["explanation"] is None
    assert answers.compare("cat", "dog" * 66, 0, 0)["explanation"] is not None


def hashed():
    vectorizer = NgramVectorizer(orders=[1, 3], hash_buckets=50, rows_per_ngram=2)
    return vectorizer, randomized(Charagram(num_rows=50, dim=6, num_layers=2, activation="relu"))


@pytest.mark.parametrize("make", [parts, hashed])
def test_shares_sum_to_the_cosine(make, tmp_path):
    embedder = TextEmbedder(*make())
    answers = Answers(as_reader(embedder, tmp_path), TEXTS, "x")
    nasty = [(text, "the cat") for text in NASTY_TEXTS if make is parts]
    for left, right in [("a cat sat sat", "Some  CATS"), ("", "cat"), *nasty]:
        found = answers.compare(left, right, 0, 0)
        if found["explanation"] is None:
            assert len(left) > 200
            continue
        assert found["cosine"] == pytest.approx(embedder.similarity([left], [right])[0], abs=1e-4)
        for side in ("left", "right"):
            part = found["explanation"][side]
            assert len(part["text"]) == len(part["shares"])
            total = sum(part["shares"]) + part["bias"]
            assert total == pytest.approx(found["cosine"], abs=1e-4)
        json.dumps(found, allow_nan=False)


def test_shares_are_where_the_ngrams_are(tmp_path):
    """The only common n-gram, ` c`, is at the start of both texts."""
    vectorizer = NgramVectorizer.from_texts(["cat", "cot"], orders=[2])
    embedder = TextEmbedder(vectorizer, Charagram(num_rows=vectorizer.num_rows, dim=9))
    rows = np.eye(9)[: vectorizer.num_rows]
    embedder.encoder.sum.table.assign(rows)
    found = Answers(as_reader(embedder, tmp_path), TEXTS, "x").explained("CAT", "cow")
    # ` c` is one of 4 and one of 2 known n-grams: 1 / (sqrt(4) sqrt(1)).
    assert found["left"]["text"] == " cat " and found["right"]["text"] == " co\ufffd "
    half = 0.5 / np.sqrt(4 * 2)
    np.testing.assert_allclose(found["left"]["shares"], [half, half, 0, 0, 0], atol=1e-6)
    np.testing.assert_allclose(found["right"]["shares"], [half, half, 0, 0, 0], atol=1e-6)
    assert found["pairs"][0][:2] == (" c", " c")


def test_typos_in_the_left_text(answers, embedder):
    found = answers.compare("between", "cattle", 2, 3)
    typed = add_typos("between", 2, np.random.default_rng(3))
    assert found["typed"] == typed
    assert found["explanation"] == answers.explained(typed, "cattle")
    cosines = embedder.similarity([typed, "between"], ["cattle", "cattle"])
    np.testing.assert_allclose([found["cosine"], found["clean_cosine"]], cosines, atol=1e-5)


@pytest.mark.parametrize("reads", [True, False])
def test_a_model_that_explains_nothing(embedder, reads, tmp_path):
    folded = embedder.folded()
    answers = Answers(as_reader(folded, tmp_path) if reads else folded, TEXTS, "x")
    assert not answers.about()["can_explain"]
    found = answers.compare("a cat", "a dog", 0, 0)
    assert found["explanation"] is None and -1 <= found["cosine"] <= 1
    assert len(answers.neighbors("a cat", 0, 0)["neighbors"]) == 10


def test_few_texts(embedder):
    answers = Answers(embedder, ["cat", "dog"], "x")
    assert [n["text"] for n in answers.neighbors("cat", 0, 0)["neighbors"]] == ["dog"]
    with pytest.raises(ConfigError, match="There is no text to search"):
        Answers(embedder, [], "x")


@pytest.mark.parametrize("edits", [-1, MAX_EDITS + 1])
def test_errors(answers, edits):
    with pytest.raises(ConfigError, match=rf"`edits` must be in \[0, 5\]. Received: edits={edits}"):
        answers.neighbors("cat", edits, 0)
    with pytest.raises(ConfigError, match=r"`seed` must not be negative. Received: seed=-1"):
        answers.compare("cat", "dog", 0, -1)


def test_example():
    mistyped = add_typos("american", 1, np.random.default_rng(0))
    assert example(["of", "12345678", "american"]) == {
        "query": mistyped, "left": mistyped, "right": "american",
    }  # fmt: skip
    assert example(["a", "b"]) == {"query": "a", "left": "a", "right": "b"}
    assert example(["a"]) == {"query": "a", "left": "a", "right": "a"}


def test_about(answers):
    assert answers.about() == {
        "name": "tiny", "dim": 6, "num_texts": len(TEXTS), "can_explain": True,
        "max_chars": 10_000, "max_explained_chars": 200, "max_edits": 5, "example": example(TEXTS),
    }  # fmt: skip


def test_encoders_of_pair_models(tmp_path):
    vectorizer, encoder = parts()
    embedder = TextEmbedder(vectorizer, encoder)
    embedder.save(tmp_path / "embedder")
    PairScorer(vectorizer, encoder, PairScoreHead(dim=6, num_classes=4)).save(tmp_path / "scorer")
    expected = embedder.encode(["a cat"])
    for name in ("embedder", "scorer"):
        found = embedder_of(str(tmp_path / name)).encode(["a cat"])
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_taggers_are_refused(tmp_path):
    head = TaggingHead(labels=["no", "yes"], word_dim=6, lstm_dim=4, hidden_dim=5)
    Tagger(*parts(), head).save(tmp_path)
    message = "`model` must have one vector per text: .* Received: .*, a tagger"
    with pytest.raises(ConfigError, match=message):
        embedder_of(str(tmp_path))
