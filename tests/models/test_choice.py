"""The reader embeds few texts and TensorFlow many, with the same results."""

from __future__ import annotations

import numpy as np
import pytest

from tests.texts import words
from tf_charagram.encoders.averaging import WordAverage
from tf_charagram.errors import ConfigError
from tf_charagram.models._storage import choice
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.models.text_reader import TextReader
from tf_charagram.search import TextIndex
from tf_charagram.text.words import WordVectorizer


def without_tensorflow(monkeypatch):
    monkeypatch.setattr(choice, "find_spec", lambda name: None)
    monkeypatch.setattr("tf_charagram._common.lazy.find_spec", lambda name: None)


def test_few_and_many_texts(monkeypatch):
    few, many = choice.MANY_CHARS - 1, choice.MANY_CHARS
    assert isinstance(choice.load_embedder("english", few), TextReader)
    assert isinstance(choice.load_embedder("english", many), TextEmbedder)
    without_tensorflow(monkeypatch)
    assert isinstance(choice.load_embedder("english", many), TextReader)


def test_other_encoders_need_tensorflow(monkeypatch, tmp_path):
    vectorizer = WordVectorizer.from_texts(["a cat"])
    TextEmbedder(vectorizer, WordAverage(num_rows=vectorizer.num_rows, dim=2)).save(tmp_path)
    assert isinstance(choice.load_embedder(tmp_path, 0), TextEmbedder)
    without_tensorflow(monkeypatch)
    with pytest.raises(ConfigError, match="need TensorFlow: `pip install "):
        choice.load_embedder(tmp_path, 0)


def test_texts_of_a_stream(monkeypatch):
    monkeypatch.setattr(choice, "MANY_CHARS", 7)
    stream = iter(["ab", "", "cd", "ef"])
    first = choice.first_texts(stream)
    assert first == ["ab", "", "cd"]
    assert choice.num_chars_of(first) == 7
    assert list(stream) == ["ef"]


@pytest.mark.long
def test_search_finds_the_same(monkeypatch):
    texts = [" ".join(words(3, seed=seed)) for seed in range(40)]
    queries = [text[:4] + text[5:] for text in texts]
    found = TextIndex(texts).search(queries, k=3)
    monkeypatch.setattr(choice, "MANY_CHARS", 0)
    index = TextIndex(texts)
    assert isinstance(index.scorer.embedder, TextEmbedder)
    for hits, others in zip(found, index.search(queries, k=3), strict=True):
        assert [hit.row for hit in hits] == [hit.row for hit in others]
        scores = [hit.score for hit in hits]
        np.testing.assert_allclose(scores, [hit.score for hit in others], atol=1e-6)
