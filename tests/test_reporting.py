"""Tables and progress on the terminal; commands import TensorFlow quietly."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest

from tf_charagram._common.reporting import ProgressLine, history_table, is_quiet, quiet


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Returns a function that replaces standard error by a terminal with some columns."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)

    def of(columns):
        screen = Terminal()
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setattr("sys.stderr", screen)
        return screen

    return of


@pytest.mark.parametrize("columns", [40, 120])
def test_on_a_terminal(terminal, columns):
    screen = terminal(columns)
    with ProgressLine(100) as line:
        assert line.is_shown
        line.update("epoch [1]", ["7 pairs/s"], completed=50)
        line._progress.refresh()
        text = screen.getvalue()
    assert "epoch" in text and ("50%" in text or columns == 40)
    assert ("epoch [1]" in text and "7 pairs/s" in text) or columns == 40
    # The line is gone, and the cursor back.
    assert screen.getvalue().endswith("\x1b[2K") and "\x1b[?25h" in screen.getvalue()


def test_the_cursor_comes_back_after_an_error(terminal):
    screen = terminal(80)
    with pytest.raises(KeyboardInterrupt), ProgressLine(None) as line:
        line.update("3 lines", [])
        raise KeyboardInterrupt
    assert screen.getvalue().rindex("\x1b[?25h") > screen.getvalue().rindex("\x1b[?25l")


def test_elsewhere(capsys):
    with ProgressLine(100) as line:
        line.update("epoch 1", [], completed=50)
        line.say("one line [bold]")
    assert not line.is_shown
    assert capsys.readouterr().err == "one line [bold]\n"


def test_quiet(terminal):
    screen = terminal(80)
    with quiet():
        assert is_quiet()
        with ProgressLine(100) as line:
            line.update("epoch 1", [], completed=50)
            line.say("one line")
    assert not is_quiet() and screen.getvalue() == ""
    with ProgressLine(100, is_wanted=False) as line:
        assert not line.is_shown


RECORDS = [
    {"epoch": n / 2, "loss": 1 / n, "scores": {"A": n, "B": None}, "seconds": n}
    for n in range(1, 41)
]


def test_history_shows_some_of_many_and_the_last():
    table = history_table(RECORDS, "B", 80)
    columns = {str(column.header): [*column.cells] for column in table.columns}
    assert list(columns) == ["epoch", "loss", "B", "A", "seconds"]
    assert len(columns["A"]) <= 15 and columns["A"][-1] == "40.00"
    assert set(columns["B"]) == {"-"} and table.caption == "14 of 40 evaluations"


def test_history_shows_as_many_sets_as_fit():
    assert len(history_table(RECORDS[:3], "A", 40).columns) == 4
    assert history_table(RECORDS[:3], "A", 40).caption is None
    assert history_table([], "last", 80).row_count == 0


NOISE = b"oneDNN custom operations are on"
#: Writes as C++ does, when it is imported and when GPUs are looked for.
TENSORFLOW = f"""
import os
os.write(2, {NOISE})
{{}}
class config:
    list_physical_devices = staticmethod(lambda: os.write(2, {NOISE}))
"""
COMMAND = """
import sys
from tf_charagram.cli.commands import run_command
from tf_charagram._common.lazy import load_tensorflow

def command(arguments):
    load_tensorflow()
    import tensorflow
    sys.stderr.write("ours")
    return 0 if tensorflow.config else 1

sys.exit(run_command(command, []))
"""


@pytest.fixture
def run(tmp_path):
    def run_with(statement="", **variables):
        (tmp_path / "tensorflow.py").write_text(TENSORFLOW.format(statement))
        kept = {name: value for name, value in os.environ.items() if name[:6] != "TF_CPP"}
        path = os.pathsep.join([str(tmp_path), *sys.path])
        return subprocess.run(
            [sys.executable, "-c", COMMAND], capture_output=True,
            env={**kept, "PYTHONPATH": path, **variables},
        )  # fmt: skip

    return run_with


def test_it_is_quiet(run):
    ended = run()
    assert (ended.returncode, ended.stderr, ended.stdout) == (0, b"ours", b"")


def test_logs_that_are_asked_for(run):
    assert run(TF_CPP_MIN_LOG_LEVEL="0").stderr == NOISE + b"ours"


def test_its_lines_are_shown_if_it_fails(run):
    ended = run("raise ImportError('no such library')")
    assert ended.returncode == 1
    assert ended.stderr.startswith(NOISE)
    assert ended.stderr.rstrip().endswith(b"ImportError: no such library")


def test_standard_error_may_be_closed():
    code = """
import os
os.close(2)
from tf_charagram._common.lazy import _stderr_aside
with _stderr_aside():
    print("fine")
"""
    ended = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
    assert ended.stdout == b"fine\n"
