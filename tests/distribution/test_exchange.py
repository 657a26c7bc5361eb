"""What workers exchange, in two processes, and what they hear when one is gone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import environment
from tf_charagram.distribution.exchange import ALONE
from tf_charagram.distribution.launcher import free_ports


@pytest.fixture(scope="module")
def results():
    """What each of two workers printed, lines of JSON."""
    ports = [str(port) for port in free_ports(2)]
    script = str(Path(__file__).parent / "workers.py")
    root = str(Path(__file__).parents[2])
    processes = [
        subprocess.Popen(
            [sys.executable, script, str(rank), *ports], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=environment(PYTHONPATH=root),
        )
        for rank in range(2)
    ]  # fmt: skip
    outputs = [process.communicate(timeout=240)[0] for process in processes]
    return [[json.loads(line) for line in output.splitlines()] for output in outputs]


def test_both_get_the_same(results):
    (first, _), (second,) = results
    assert first == second
    assert first["json"] == [{"rank": 0, "ü": ""}, {"rank": 1, "ü": "x" * 9}]
    assert (first["numbers"], first["any"], first["of_chief"]) == ([2, 1], [True, False], [3.5])
    assert first["copied"] == [[[[0, 1], [2, 3], [4, 5]], 5]] * 6
    assert first["ragged"] == [[[1, 2], []], [[]]]


def test_gradients(results):
    first = results[0][0]
    assert first["sparse"] == [[2, 2], [2, 2], [0, 0], [3, 3]]
    assert first["distinct"]
    assert first["dense"] == [2, 1]


def test_texts_encoded_in_shares(results):
    """The gradient of the sum of (w * s)^2 is 2 w s^2 each; also for a share without texts."""
    assert results[0][0]["encoded"] == [
        [[6, 0, 6, 30, 14], 4 * (9 + 9 + 225 + 49)],
        [[0, 6, 30], 4 * (9 + 225)],
        [[6], 4 * 9],
    ]


def test_the_loss_of_a_worker_is_said(results):
    message = results[0][1]
    assert message.startswith("Another worker was lost (")
    assert message.endswith("Go on from the last checkpoint with the same command and --resume.")


def test_alone():
    assert ALONE.numbers(1, 2) == [1, 2]
    assert ALONE.json("x") == ["x"]
    assert ALONE.any(True)
    assert not ALONE.any(False)
    ALONE.wait()
