"""Vectors of texts, each computed once."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.models.answers import parts
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.training.features import cached_vectors


@pytest.mark.parametrize("encoder", ["charagram", "cse"])
def test_each_distinct_text_once(encoder, monkeypatch):
    embedder = TextEmbedder(*parts(encoder))
    texts = ["a cat", "", "a dog sat", "a cat", "", "unseen", "a cat"]
    expected = embedder.encode(texts)
    seen, encode = [], TextEmbedder.encode
    monkeypatch.setattr(
        TextEmbedder, "encode",
        lambda self, texts, **settings: encode(self, seen.extend(texts) or texts, **settings),
    )  # fmt: skip
    vectors, rows = cached_vectors(embedder, iter(texts), batch_size=2)
    assert seen == ["a cat", "", "a dog sat", "unseen"]
    assert (vectors.shape, vectors.dtype, rows.dtype) == ((4, 6), np.float32, np.int64)
    assert_array_equal(rows, [0, 1, 2, 0, 1, 3, 0])
    assert_allclose(vectors[rows], expected, rtol=1e-5, atol=1e-6)


def test_no_texts():
    vectors, rows = cached_vectors(TextEmbedder(*parts()), [])
    assert vectors.shape == (0, 6) and rows.shape == (0,)
