"""Bounded batches of texts, and their results in order from several threads."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.text.strategies import property_settings
from tf_charagram.text._algorithm.batches import bounded_batches, in_threads, num_threads
from tf_charagram.text._algorithm.tensors import string_tensor


@property_settings
@given(st.lists(st.text("ab", max_size=6), max_size=12), st.integers(1, 4), st.integers(1, 30))
def test_batches_are_as_large_as_allowed(texts, max_texts, max_chars):
    batches = list(bounded_batches(texts, max_texts, max_chars))
    assert batches == list(bounded_batches(iter(texts), max_texts, max_chars))
    assert [text for batch in batches for text in batch] == texts
    for batch in batches:
        assert 0 < len(batch) <= max_texts
        assert sum(map(len, batch)) <= max_chars or len(batch) == 1
    for batch, following in pairwise(batches):
        assert len(batch) == max_texts or sum(map(len, [*batch, following[0]])) > max_chars


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], []),
        (["a", b"\xff", "\x00b", "\u00e9"], [b"a", b"\xff", b"\x00b", b"\xc3\xa9"]),
        (("a", "\ud800", b"\xff"), [b"a", b"\xed\xa0\x80", b"\xff"]),
    ],
)
def test_string_tensor(texts, expected):
    tensor = string_tensor(texts)
    assert tensor.dtype == "string"
    assert tensor.numpy().tolist() == expected


def test_results_are_in_order(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    read = []

    def batches():
        for number in range(30):
            read.append(number)
            yield number

    def slower_at_first(number):
        time.sleep(0.002 * (number % 3 == 0))
        return number**2

    for count, found in enumerate(in_threads(slower_at_first, batches())):
        assert found == (count, count**2)
        assert len(read) <= count + 7
    assert count == 29
    assert list(in_threads(str, [])) == []


def test_nothing_starts_after_an_error_or_an_end(monkeypatch):
    started, is_asked, shut_down = [], Event(), ThreadPoolExecutor.shutdown

    def fail(number):
        started.append(number)
        if number:
            is_asked.wait(60)
        return 1 / number

    def shutdown(pool, wait=True, **how):
        """Lets running batches end once no other can start."""
        shut_down(pool, wait=False, **how)
        is_asked.set()
        shut_down(pool, wait)

    monkeypatch.setattr(ThreadPoolExecutor, "shutdown", shutdown)
    with pytest.raises(ZeroDivisionError):
        list(in_threads(fail, range(30), 2, num_waiting=9))
    assert len(started) <= 3
    results = in_threads(started.append, range(100, 130), 1, num_waiting=9)
    next(results)
    results.close()
    assert started[-1] < 110


@pytest.mark.parametrize(
    ("requested", "expected"), [(None, 3), ("5", 5), ("0", 3), ("", 3), ("4,2", 3)]
)
def test_num_threads(monkeypatch, requested, expected):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if requested is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", requested)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    assert num_threads() == expected
