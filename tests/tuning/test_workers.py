"""Several processes, and the state of a search after some are killed."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import subprocess
import time

import pytest

from tests.commands import environment, process
from tf_charagram.tuning._search.search import SearchFolder
from tf_charagram.tuning._search.workers import ID, IP, PORT

FLAGS = (
    "--dim", "8", "--batch-size", "10", "--evaluations-per-epoch", "2", "--select", "scored",
    "--checkpoint-every-s", "0", "--negatives", "max", "--activation", "tanh", "--keep", 1,
)  # fmt: skip

pytestmark = pytest.mark.long


@pytest.fixture
def folder(tmp_path):
    return SearchFolder(tmp_path / "search")


@pytest.fixture
def start(data, folder):
    """Returns a function that starts a search, or a part of it."""
    places = ["--data", data[0], "--eval-data", data[1], "--output", folder.path]

    def start(*more, name="log", **variables):
        line = process("tune", *places, *FLAGS, *more)
        with open(folder.path.parent / name, "ab") as log:
            return subprocess.Popen(line, stdout=log, stderr=log, env=environment(**variables))

    return start


def wait_for(condition, process=None):
    end = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < end
        assert process is None or process.poll() is None
        time.sleep(0.05)


def wait_for_two_trials(folder, process):
    wait_for(lambda: len(list(folder.trials.glob("*/log.txt"))) > 1, process)


def check_complete(folder):
    with open(folder.path / "results.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == ["0", "1", "2"]
    assert {row["status"] for row in rows} == {"completed"}
    for row in rows:
        lines = (folder.trials / row["id"] / "history.jsonl").read_text().splitlines()
        assert [json.loads(line)["step"] for line in lines] == [3, 6]
        # What was finished was not begun again.
        said = (folder.trials / row["id"] / "log.txt").read_text()
        assert len(re.findall(r"^epoch 1.00", said, re.MULTILINE)) <= 1


def test_chief_and_two_workers_one_of_them_killed(start, folder):
    port = str(random.Random(os.getpid()).randint(20_000, 60_000))

    def begin(name):
        return start(name=name, **{ID: name, IP: "127.0.0.1", PORT: port})

    chief, one, two = map(begin, ("chief", "worker-1", "worker-2"))
    wait_for_two_trials(folder, chief)
    one.kill()
    one.wait()
    one = begin("worker-1")
    for child, name in ((two, "worker-2"), (one, "worker-1"), (chief, "chief")):
        assert child.wait(300) == 0, (folder.path.parent / name).read_text()
    check_complete(folder)
