"""As many batches are in work at once as there are cores to use."""

from __future__ import annotations

import os

import pytest

from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text import batches as module


@pytest.mark.parametrize(
    ("asked", "expected"), [(None, 3), ("5", 5), ("0", 3), ("", 3), ("4,2", 3)]
)
def test_threads_follow_the_cores(model, monkeypatch, asked, expected):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if asked is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", asked)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    made = []
    pool = module.ThreadPoolExecutor

    def make(num_threads):
        made.append(num_threads)
        return pool(num_threads)

    monkeypatch.setattr(module, "ThreadPoolExecutor", make)
    assert TextEmbedder.load(model).encode(["line 1"]).shape == (1, 4)
    assert made == [expected]
