"""A model with fewer n-grams and dimensions, by least squares."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from recipes.small_model import least_squares, main, principal_components
from tests.texts import words
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text.vectorizer import NgramVectorizer


def test_rows_of_exact_sums_are_found():
    draw = np.random.default_rng(0)
    counts = sparse.csr_matrix(draw.integers(0, 3, (50, 6)).astype(np.float32))
    rows = draw.standard_normal((6, 4)).astype(np.float32)
    found = least_squares(counts, counts @ rows, ridge=0.0)
    np.testing.assert_allclose(found, rows, atol=1e-4)
    directions = principal_components(counts @ rows, 4)
    np.testing.assert_allclose(directions.T @ directions, np.eye(4), atol=1e-5)


@pytest.mark.long
def test_small_model_is_alike(tmp_path):
    names = words(60, seed=4)
    lines = [f"{left} {right}" for left, right in zip(names, names[::-1], strict=True)]
    vectorizer = NgramVectorizer.from_texts(lines, orders=(2, 3))
    dictionary = Dictionary({name: 9 for name in names if name.isalpha()})
    vectorizer = vectorizer.with_parts(vectorizer.vocabulary, dictionary)
    model = TextEmbedder(vectorizer, Charagram(num_rows=vectorizer.num_rows, dim=8, seed=1))
    model.save(tmp_path / "model")
    (tmp_path / "lines.txt").write_text("\n".join(lines))
    paths = [str(tmp_path / name) for name in ("model", "lines.txt", "small")]
    half = vectorizer.num_rows // 2
    flags = ["--max-ngrams", str(half), "--dim", "6", "--max-words", "9"]
    assert main([*paths, *flags]) == 0
    small = TextEmbedder.load(paths[2])
    assert small.dim == 6 and small.vectorizer.num_rows <= half
    assert len(small.vectorizer.dictionary) == 9
    expected = model.similarity_matrix(lines)
    found = small.similarity_matrix(lines)
    assert np.corrcoef(expected.ravel(), found.ravel())[0, 1] > 0.8
