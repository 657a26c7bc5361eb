"""The script that embeds lines with a model of sentence-transformers, here a made-up one."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
from numpy.testing import assert_array_equal

from recipes import teacher_vectors


class Model:
    def __init__(self, name, model_kwargs):
        assert name == "owner/name"

    def encode(self, texts, normalize_embeddings):
        assert normalize_embeddings
        return np.array([[len(text), 1.0] for text in texts], np.float32)


def test_a_row_for_each_line(tmp_path, monkeypatch):
    package = SimpleNamespace(SentenceTransformer=Model)
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    monkeypatch.setattr(teacher_vectors, "_CHUNK", 2)
    (tmp_path / "lines.txt").write_text("a\n\nabc\n")
    out = tmp_path / "vectors.npy"
    assert teacher_vectors.main([str(tmp_path / "lines.txt"), str(out), "--model=owner/name"]) == 0
    assert_array_equal(np.load(out), [[1, 1], [0, 1], [3, 1]])
    assert np.load(out).dtype == np.float16
