"""What holds for all commands."""

from __future__ import annotations

import signal
import sys
import time

from tf_charagram.cli.commands import run_command


class _PressesCtrlC:
    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def test_ctrl_c_is_not_lost_in_a_destructor(monkeypatch, capsys):
    def command(arguments):
        fragile = _PressesCtrlC()
        del fragile
        time.sleep(60)
        return 0

    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    assert run_command(command, []) == 130
    assert capsys.readouterr().err == "Interrupted.\n"


def test_other_errors_of_destructors_are_shown(monkeypatch, capsys):
    class Broken:
        def __del__(self):
            raise ValueError("broken")

    def command(arguments):
        Broken()
        return 0

    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    assert run_command(command, []) == 0
    assert "ValueError: broken" in capsys.readouterr().err
