"""What `charagram train` prints: on a terminal, in a log file, and if told to be quiet."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import pty
import signal
import subprocess
import sys
import termios
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.commands import call, environment, interrupt_training_at, process
from tf_charagram.training._loop.progress import Interrupt

QUICK = ("--dim", 4, "--epochs", 2, "--evaluations-per-epoch", 1, "--batch-size", 20)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def train(data, tmp_path, unexported):
    """Returns a function that trains a small model, with the flags given to it."""
    flags = ("--data", data[0], "--eval-data", data[1], *QUICK, "--output", tmp_path / "run")
    return lambda *more: call("train", *flags, *more)


@pytest.mark.parametrize("columns", [pytest.param(40, marks=pytest.mark.variant), 80])
def test_on_a_terminal(train, monkeypatch, columns):
    """A line that moves, with the last score; then the history as a table."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, Terminal())
    assert train() == 0
    moved, printed = sys.stderr.getvalue(), sys.stdout.getvalue()
    assert "epoch 0.00 of 2" in moved and "pairs/s" in moved and "s left" not in moved
    assert "scored " in moved
    # One line that is written again and again, and gone in the end.
    assert moved.count("\n") == 1 and moved.endswith("\n\x1b[?25h\r\x1b[1A\x1b[2K")
    assert "History" in printed and "│  2.00 │" in printed


def test_in_a_log_file(train, capsys):
    """A line per evaluation, and nothing else."""
    assert train() == 0
    printed = capsys.readouterr()
    lines = printed.err.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["epoch 1.00", "epoch 2.00"]
    assert all("scored " in line and " s left" in line for line in lines)
    assert "History" not in printed.out and "Correlation x 100" in printed.out


@pytest.mark.long
def test_what_is_left_in_a_log_file(train, monkeypatch, capsys):
    """Nothing is known of it before a step, and it is never less than nothing."""
    interrupt_training_at(monkeypatch, 3)
    assert train() == 130
    monkeypatch.undo()
    capsys.readouterr()
    assert train("--resume", "--max-minutes", "1e-6") == 0
    assert train("--overwrite", "--max-minutes", "1e-6") == 0
    begun, ended = [line.split("  ") for line in capsys.readouterr().err.splitlines()]
    assert [fact.split()[0] for fact in begun] == ["epoch", "loss", "scored"]
    assert ended[-1] == "0 s left"


def test_quiet(train, tmp_path, capsys):
    assert train("--quiet") == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    names = ["run", "model", "history", "metrics", "tensorboard"]
    assert [line.split()[0] for line in printed.out.splitlines()] == names
    assert str(tmp_path / "run" / "metrics.json") in printed.out


def test_quiet_still_says_what_is_wrong(train, capsys):
    assert train("--quiet", "--select", "nothing") == 1
    assert "Unknown set to select by 'nothing'" in capsys.readouterr().err


def press(number=signal.SIGINT):
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt(number):
    """It is announced, raised by `check` only, and the handler of Python comes back."""
    default, said = signal.getsignal(number), []
    with Interrupt() as interrupt:
        interrupt.announce = lambda: said.append("stopping")
        interrupt.check()
        press(number)
        assert said == ["stopping"] and interrupt.is_wanted
        with pytest.raises(KeyboardInterrupt):
            interrupt.check()
        assert signal.getsignal(number) is default
    assert signal.getsignal(number) is default


def test_an_interrupt_is_not_lost_in_a_destructor():
    class Fragile:
        def __del__(self):
            press()

    with Interrupt() as interrupt:
        fragile = Fragile()
        del fragile
        assert interrupt.is_wanted


def test_a_second_interrupt_is_raised_at_once():
    with Interrupt():
        press()
        with pytest.raises(KeyboardInterrupt):
            press()


def test_an_ignored_signal_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupt() as interrupt:
            press()
            assert not interrupt.is_wanted
    finally:
        signal.signal(signal.SIGINT, before)


def test_interrupt_has_no_effect_in_another_thread():
    def handler() -> object:
        with Interrupt():
            return signal.getsignal(signal.SIGINT)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(handler).result() is signal.default_int_handler


@pytest.mark.long
@pytest.mark.parametrize("columns", [54, 80])
def test_ctrl_c_leaves_a_clean_terminal(data, tmp_path, columns):
    """In a terminal that is as real as one can be without a person."""
    flags = ("--data", data[0], "--eval-data", data[1], "--dim", 4, "--epochs", 1000)
    main, other = pty.openpty()
    termios.tcsetwinsize(other, (24, columns))
    child = subprocess.Popen(
        process("cli", "train", *flags, "--output", tmp_path / "run"),
        stdin=other, stdout=other, stderr=other, start_new_session=True,
        env=environment(TERM="xterm"), preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(other)
    watch = threading.Timer(300, child.kill)
    watch.start()
    written = b""
    with contextlib.suppress(OSError):  # The end of a terminal.
        while chunk := os.read(main, 65536):
            is_asked = b"pairs/s" in written
            written += chunk
            if not is_asked and b"pairs/s" in written:
                os.write(main, b"\x03")
    watch.cancel()
    os.close(main)
    assert child.wait() == 130
    assert written.rindex(b"\x1b[?25h") > written.rindex(b"\x1b[?25l")
    line, message = written.split(b"Stopped at step ")
    assert line.endswith(b"\x1b[1A\x1b[2K") and b"--resume" in message
    assert b"Traceback" not in written
