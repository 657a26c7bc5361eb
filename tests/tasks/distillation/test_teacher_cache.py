"""Vectors of a teacher on disk: each text once, whatever happens."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.commands import full_disk
from tf_charagram.errors import DataError, RunError
from tf_charagram.tasks.distillation.teacher_cache import VectorCache

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


def check(cached, lines):
    assert cached.vectors.dtype == np.float16
    assert_allclose(cached.vectors[cached.rows], expected(lines), atol=1e-3)


def test_equal_lines_are_embedded_once(tmp_path):
    teacher = Lengths()
    check(VectorCache(tmp_path, teacher, LINES).vectors(), LINES)
    assert sorted(teacher.texts) == sorted(set(LINES))
    check(VectorCache(tmp_path, Lengths(dies_after=0), LINES).vectors(), LINES)


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
    check(VectorCache(tmp_path, second, LINES).vectors(), LINES)
    assert sorted(first.texts + second.texts) == sorted(set(LINES))


def test_other_lines_and_other_teachers_have_other_folders(tmp_path):
    folders = {
        VectorCache(tmp_path, teacher, lines).folder
        for teacher in (Lengths(), Lengths("other"))
        for lines in (LINES, LINES[1:], ["ab", "c"], ["a", "bc"])
    }
    assert len(folders) == 8


def test_full_disk(tmp_path):
    cache = VectorCache(tmp_path, Lengths(), LINES)
    with full_disk(2000), pytest.raises(RunError, match="Free some space"):
        cache.vectors()
    check(cache.vectors(), LINES)


def test_two_at_once_compute_each_vector_once(tmp_path, capsys, monkeypatch):
    other_waits, say = Event(), VectorCache._say_that_it_waits

    class Slow(Lengths):
        def encode(self, texts):
            other_waits.wait(60)
            return super().encode(texts)

    def say_that_it_waits(cache):
        say(cache)
        other_waits.set()

    monkeypatch.setattr(VectorCache, "_say_that_it_waits", say_that_it_waits)

    teachers = Slow(), Slow()
    with ThreadPoolExecutor(2) as pool:
        caches = [VectorCache(tmp_path, teacher, LINES) for teacher in teachers]
        for cached in pool.map(VectorCache.vectors, caches):
            check(cached, LINES)
    assert sorted(teachers[0].texts + teachers[1].texts) == sorted(set(LINES))
    assert "Another process computes these vectors" in capsys.readouterr().err


def test_damaged(tmp_path):
    cache = VectorCache(tmp_path, Lengths(), LINES)
    cache.vectors()
    about = cache.folder / "cache.json"
    about.write_text(json.dumps({**json.loads(about.read_text()), "num_texts": 1}))
    with pytest.raises(DataError, match="cache of other lines"):
        cache.vectors()
    about.write_text("{")
    with pytest.raises(DataError, match="damaged"):
        cache.vectors()


def test_too_many_rows(tmp_path):
    cache = VectorCache(tmp_path, Lengths(), LINES)
    cache.vectors()
    with open(cache.folder / "vectors.f16", "ab") as file:
        file.write(bytes(6))
    with pytest.raises(DataError, match="too many rows"):
        cache.vectors()


def test_a_teacher_of_another_width(tmp_path):
    teacher = Lengths()
    teacher.dim = 4
    with pytest.raises(DataError, match="expected vectors of shape"):
        VectorCache(tmp_path, teacher, LINES).vectors()
