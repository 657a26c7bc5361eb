"""The line that moves: what fits it, where it is shown, and what is shown elsewhere."""

from __future__ import annotations

import io

import pytest

from tf_charagram.reporting.curve import draw_curve
from tf_charagram.reporting.history_table import history_table
from tf_charagram.reporting.progress import ProgressLine, fit, is_quiet, quiet


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Returns a terminal in place of standard error, with as many columns as a test says."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)

    def of(columns):
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setattr("sys.stderr", Terminal())
        import sys

        return sys.stderr

    return of


FACTS = ["45 %", "0:10 left", "1,234 pairs/s", "SL999 45.21"]


@pytest.mark.parametrize("width", range(4, 60))
def test_it_fits(width):
    head, shown = fit("epoch 1.25 of 10", FACTS, width)
    assert len("  ".join([head, *shown])) <= width
    assert shown == FACTS[: len(shown)]
    if len(shown) < len(FACTS):
        assert len("  ".join([head, *shown, FACTS[len(shown)]])) > width


@pytest.mark.parametrize("columns", [24, 40, 80, 120])
def test_on_a_terminal(terminal, columns):
    screen = terminal(columns)
    with ProgressLine(100) as line:
        assert line.is_shown
        line.update("epoch 1", ["7 pairs/s"], completed=50)
        line._progress.refresh()
        text = screen.getvalue()
    assert "epoch 1" in text and "50 %" in text
    assert "━" in text and ("7 pairs/s" in text) == (columns >= 40)
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


class TestHistoryTable:
    def test_some_of_many_and_the_last(self):
        table = history_table(RECORDS, "B", 80)
        columns = {str(column.header): [*column.cells] for column in table.columns}
        assert list(columns) == ["epoch", "loss", "B", "A", "seconds"]
        assert len(columns["A"]) <= 15 and columns["A"][-1] == "40.00"
        assert set(columns["B"]) == {"-"} and table.caption == "14 of 40 evaluations"

    def test_as_many_sets_as_fit(self):
        assert len(history_table(RECORDS[:3], "A", 40).columns) == 4
        assert history_table(RECORDS[:3], "A", 40).caption is None
        assert history_table([], "last", 80).row_count == 0


class TestCurve:
    def test_every_value_is_on_it(self):
        lines = draw_curve([0, 1, 2, 3], [0.0, 1.0, 0.5, 1.0], width=40, height=5)
        assert len(lines) == 6 and max(map(len, lines)) <= 40
        assert lines[0].startswith("1.000 │") and lines[4].startswith("0.000 │")
        assert lines[5].split() == ["0", "3"]
        columns = [line.ljust(40)[7:] for line in lines[:5]]
        assert all(any(line[n] != " " for line in columns) for n in range(33))

    @pytest.mark.parametrize("ys", [[2.0], [2.0, 2.0], [1e-9, 5e9]])
    def test_odd_values(self, ys):
        lines = draw_curve(list(range(len(ys))), ys, width=10, is_ascii=True)
        assert len(lines) == 7 and any("*" in line for line in lines)
        assert "".join(lines).isascii()
