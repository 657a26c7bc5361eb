"""The first import of TensorFlow by a command says nothing, unless it fails or is to speak."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

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

def command(arguments):
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


@pytest.mark.parametrize("level", ["2", "3"])
def test_so_it_is_at_the_levels_that_ask_for_it(run, level):
    """A command that another one starts inherits the 2 that the first one set."""
    assert run(TF_CPP_MIN_LOG_LEVEL=level).stderr == b"ours"


def test_it_speaks_where_the_user_says_how_much(run):
    assert run(TF_CPP_MIN_LOG_LEVEL="0").stderr == NOISE + b"ours"


def test_what_it_wrote_is_shown_if_it_fails(run):
    ended = run("raise ImportError('no such library')")
    assert ended.returncode == 1
    assert ended.stderr.startswith(NOISE)
    assert ended.stderr.rstrip().endswith(b"ImportError: no such library")


def test_standard_error_may_be_closed():
    code = """
import os
os.close(2)
from tf_charagram.reporting.quiet_tensorflow import stderr_aside
with stderr_aside():
    print("fine")
"""
    ended = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
    assert ended.stdout == b"fine\n"
