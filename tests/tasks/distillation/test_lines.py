"""Texts with the vectors of a teacher, and the nearest lines of each line."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tf_charagram.errors import ConfigError, DataError
from tf_charagram.tasks.distillation._teachers import lines as module
from tf_charagram.tasks.distillation._teachers.lines import TeacherLines, nearest_lines


def write(tmp_path, name, lines, vectors):
    (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    np.save(tmp_path / f"{name}.npy", np.array(vectors, np.float32))


def read(tmp_path, names):
    sources = [tmp_path / f"{name}.npy" for name in names]
    paths = [tmp_path / f"{name}.txt" for name in names]
    return TeacherLines(paths, sources)


def test_two_files_without_their_blank_lines(tmp_path):
    write(tmp_path, "a", ["one", "", "two"], [[1, 0], [0, 0], [0, 2]])
    write(tmp_path, "b", [" ", "three"], [[np.nan, 0], [3, 3]])
    lines = read(tmp_path, "ab")
    assert lines.texts == ["one", "two", "three"]
    assert_allclose(lines.vectors(np.array([2, 0, 1])), [[0.5**0.5] * 2, [1, 0], [0, 1]], rtol=1e-6)


def test_as_many_vectors_as_lines(tmp_path):
    write(tmp_path, "a", ["one", "two"], [[1, 0]])
    with pytest.raises(DataError, match=r"has 1 vectors, and .*a.txt has 2 lines"):
        read(tmp_path, "a")


@pytest.mark.parametrize("bad", [[0, 0], [np.nan, 1], [np.inf, 1]], ids=str)
def test_bad_vectors(tmp_path, bad):
    write(tmp_path, "a", ["one"], [[1, 0]])
    write(tmp_path, "b", ["two", "three"], [[1, 0], bad])
    with pytest.raises(DataError, match=r"b\.txt:2: .*not all zero"):
        read(tmp_path, "ab")


def test_other_faults(tmp_path):
    write(tmp_path, "a", ["one"], [[1, 0]])
    write(tmp_path, "b", ["two"], [[1, 0, 0]])
    write(tmp_path, "c", ["", " "], [[1, 0], [1, 0]])
    with pytest.raises(DataError, match=r"b\.npy.* have 3 numbers, those of .*a\.npy 2"):
        read(tmp_path, "ab")
    with pytest.raises(DataError, match="all lines are blank"):
        read(tmp_path, "c")


def test_principal_directions(tmp_path):
    """Vectors near a plane: the two directions span it."""
    random = np.random.default_rng(0)
    plane = random.normal(size=(2, 5))
    vectors = random.normal(size=(50, 2)) @ plane + 1e-4 * random.normal(size=(50, 5))
    write(tmp_path, "a", ["x"] * 50, vectors)
    lines = read(tmp_path, "a")
    directions = lines.principal_directions(2)
    assert_allclose(directions.T @ directions, np.eye(2), atol=1e-5)
    assert_allclose(plane @ directions @ directions.T, plane, atol=1e-2)
    with pytest.raises(ConfigError, match="at most the width of the teacher's vectors, 5"):
        lines.principal_directions(6)


class Vectors:
    """Stands for `TeacherLines`."""

    def __init__(self, vectors):
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        self.all = (vectors / lengths).astype(np.float32)

    def __len__(self):
        return len(self.all)

    def vectors(self, numbers):
        return self.all[numbers]


def cosines(vectors):
    return Vectors(vectors).all @ Vectors(vectors).all.T


def test_in_one_cluster_they_are_the_nearest(monkeypatch):
    monkeypatch.setattr(module, "_MAX_ROWS", 7)
    vectors = np.random.default_rng(0).normal(size=(40, 5))
    similarity = cosines(vectors)
    np.fill_diagonal(similarity, -2)
    assert_array_equal(nearest_lines(Vectors(vectors), 6), np.argsort(-similarity)[:, :6])


def test_clusters(monkeypatch):
    """Four directions are found again, and neighbors are searched among their own."""
    monkeypatch.setattr(module, "_CLUSTER_SIZE", 50)
    monkeypatch.setattr(module, "_CLUSTER_CHUNK", 33)
    random = np.random.default_rng(1)
    directions = np.eye(8)[np.arange(200) % 4]
    vectors = directions + 0.05 * random.normal(size=(200, 8))
    found = nearest_lines(Vectors(vectors), 3, seed=2)
    assert found.dtype == np.int32
    assert (found >= 0).all()
    assert (found % 4 == np.arange(200)[:, None] % 4).all()
    assert (found != np.arange(200)[:, None]).all()
    similarity = cosines(vectors)
    taken = np.take_along_axis(similarity, found, axis=1)
    assert (np.diff(taken) <= 1e-6).all()
    assert_array_equal(found, nearest_lines(Vectors(vectors), 3, seed=2))
    np.testing.assert_allclose(
        np.linalg.norm(module._centers(Vectors(vectors), 2), axis=1), 1, rtol=1e-6
    )


def test_a_cluster_without_lines(monkeypatch):
    """Of two equal centers the second is nearest to none."""
    monkeypatch.setattr(module, "_CLUSTER_SIZE", 2)
    found = nearest_lines(Vectors(np.ones((4, 2))), 3)
    assert_array_equal(np.sort(found), [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])


@pytest.mark.parametrize(("number", "expected"), [(1, [[-1] * 3]), (2, [[1, -1, -1], [0, -1, -1]])])
def test_fewer_lines_than_neighbors(number, expected):
    assert_array_equal(nearest_lines(Vectors(np.ones((number, 2))), 3), expected)
