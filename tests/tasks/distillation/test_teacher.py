"""Teachers: models of sentence-transformers (a fake one), their cache, and files of vectors."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.commands import full_disk
from tf_charagram.errors import ConfigError, DataError, RunError
from tf_charagram.tasks.distillation._teachers.teacher import (
    VectorCache,
    find_teacher,
    read_vectors,
)


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
    with pytest.raises(ConfigError, match=r"pip install .*\[teacher\]'"):
        find_teacher("sentence-transformers:owner/other")


LINES = [f"text {'x' * (number % 7)} {number % 900}" for number in range(1000)] + ["ü\ud800", ""]


class Lengths:
    """Embeds a text by its length and a checksum; dies when it has embedded enough."""

    dim = 3

    def __init__(self, name="lengths", dies_after=10**9):
        self.name, self.texts, self.dies_after = name, [], dies_after

    def encode(self, texts):
        if len(self.texts) >= self.dies_after:
            raise KeyboardInterrupt
        self.texts += texts
        return expected(texts) * 7


def expected(texts):
    numbers = np.array([[len(text), sum(map(ord, text)) % 97, 1.0] for text in texts])
    return numbers / np.linalg.norm(numbers, axis=1, keepdims=True)


def check(cache, lines):
    vectors = cache.vectors()
    assert vectors.dtype == np.float16
    assert_allclose(vectors[cache.rows], expected(lines), atol=1e-3)


def test_equal_lines_are_embedded_once(tmp_path):
    teacher = Lengths()
    check(VectorCache(tmp_path, teacher, LINES), LINES)
    assert sorted(teacher.texts) == sorted(set(LINES))
    check(VectorCache(tmp_path, Lengths(dies_after=0), LINES), LINES)


@pytest.mark.parametrize("cut", [0, 1, 5])
def test_goes_on_after_a_kill(tmp_path, cut):
    """A kill leaves whole rows, and maybe a part of one."""
    first = Lengths(dies_after=500)
    cache = VectorCache(tmp_path, first, LINES)
    with pytest.raises(KeyboardInterrupt):
        cache.vectors()
    assert cache.num_done == len(first.texts) == 512
    with open(cache.folder / "vectors.f16", "ab") as file:
        file.write(b"x" * cut)
    second = Lengths()
    check(VectorCache(tmp_path, second, LINES), LINES)
    assert sorted(first.texts + second.texts) == sorted(set(LINES))


def test_full_disk(tmp_path):
    cache = VectorCache(tmp_path, Lengths(), LINES)
    with full_disk(2000), pytest.raises(RunError, match="Free some space"):
        cache.vectors()
    check(cache, LINES)


def test_two_at_once_compute_each_vector_once(tmp_path, capsys, monkeypatch):
    other_waits, report = Event(), VectorCache._report_wait

    class Slow(Lengths):
        def encode(self, texts):
            other_waits.wait(60)
            return super().encode(texts)

    def report_wait(cache):
        report(cache)
        other_waits.set()

    monkeypatch.setattr(VectorCache, "_report_wait", report_wait)

    teachers = Slow(), Slow()
    with ThreadPoolExecutor(2) as pool:
        caches = [VectorCache(tmp_path, teacher, LINES) for teacher in teachers]
        for _ in pool.map(lambda cache: check(cache, LINES), caches):
            pass
    assert sorted(teachers[0].texts + teachers[1].texts) == sorted(set(LINES))
    assert "Another process computes these vectors" in capsys.readouterr().err


HEADER = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, %d)}"
VECTORS = np.arange(6, dtype=np.float32).reshape(3, 2)


def npy(header):
    """Returns an array of NumPy with a header of its own."""
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(8)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_npy(tmp_path, dtype):
    np.save(tmp_path / "v.npy", VECTORS.astype(dtype))
    vectors = read_vectors(tmp_path / "v.npy")
    assert isinstance(vectors, np.memmap)
    assert_array_equal(vectors, VECTORS)


@pytest.mark.parametrize("kind", ["list", "fixed"])
def test_parquet(tmp_path, kind):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    lists = arrow.list_(arrow.float32(), *([2] if kind == "fixed" else []))
    table = {"text": ["a", "b", "c"], "embedding": arrow.array(VECTORS.tolist(), lists)}
    parquet.write_table(arrow.table(table), tmp_path / "v.parquet", row_group_size=2)
    assert_array_equal(read_vectors(tmp_path / "v.parquet"), VECTORS)


@pytest.mark.parametrize(
    ("column", "problem"),
    [([[1.0], None, [2.0]], "same shape"), (["a", "b", "c"], "found none"),
     ([[1.0], [1.0, 2.0], [3.0]], "same shape")],
)  # fmt: skip
def test_bad_parquet(tmp_path, column, problem):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"embedding": column}), tmp_path / "v.parquet")
    with pytest.raises(DataError, match=problem):
        read_vectors(tmp_path / "v.parquet")


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("v.npy", b"", "cannot be read as vectors"),
        ("v.npy", npy(b"{'descr': '<f4', 'shape': (2,"), "cannot be read as vectors"),
        ("v.npy", npy(HEADER % 2**60), "cannot be read as vectors"),
        ("v.parquet", b"PAR1", "cannot be read as vectors"),
        ("v.txt", b"1 2", "in a file .npy or .parquet"),
    ],
)
def test_bad_files(tmp_path, name, content, problem):
    if name == "v.parquet":
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=problem):
        read_vectors(tmp_path / name)
    with pytest.raises(DataError, match="no such file"):
        read_vectors(tmp_path / "none.npy")


@pytest.mark.parametrize(
    "array", [np.zeros(3, np.float32), np.zeros((3, 0)), np.zeros((3, 2), int)],
    ids=["one dimension", "no width", "integers"],
)  # fmt: skip
def test_other_arrays(tmp_path, array):
    np.save(tmp_path / "v.npy", array)
    with pytest.raises(DataError, match="one vector of floating-point numbers per line"):
        read_vectors(tmp_path / "v.npy")
