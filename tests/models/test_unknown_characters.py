"""Models with vectors for characters that their alphabet lacks, in every form."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.testing import assert_allclose, assert_array_equal

from tests.models.answers import randomized
from tf_charagram.encoders.averaging import WordAverage
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError
from tf_charagram.export._compression.options import ShrinkOptions
from tf_charagram.export._compression.shrinking import fitting_options, saved_model_bytes, shrink
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary
from tf_charagram.text.words import WordVectorizer

TEXTS = [
    "the toyota", "Toyota \u30d7\u30ea\u30a6\u30b9", "toyota \u30e4\u30ea\u30b9", "\u65e5\u672c",
    "", "\uff34oyota \U0001f600", "tyoota",
]  # fmt: skip


@pytest.fixture(scope="module")
def embedder():
    vectorizer = NgramVectorizer(
        vocabulary=NgramVocabulary.from_texts(["the toyota", "a cat sat"]),
        dictionary=Dictionary({"toyota": 5}),
        fold_characters=True,
        unknown_rows=40,
    )
    encoder = randomized(Charagram(num_rows=vectorizer.num_rows, dim=6, activation="linear"))
    return TextEmbedder(vectorizer, encoder)


@pytest.mark.long
def test_saved_and_loaded(embedder, tmp_path):
    vectors = embedder.encode(TEXTS)
    assert len(np.unique(vectors[:-1], axis=0)) == len(TEXTS) - 1
    embedder.save(tmp_path / "model")
    assert_array_equal(TextEmbedder.load(tmp_path / "model").encode(TEXTS), vectors)
    folded = TextEmbedder.load(tmp_path / "model", folded=True)
    assert folded.vectorizer.longest_only
    assert_allclose(folded.encode(TEXTS), vectors, rtol=1e-5, atol=1e-6)
    embedder.save(tmp_path / "small", table_dtype="int4")
    small = TextEmbedder.load(tmp_path / "small")
    assert_allclose(small.encode(TEXTS), vectors, atol=0.5 * np.abs(vectors).max())
    inputs = keras.Input((), dtype="string")
    keras.Model(inputs, embedder(inputs)).save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert_array_equal(loaded(tf.constant(TEXTS)), vectors)


def test_exported(embedder, tmp_path):
    embedder.export(tmp_path / "served")
    served = tf.saved_model.load(tmp_path / "served").signatures["serving_default"]
    for texts in (TEXTS, TEXTS[:1], TEXTS[3:4]):
        found = served(texts=tf.constant(texts))["embedding"]
        assert_allclose(found, embedder.encode(texts), rtol=1e-5, atol=1e-6)


def test_explained(embedder):
    explanation = embedder.explain(TEXTS[1], TEXTS[2])
    assert {"\u30d5", "\u30d5\u309a", "\u309a", "\u309a\u30ea"} < {*explanation.left}
    left, right = embedder.encode(TEXTS[1:3])
    cosine = left @ right / np.linalg.norm(left) / np.linalg.norm(right)
    assert explanation.cosine == pytest.approx(cosine, rel=1e-5)


def test_made_smaller(embedder):
    options = ShrinkOptions(max_ngrams=10, dim=4, dtype="int8")
    vectorizer, encoder = shrink(*embedder.parts, options)
    assert (vectorizer.num_rows, len(vectorizer.vocabulary)) == (50, 10)
    smaller = TextEmbedder(vectorizer, encoder).encode(TEXTS)
    # All of the 40 rows are left, in fewer dimensions.
    same_text = embedder.encode(TEXTS)[3] - embedder.encode([""])[0]
    projected = smaller[3] - smaller[4]
    assert 0.5 < np.linalg.norm(projected) / np.linalg.norm(same_text) < 1.01


@pytest.mark.long
def test_a_model_that_fits_keeps_its_ngrams(embedder):
    max_mb = 2e-6 * saved_model_bytes(*embedder.parts)
    assert fitting_options(*embedder.parts, max_mb).max_ngrams is None


def test_known_share(embedder):
    expected = [1, 6 / 11, 6 / 9, 0, 1, 6 / 7, 1]
    assert_allclose(embedder.known_share(TEXTS), expected, rtol=1e-6)
    assert embedder.known_share([]).shape == (0,)
    words = WordVectorizer(words=["cat"])
    with pytest.raises(ConfigError, match="`known_share` needs a model of n-grams"):
        TextEmbedder(words, WordAverage(num_rows=words.num_rows, dim=3)).known_share(["cat"])
