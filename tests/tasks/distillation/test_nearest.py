"""The nearest lines of each line, by the vectors of a teacher."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tf_charagram.tasks.distillation import nearest
from tf_charagram.tasks.distillation.nearest import nearest_lines


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
    monkeypatch.setattr(nearest, "_ROWS", 7)
    vectors = np.random.default_rng(0).normal(size=(40, 5))
    similarity = cosines(vectors)
    np.fill_diagonal(similarity, -2)
    assert_array_equal(nearest_lines(Vectors(vectors), 6), np.argsort(-similarity)[:, :6])


def test_clusters(monkeypatch):
    """Four directions are found again, and neighbors are searched among their own."""
    monkeypatch.setattr(nearest, "_CLUSTER_SIZE", 50)
    monkeypatch.setattr(nearest, "_CHUNK", 33)
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
        np.linalg.norm(nearest._centers(Vectors(vectors), 2), axis=1), 1, rtol=1e-6
    )


def test_a_cluster_without_lines(monkeypatch):
    """Of two equal centers the second is nearest to none."""
    monkeypatch.setattr(nearest, "_CLUSTER_SIZE", 2)
    found = nearest_lines(Vectors(np.ones((4, 2))), 3)
    assert_array_equal(np.sort(found), [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])


@pytest.mark.parametrize(("number", "expected"), [(1, [[-1] * 3]), (2, [[1, -1, -1], [0, -1, -1]])])
def test_fewer_lines_than_neighbors(number, expected):
    assert_array_equal(nearest_lines(Vectors(np.ones((number, 2))), 3), expected)
