"""Models of sentence-transformers as teachers, here one that is made up."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tf_charagram.errors import ConfigError
from tf_charagram.tasks.distillation.teacher import find_teacher


class Tensor(np.ndarray):
    def float(self):
        return self.astype(np.float32)

    def cpu(self):
        return self

    def numpy(self):
        return np.asarray(self)


class Model:
    """What a teacher asks of a model of sentence-transformers."""

    device = SimpleNamespace(type="cpu")

    def __init__(self, name, model_kwargs):
        if name == "missing":
            raise OSError("not a local folder\nand no name")
        assert model_kwargs == {"dtype": "bfloat16"}

    def get_sentence_embedding_dimension(self):
        return 2

    def encode(self, texts, *, batch_size, convert_to_tensor, show_progress_bar):
        assert batch_size <= 64 and convert_to_tensor and not show_progress_bar
        return np.array([[len(text), 1.0] for text in texts]).view(Tensor)


@pytest.fixture(autouse=True)
def package(monkeypatch):
    find_teacher.cache_clear()
    made_up = SimpleNamespace(SentenceTransformer=Model)
    monkeypatch.setitem(sys.modules, "sentence_transformers", made_up)
    yield
    find_teacher.cache_clear()


def test_it_embeds():
    teacher = find_teacher("sentence-transformers:owner/name")
    assert (teacher.name, teacher.dim) == ("sentence-transformers:owner/name", 2)
    vectors = teacher.encode(["a", "abc"])
    assert vectors.dtype == np.float32
    assert_array_equal(vectors, [[1, 1], [3, 1]])


def test_a_folder_without_a_model(tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(ConfigError, match=r"it has no modules\.json"):
            find_teacher(f"sentence-transformers:{folder}")


def test_another_model_in_the_same_folder_has_another_name(tmp_path):
    (tmp_path / "modules.json").write_text("[]")
    spec = f"sentence-transformers:{tmp_path}"
    names = []
    for weights in ("old", "new", "old"):
        (tmp_path / "weights").write_text(weights)
        find_teacher.cache_clear()
        names.append(find_teacher(spec).name)
    assert names[0] == names[2] != names[1]
    assert names[0].startswith(spec)


def test_an_unknown_name():
    with pytest.raises(ConfigError, match="'missing' cannot be loaded: not a local folder and no"):
        find_teacher("sentence-transformers:missing")


@pytest.mark.parametrize("spec", ["name", "sentence-transformers:", "vectors.txt"])
def test_neither_file_nor_teacher(spec):
    with pytest.raises(ConfigError, match=r"must be a file \.npy or \.parquet, or sentence"):
        find_teacher(spec)


def test_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ConfigError, match=r"pip install 'tf-charagram\[teacher\]'"):
        find_teacher("sentence-transformers:owner/other")
