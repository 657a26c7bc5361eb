"""Ctrl-C in a destructor or in the callback of a weak reference ends a command all the same."""

import os
import signal
import sys
import time
import weakref

import pytest

from tf_charagram.cli.lost_interrupt import interrupts_not_lost


class Fragile:
    """An object whose end may be watched."""


def press(*ignored: object) -> None:
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(10):
        pass


def in_a_callback() -> None:
    fragile = Fragile()
    watch = weakref.ref(fragile, press)
    del fragile
    assert watch() is None


def in_a_destructor() -> None:
    class Pressed:
        __del__ = press

    Pressed()


@pytest.mark.parametrize("dropping", [in_a_callback, in_a_destructor])
def test_it_comes_again(dropping, capfd):
    start = time.monotonic()
    with interrupts_not_lost(), pytest.raises(KeyboardInterrupt):
        dropping()
        time.sleep(60)
    assert time.monotonic() - start < 50
    assert capfd.readouterr() == ("", "")


def test_other_exceptions_go_where_they_went(monkeypatch):
    class Broken:
        def __del__(self):
            raise ValueError("in a destructor")

    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: seen.append(args.exc_type))
    with interrupts_not_lost():
        Broken()
    assert seen == [ValueError]
    Broken()
    assert seen == [ValueError] * 2
