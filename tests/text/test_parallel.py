"""Batches in threads come back in order, and errors come through."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from tf_charagram.text.parallel import in_threads


def test_results_come_in_order(monkeypatch):
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


def test_errors_come_through():
    with pytest.raises(ZeroDivisionError):
        list(in_threads(lambda number: 1 / number, [1, 0, 2]))


def test_nothing_is_begun_after_an_error_or_an_end(monkeypatch):
    begun, is_asked, shut_down = [], Event(), ThreadPoolExecutor.shutdown

    def fail(number):
        begun.append(number)
        if number:
            is_asked.wait(60)
        return 1 / number

    def shutdown(pool, wait=True, **how):
        """Lets what was begun end once nothing else can begin."""
        shut_down(pool, wait=False, **how)
        is_asked.set()
        shut_down(pool, wait)

    monkeypatch.setattr(ThreadPoolExecutor, "shutdown", shutdown)
    with pytest.raises(ZeroDivisionError):
        list(in_threads(fail, range(30), 2, num_waiting=9))
    assert len(begun) <= 3
    results = in_threads(lambda number: begun.append(number), range(100, 130), 1, num_waiting=9)
    next(results)
    results.close()
    assert begun[-1] < 110


def test_nothing():
    assert list(in_threads(str, [])) == []
