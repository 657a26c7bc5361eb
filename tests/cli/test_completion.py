"""What a real bash is answered, and whether the other shells can read their scripts."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from tests.commands import call, environment
from tf_charagram.cli import COMMANDS
from tf_charagram.cli.completion import SHELLS
from tf_charagram.tasks import TASKS

pytest.importorskip("argcomplete")

# Asks as bash does at a press of the tab key, and prints the answers of each line on one line. The
# command is the one under test, wherever a `charagram` may be.
ASK = """
charagram() {{ {python} -m tf_charagram.cli "$@"; }}
source {script}
complete -p charagram > /dev/null || exit 3
while IFS= read -r COMP_LINE; do
    COMP_POINT=${{#COMP_LINE}} COMP_TYPE=9 COMPREPLY=()
    _python_argcomplete charagram
    echo "${{COMPREPLY[@]}}"
done
"""


@pytest.fixture
def ask(tmp_path, capsys):
    """Returns what asks bash for the completions of lines: a set for each."""
    if (bash := shutil.which("bash")) is None:
        pytest.skip("bash is not installed")
    assert call("cli.completion", "bash") == 0
    for module in ("tensorflow", "keras"):
        # Found before the real one: what imports it gets no further, and has no answer.
        (tmp_path / f"{module}.py").write_text("raise SystemExit('too slow')")
    (tmp_path / "script").write_text(capsys.readouterr().out)
    (tmp_path / "ask").write_text(ASK.format(python=sys.executable, script=tmp_path / "script"))

    def asked(*lines):
        ended = subprocess.run(
            [bash, "--norc", str(tmp_path / "ask")], input="".join(f"{line}\n" for line in lines),
            capture_output=True, text=True, cwd=tmp_path, env=environment(), timeout=300,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        return [set(line.split()) for line in ended.stdout.split("\n")[:-1]]

    return asked


def test_bash(ask, tmp_path):
    (tmp_path / "pairs.tsv").touch()
    commands, tasks, flags, files, model, activation, half, number, none = ask(
        "charagram ",
        "charagram train --task ",
        "charagram train --task pos --col",
        "charagram train --data pa",
        "charagram neighbors engl",
        "charagram tune --encoder=cse --activation ",
        "charagram train --task wor --learning",
        "charagram train --epochs ",
        "charagram trian --da",
    )
    assert set(COMMANDS) <= commands
    assert tasks == set(TASKS)
    assert flags == {"--column"}
    assert files == {"pairs.tsv"}
    assert model == {"english"}
    assert activation == {"linear", "tanh"}
    assert half == {"--learning-rate"}
    assert not number and not none


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_read(shell, capsys):
    assert call("cli.completion", shell) == 0
    script = capsys.readouterr().out
    assert "charagram" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_it_is_not_installed(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "argcomplete", None)
    assert call("cli.completion", "bash") == 1
    assert "pip install 'tf-charagram[completion]'" in capsys.readouterr().err


def test_an_unknown_shell(capsys):
    assert call("cli.completion", "ksh") == 2
    assert "ksh" in capsys.readouterr().err
