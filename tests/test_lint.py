"""Style and types are part of the tests."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("tf_charagram", "tuning", "export")

pytestmark = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")


def run(*command):
    """Returns the output of a tool; fails if the tool finds a problem in the checkout."""
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True
    )
    if done.returncode:
        pytest.fail(done.stdout + done.stderr, pytrace=False)
    return done.stdout


def test_style():
    run("ruff", "check")


def test_types():
    """Of all folders: `tuning` and `export` are looked for under the names of their imports."""
    num_files = sum(1 for folder in FOLDERS for _ in (ROOT / folder).rglob("*.py"))
    assert f"no issues found in {num_files} source files" in run("mypy")
