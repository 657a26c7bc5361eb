"""Fixtures: two small models, and texts in similar groups."""

from __future__ import annotations

import pytest


def save_model(folder, seed):
    """Saves a model; skips the test where there is no TensorFlow."""
    pytest.importorskip("tensorflow")
    from tf_charagram.encoders.charagram import Charagram
    from tf_charagram.models.embedder import TextEmbedder
    from tf_charagram.text.vectorizer import NgramVectorizer

    vectorizer = NgramVectorizer.from_texts([f"{word} {n}" for word in WORDS for n in range(100)])
    TextEmbedder(vectorizer, Charagram(num_rows=vectorizer.num_rows, dim=12, seed=seed)).save(
        folder
    )
    return folder


WORDS = ("cat", "catalogue", "dog", "doggedly", "horse", "hoarse", "bird", "byrd")
TEXTS = [f"{word} {number}" for word in WORDS for number in range(50)]


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """Returns a model folder."""
    return save_model(tmp_path_factory.mktemp("search") / "model", seed=1)


@pytest.fixture(scope="session")
def other_model(tmp_path_factory):
    """Returns the folder of a model with other weights."""
    return save_model(tmp_path_factory.mktemp("search") / "other", seed=2)


@pytest.fixture(scope="session")
def embedder(model):
    from tf_charagram.models.embedder import TextEmbedder

    return TextEmbedder.load(model)
