"""The script that joins teachers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from recipes.joint_teacher import main
from tests.models.answers import parts
from tf_charagram.models.embedder import TextEmbedder

LINES = [f"line {number}" for number in range(40)]


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def teachers(tmp_path):
    """Two files of vectors with means far from zero, and the arguments that name them."""
    random = np.random.default_rng(0)
    (tmp_path / "lines.txt").write_text("".join(f"{line}\n" for line in LINES))
    vectors, arguments = [], []
    for name, width in (("a", 3), ("b", 4)):
        vectors.append(random.normal(5.0, 1.0, (len(LINES), width)).astype(np.float32))
        np.save(tmp_path / f"{name}.npy", vectors[-1])
        arguments += ["--teacher", str(tmp_path / "lines.txt"), str(tmp_path / f"{name}.npy")]
    return vectors, arguments


def test_cosines_are_the_mean_of_those_of_centered_vectors(tmp_path, teachers):
    vectors, arguments = teachers
    assert main([str(tmp_path / "joint.npy"), *arguments, "--dim", "7"]) == 0
    joint = np.load(tmp_path / "joint.npy").astype(np.float32)
    units = [unit(rows) for rows in vectors]
    units = [unit(rows - rows.mean(axis=0)) for rows in units]
    expected = np.mean([rows @ rows.T for rows in units], axis=0)
    assert_allclose(joint @ joint.T, expected, atol=5e-3)


def test_rotated_to_a_student(tmp_path, teachers):
    """The cosines stay, and the vectors come nearer to the student's."""
    student = TextEmbedder(*parts())
    student.save(tmp_path / "student")
    dim = str(student.dim)
    plain, rotated = str(tmp_path / "plain.npy"), str(tmp_path / "rotated.npy")
    assert main([plain, *teachers[1], "--dim", dim]) == 0
    assert main([rotated, *teachers[1], "--dim", dim, "--like", str(tmp_path / "student")]) == 0
    before, after = (np.load(path).astype(np.float32) for path in (plain, rotated))
    assert_allclose(before @ before.T, after @ after.T, atol=5e-3)
    wanted = student.encode(LINES, normalize=True)
    assert (after * wanted).sum() > (before * wanted).sum() + 0.1


def test_other_numbers_of_lines(tmp_path, teachers, capsys):
    (tmp_path / "more.txt").write_text("one\n")
    np.save(tmp_path / "c.npy", np.ones((1, 2), np.float32))
    more = ["--teacher", str(tmp_path / "more.txt"), str(tmp_path / "c.npy")]
    assert main([str(tmp_path / "joint.npy"), *teachers[1], *more]) == 1
    assert "need the same lines. Received: 40, 40, 1 lines" in capsys.readouterr().err
    assert not (tmp_path / "joint.npy").exists()


def test_a_width_that_is_too_large(tmp_path, teachers, capsys):
    assert main([str(tmp_path / "joint.npy"), *teachers[1], "--dim", "8"]) == 1
    assert "at most 7. Received: 8" in capsys.readouterr().err
