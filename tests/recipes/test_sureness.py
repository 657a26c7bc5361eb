"""The script that fits how sure readings are."""

from __future__ import annotations

import sys

import numpy as np

from recipes import sureness
from tests.models.answers import randomized
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text._spelling.sureness import NUM_ERRORS, NUM_WEIGHTS
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary


def test_regression_finds_the_weights():
    random = np.random.default_rng(0)
    features = random.normal(size=(20_000, 3)) * [1, 10, 0.1]
    expected = np.array([1.0, -0.2, 5.0])
    is_meant = random.random(20_000) < 1 / (1 + np.exp(-features @ expected))
    weights = random.random(20_000)
    found = sureness.fitted(features, is_meant, weights)
    np.testing.assert_allclose(found, expected, rtol=0.1)


def test_frequent_words_are_surer(tmp_path, monkeypatch):
    letters = "bcdfghklmnprst"
    words = [f"{a}a{b}e{c}" for a in letters for b in letters for c in letters[:5]]
    counts = {word: 1 + 1000 * (place % 50 == 0) for place, word in enumerate(words)}
    frequent = [word for word in words if counts[word] > 1]
    ngrams = NgramVocabulary.from_texts(words)
    vectorizer = NgramVectorizer(vocabulary=ngrams, dictionary=Dictionary(counts))
    encoder = randomized(Charagram(num_rows=vectorizer.num_rows, dim=2))
    TextEmbedder(vectorizer, encoder).save(tmp_path / "model")
    (tmp_path / "texts.txt").write_text("".join(f"{' '.join(frequent)}\n" for _ in range(9)))
    (tmp_path / "wrong.tsv").write_text("".join(f"{word}s\t{word}\n" for word in frequent))
    (tmp_path / "heads.tsv").write_text("".join(f"{word[::-1]}\tgloss\n" for word in words))
    files = {"misspellings": "wrong.tsv", "headwords": "heads.tsv", "texts": "texts.txt"}
    flags = []
    for name, file in files.items():
        flags += [f"--{name}", str(tmp_path / file)]
    out = tmp_path / "sureness.txt"
    monkeypatch.setattr(sys, "argv", ["sureness.py", str(tmp_path / "model"), str(out), *flags])
    sureness.main()
    weights = np.loadtxt(out, np.int32)
    assert weights.shape == (NUM_WEIGHTS,)
    assert weights[NUM_ERRORS] > 0
