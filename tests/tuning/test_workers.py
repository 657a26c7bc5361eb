"""Several processes, and the state of a search after some are killed."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import signal
import subprocess
import time

import pytest

from tests.commands import environment, process
from tf_charagram.tuning.search import SearchFolder

FLAGS = (
    "--dim", "8", "--batch-size", "10", "--evaluations-per-epoch", "2", "--select", "scored",
    "--checkpoint-every-s", "0", "--negatives", "max",
)  # fmt: skip


def command(data, out, *more):
    places = ["--data", data[0], "--eval-data", data[1], "--out", out]
    return process("tuning", *places, *FLAGS, "--keep", 1, *more)


def start(line, tmp_path, name="log", **variables):
    with open(tmp_path / name, "ab") as log:
        return subprocess.Popen(line, stdout=log, stderr=log, env=environment(**variables))


def wait_for(condition, process=None):
    end = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < end
        assert process is None or process.poll() is None
        time.sleep(0.05)


def check_complete(folder, number):
    with open(folder.path / "results.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [str(index) for index in range(number)]
    assert {row["status"] for row in rows} == {"completed"}
    for row in rows:
        lines = (folder.trials / row["id"] / "history.jsonl").read_text().splitlines()
        assert [json.loads(line)["step"] for line in lines] == [3, 6]
        # What was finished was not begun again.
        said = (folder.trials / row["id"] / "log.txt").read_text()
        assert len(re.findall(r"^epoch 1.00", said, re.MULTILINE)) <= 1


@pytest.mark.long
def test_a_worker_that_is_killed_ends_the_search_which_can_be_resumed(data, tmp_path):
    folder = SearchFolder(tmp_path / "search")
    line = command(data, folder.path, "--activation", "tanh", "--workers", 2)
    parent = start(line, tmp_path)
    wait_for(lambda: len(list(folder.trials.glob("*/log.txt"))) > 1, parent)
    os.kill(children(parent.pid)["worker-0"], signal.SIGKILL)
    assert parent.wait(300) == 1
    assert "A worker ended early. Continue with --resume." in (tmp_path / "log").read_text()
    parent = start([*line, "--resume"], tmp_path)
    assert parent.wait(300) == 0, (tmp_path / "log").read_text()
    check_complete(folder, 3)


@pytest.mark.long
def test_workers_end_with_their_parent(data, tmp_path):
    folder = SearchFolder(tmp_path / "search")
    line = command(data, folder.path, "--activation", "tanh", "--workers", 2)
    parent = start(line, tmp_path)
    wait_for(lambda: len(list(folder.trials.glob("*/log.txt"))) > 1, parent)
    workers = children(parent.pid)
    assert len(workers) == 2
    parent.kill()
    parent.wait()
    wait_for(lambda: not any(map(is_running, workers.values())))
    parent = start([*line, "--resume"], tmp_path)
    assert parent.wait(300) == 0, (tmp_path / "log").read_text()
    check_complete(folder, 3)


def is_running(number):
    """Returns whether a process is there, and not only the memory of it."""
    try:
        with open(f"/proc/{number}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children(parent):
    """Returns the workers that a process has started: process ids by name."""
    found = {}
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True, text=True
    )
    for number in map(int, listed.stdout.split()):
        try:
            with open(f"/proc/{number}/environ", "rb") as file:
                variables = dict(
                    part.split(b"=", 1) for part in file.read().split(b"\0") if b"=" in part
                )
        except OSError:  # It has ended meanwhile.
            continue
        name = variables.get(b"KERASTUNER_TUNER_ID")
        if name is not None:
            found[name.decode()] = number
    return found


@pytest.mark.long
def test_chief_and_two_workers_one_of_them_killed(data, tmp_path):
    folder = SearchFolder(tmp_path / "search")
    line = command(data, folder.path, "--activation", "tanh")
    port = str(random.Random(os.getpid()).randint(20_000, 60_000))

    def begin(name):
        variables = {
            "KERASTUNER_TUNER_ID": name, "KERASTUNER_ORACLE_IP": "127.0.0.1",
            "KERASTUNER_ORACLE_PORT": port,
        }  # fmt: skip
        return start(line, tmp_path, name, **variables)

    chief, one, two = map(begin, ("chief", "worker-1", "worker-2"))
    wait_for(lambda: len(list(folder.trials.glob("*/log.txt"))) > 1, chief)
    one.kill()
    one.wait()
    one = begin("worker-1")
    for child, name in ((two, "worker-2"), (one, "worker-1"), (chief, "chief")):
        assert child.wait(300) == 0, (tmp_path / name).read_text()
    check_complete(folder, 3)
