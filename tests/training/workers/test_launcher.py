"""Processes that are started, watched and ended together; what they run is not training."""

import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tests.commands import environment

START = """
    import json, os, signal, sys, time
    from tf_charagram.training.workers.cluster import cluster_of
    rank = cluster_of().rank
"""
LAUNCH = """
    import sys
    from tf_charagram.training.workers import launcher
    launcher._SECONDS_TO_END = float(sys.argv[2])
    sys.exit(launcher.Launcher([sys.executable, "-c", sys.argv[1]], 3).run())
"""


def launch(code, seconds_to_end=0.5):
    code = textwrap.dedent(START) + textwrap.dedent(code)
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(LAUNCH), code, str(seconds_to_end)],
        env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def ended(code, seconds_to_end=0.5):
    process = launch(code, seconds_to_end)
    output, errors = process.communicate(timeout=240)
    return process.returncode, output, errors


def test_what_the_chief_prints_is_seen():
    assert ended("print(rank); print(rank, file=sys.stderr)") == (0, "0\n", "0\n")


@pytest.mark.parametrize(
    ("end", "how"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "killed by signal 9"),
        ("sys.exit('error: no such file')", "exit status 1"),
    ],
)
def test_a_lost_worker_ends_all(end, how):
    status, _, errors = ended(f"if rank == 2: {end}\nelse: time.sleep(600)")
    assert status == 1
    assert f"error: worker 2 of 3 was lost ({how})" in errors
    assert "with the same command and --resume" in errors
    assert ("worker 2: error: no such file" in errors) == ("status" in how)


def test_the_chief_says_itself_what_is_wrong():
    code = (
        "print('error: wrong flag', file=sys.stderr)\nsys.exit(2) if rank == 0 else time.sleep(600)"
    )
    assert ended(code) == (2, "", "error: wrong flag\n")


def test_what_is_wrong_for_all_is_no_loss():
    """Also where the chief is not the first to end."""
    code = "time.sleep(rank == 0)\nsys.exit(f'error: no such file for {rank}')"
    status, _, errors = ended(code, seconds_to_end=60)
    assert status == 1 and errors.startswith("error: no such file for 0\n")
    assert "was lost" not in errors and "--resume" not in errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_goes_to_the_chief(number):
    process = launch(f"""
        if rank == 0:
            signal.signal({number:d}, lambda *_: sys.exit(130))
            print("ready", flush=True)
        time.sleep(600)
    """)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    _, errors = process.communicate(timeout=240)
    assert (process.returncode, errors) == (130, "")


def test_a_killed_launcher_leaves_nobody():
    process = launch("""
        from tf_charagram.training.workers.parent import end_with_parent
        end_with_parent()
        print(os.getpid(), flush=True)
        time.sleep(600)
    """)
    chief = int(process.stdout.readline())
    process.kill()
    process.communicate(timeout=240)
    assert not is_running(chief)


def test_a_launcher_killed_before_the_first_look():
    """As while TensorFlow is imported: the worker has another parent by then."""
    process = launch("""
        if rank > 0:
            sys.exit()
        from tf_charagram.training.workers.connection import connect
        print(os.getpid(), flush=True)
        while os.getppid() == cluster_of().launcher:
            time.sleep(0.1)
        connect(cluster_of())
        time.sleep(600)
    """)
    chief = int(process.stdout.readline())
    process.kill()
    process.communicate(timeout=240)
    assert not is_running(chief)


def is_running(number, seconds=60):
    """Returns whether a process is still there after some time; a zombie is not."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return False
        if state == "Z":
            return False
        time.sleep(0.1)
    return True
