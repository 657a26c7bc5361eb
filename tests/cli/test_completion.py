"""Shells complete commands and flags."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("argcomplete")

PROGRAM = """
import os, sys
os.dup2(1, 8)
from tf_charagram.cli import main
code = os._exit
def exit(status):
    os.write(2, str(sorted({"tensorflow", "keras"} & sys.modules.keys())).encode())
    code(status)
os._exit = exit
main([])
"""


def completions(line):
    """Returns what `eval "$(register-python-argcomplete charagram)"` lets a shell ask for."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line)),
             "_ARGCOMPLETE_IFS": "\n"},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.stderr == "[]", done.stderr
    return [word.strip() for word in done.stdout.splitlines()]


def test_commands():
    assert set(completions("charagram de")) == {"dedupe", "demo"}


@pytest.mark.parametrize(("line", "expected"), [
    ("charagram dedupe x.csv --thr", ["--threshold"]),
    ("charagram dedupe x.csv --groups c", ["components"]),
    ("charagram train --eval-d", ["--eval-data"]),
])  # fmt: skip
def test_flags(line, expected):
    assert completions(line) == expected
