"""A line that moves for a person, a final one for a log."""

from __future__ import annotations

import io
import sys

import pytest

from tf_charagram.bulk.inputs import find_inputs
from tf_charagram.bulk.progress import LineProgress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def path(tmp_path):
    (tmp_path / "lines").write_bytes(b"cat\n" * 100)
    return str(tmp_path / "lines")


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_bar_on_a_terminal_only(monkeypatch, path, stream):
    monkeypatch.setattr(sys, "stderr", stream())
    monkeypatch.setenv("TERM", "xterm")
    with LineProgress(find_inputs([path])) as progress:
        progress.advance(50, 200)
    bar = sys.stderr.getvalue()
    assert ("50 lines" in bar and "lines/s" in bar and "50 %" in bar) == (stream is Terminal)
    progress.say(progress.summary())
    assert sys.stderr.getvalue().removeprefix(bar).startswith("50 lines in ")


def test_share_that_is_done(path):
    def share(patterns, **kwargs):
        progress = LineProgress(find_inputs(patterns), **kwargs)
        progress.advance(25, 100)
        task = progress._line._progress.tasks[0]
        return task.total, task.completed

    assert share([path]) == (400, 100)
    assert share([path], bytes_done=200) == (200, 100)
    assert share([path, "-"]) == (None, 100)
