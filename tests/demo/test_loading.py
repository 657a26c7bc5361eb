"""Which models the page can show."""

from __future__ import annotations

import numpy as np
import pytest

from tests.models.answers import parts
from tf_charagram.demo.loading import load_embedder
from tf_charagram.errors import ConfigError
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.tasks.pairs.head import PairScoreHead
from tf_charagram.tasks.pairs.models import PairScorer
from tf_charagram.tasks.tagging.head import TaggingHead
from tf_charagram.tasks.tagging.tagger import Tagger


def test_embedders_and_the_encoders_of_pair_models(tmp_path):
    vectorizer, encoder = parts()
    embedder = TextEmbedder(vectorizer, encoder)
    embedder.save(tmp_path / "embedder")
    PairScorer(vectorizer, encoder, PairScoreHead(dim=6, num_classes=4)).save(tmp_path / "scorer")
    expected = embedder.encode(["a cat"])
    for name in ("embedder", "scorer"):
        found = load_embedder(str(tmp_path / name)).encode(["a cat"])
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_tagger_has_no_vector_of_a_text(tmp_path):
    head = TaggingHead(labels=["no", "yes"], word_dim=6, lstm_dim=4, hidden_dim=5)
    Tagger(*parts(), head).save(tmp_path)
    message = "`model` must have one vector per text: .* Received: .*, a tagger"
    with pytest.raises(ConfigError, match=message):
        load_embedder(str(tmp_path))
