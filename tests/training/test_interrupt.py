"""Ctrl-C waits for the end of a step."""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tf_charagram.training.interrupt import Interrupt


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_is_raised_when_asked_for():
    with Interrupt() as interrupt:
        interrupt.check()
        press()
        assert interrupt.is_wanted
        with pytest.raises(KeyboardInterrupt):
            interrupt.check()


def test_is_not_lost_in_a_destructor():
    class Fragile:
        def __del__(self):
            press()

    with Interrupt() as interrupt:
        fragile = Fragile()
        del fragile
        assert interrupt.is_wanted


def test_a_second_one_is_raised_at_once():
    with Interrupt() as interrupt:
        press()
        with pytest.raises(KeyboardInterrupt):
            press()
        assert interrupt.is_wanted


def test_the_handler_of_python_comes_back():
    with Interrupt():
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with Interrupt() as interrupt, pytest.raises(KeyboardInterrupt):
        press()
        interrupt.check()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_ignored_signal_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupt() as interrupt:
            press()
            assert not interrupt.is_wanted
    finally:
        signal.signal(signal.SIGINT, before)


def test_does_nothing_in_another_thread():
    def handler() -> object:
        with Interrupt():
            return signal.getsignal(signal.SIGINT)

    assert threading.current_thread() is threading.main_thread()
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(handler).result() is signal.default_int_handler


def test_a_scheduler_stops_it_as_ctrl_c_does():
    with Interrupt() as interrupt:
        os.kill(os.getpid(), signal.SIGTERM)
        assert interrupt.is_wanted
        with pytest.raises(KeyboardInterrupt):
            interrupt.check()
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
