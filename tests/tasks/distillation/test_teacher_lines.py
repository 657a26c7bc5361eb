"""Texts and their vectors: kept together, and checked."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.errors import ConfigError, DataError
from tf_charagram.tasks.distillation.teacher_lines import TeacherLines


class Sizes:
    name, dim = "sizes", 2

    def encode(self, texts):
        return np.array([[len(text), 1.0] for text in texts])


def write(tmp_path, name, lines, vectors):
    (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    np.save(tmp_path / f"{name}.npy", np.array(vectors, np.float32))


def read(tmp_path, names, *, on_bad_line="error", teacher=None):
    bad_lines = BadLines(on_bad_line)
    sources = teacher or [tmp_path / f"{name}.npy" for name in names]
    paths = [tmp_path / f"{name}.txt" for name in names]
    lines = TeacherLines(paths, sources, cache_folder=tmp_path / "cache", bad_lines=bad_lines)
    return lines, bad_lines


def test_two_files_without_their_blank_lines(tmp_path):
    write(tmp_path, "a", ["one", "", "two"], [[1, 0], [0, 0], [0, 2]])
    write(tmp_path, "b", [" ", "three"], [[np.nan, 0], [3, 3]])
    lines, _ = read(tmp_path, "ab")
    assert lines.texts == ["one", "two", "three"]
    assert_allclose(lines.vectors(np.array([2, 0, 1])), [[0.5**0.5] * 2, [1, 0], [0, 1]], rtol=1e-6)


def test_a_teacher_computes_them_once(tmp_path):
    write(tmp_path, "a", ["xx", "", "x", "xx"], [])
    lines, _ = read(tmp_path, "a", teacher=Sizes())
    assert lines.texts == ["xx", "x", "xx"]
    assert_allclose(lines.vectors(np.arange(3))[:, 0], [0.8944, 0.7071, 0.8944], atol=1e-3)


def test_as_many_vectors_as_lines(tmp_path):
    write(tmp_path, "a", ["one", "two"], [[1, 0]])
    with pytest.raises(DataError, match=r"has 1 vectors, and .*a.txt has 2 lines"):
        read(tmp_path, "a")


@pytest.mark.parametrize("bad", [[0, 0], [np.nan, 1], [np.inf, 1]], ids=str)
def test_bad_vectors(tmp_path, bad):
    write(tmp_path, "a", ["one"], [[1, 0]])
    write(tmp_path, "b", ["two", "three"], [[1, 0], bad])
    with pytest.raises(DataError, match=r"b\.txt.*2.*not all zero"):
        read(tmp_path, "ab")
    lines, bad_lines = read(tmp_path, "ab", on_bad_line="skip")
    assert (lines.texts, bad_lines.count) == (["one", "two"], 1)


def test_other_faults(tmp_path):
    write(tmp_path, "a", ["one"], [[1, 0]])
    write(tmp_path, "b", ["two"], [[1, 0, 0]])
    write(tmp_path, "c", ["", " "], [[1, 0], [1, 0]])
    write(tmp_path, "d", ["one"], [[0, 0]])
    with pytest.raises(DataError, match=r"b\.txt.* have 3 numbers, those of .*a\.txt 2"):
        read(tmp_path, "ab")
    with pytest.raises(DataError, match="all lines are blank"):
        read(tmp_path, "c")
    with pytest.raises(DataError, match="no line has a vector"):
        read(tmp_path, "d", on_bad_line="skip")


def test_principal_directions(tmp_path):
    """Vectors near a plane: the two directions span it."""
    random = np.random.default_rng(0)
    plane = random.normal(size=(2, 5))
    vectors = random.normal(size=(50, 2)) @ plane + 1e-4 * random.normal(size=(50, 5))
    write(tmp_path, "a", ["x"] * 50, vectors)
    lines, _ = read(tmp_path, "a")
    directions = lines.principal_directions(2)
    assert_allclose(directions.T @ directions, np.eye(2), atol=1e-5)
    assert_allclose(plane @ directions @ directions.T, plane, atol=1e-2)
    with pytest.raises(ConfigError, match="at most the width of the teacher's vectors, 5"):
        lines.principal_directions(6)
