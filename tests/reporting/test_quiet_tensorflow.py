"""Commands import TensorFlow quietly, unless it fails or its logs are asked for."""

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
from tf_charagram.reporting.quiet_tensorflow import load_tensorflow

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


def test_advice_if_it_is_missing(run):
    ended = run("raise ModuleNotFoundError(\"No module named 'keras'\", name='keras')")
    assert ended.returncode == 1
    assert b"error: keras cannot be imported" in ended.stderr
    assert b"pip install tf-charagram. `charagram doctor` lists" in ended.stderr


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
