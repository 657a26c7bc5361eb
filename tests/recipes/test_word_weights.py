"""Weights of the words of a dictionary."""

from __future__ import annotations

import numpy as np
import pytest

from recipes.word_weights import main, weights_of
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text.vectorizer import NgramVectorizer


def test_rare_words_numbers_and_negations_count_more():
    words = ["the", "cat", "not", "two", "moped"]
    weights = weights_of(words, np.array([20.0, 19, 19, 19, 1]))
    total = np.log2(2**20 + 3 * 2**19 + 2)
    # "the" has 1.3 bits, and counts as if it had 3.
    assert weights["the"] == pytest.approx(0.8 * 0.3**0.3)
    assert weights["cat"] == pytest.approx(0.3**0.3)
    assert weights["not"] == pytest.approx(1.6 * weights["cat"])
    assert weights["two"] == pytest.approx(1.4 * weights["cat"])
    assert weights["moped"] == pytest.approx(((total - 1) / 10) ** 0.3)
    assert weights["*"] == pytest.approx(2.4**0.3)


def test_file(tmp_path, capsys):
    vectorizer = NgramVectorizer(hash_buckets=9, dictionary=Dictionary({"cat": 8, "dog": 2}))
    encoder = Charagram(num_rows=9, dim=2)
    TextEmbedder(vectorizer, encoder).save(tmp_path / "model")
    assert main([str(tmp_path / "model"), str(tmp_path / "weights.tsv")]) == 0
    lines = (tmp_path / "weights.tsv").read_text().splitlines()
    assert lines == ["cat\t0.6968", "dog\t0.6968", "*\t1.3004"]
    TextEmbedder(vectorizer.with_parts(None, None), encoder).save(tmp_path / "plain")
    assert main([str(tmp_path / "plain"), str(tmp_path / "none.tsv")]) == 1
    assert "plain has no dictionary." in capsys.readouterr().err
