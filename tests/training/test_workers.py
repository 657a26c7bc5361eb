"""Training in two processes that `TF_CONFIG` connects: the weights are those of one process."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import time

import pytest

from tests.commands import assert_close_weights, call, environment, process

FLAGS = (
    "--task", "words", "--dim", "8", "--batch-size", "7", "--epochs", "2",
    "--evaluations-per-epoch", "1", "--l2", "1e-3", "--clip-norm", "0.1",
)  # fmt: skip


def start(*flags, of_second=()):
    """Starts the command in two processes; the first is the chief."""
    with socket.socket() as first, socket.socket() as second:
        for each in (first, second):
            each.bind(("localhost", 0))
        addresses = [f"localhost:{each.getsockname()[1]}" for each in (first, second)]
    processes = []
    for index, others in enumerate([(), of_second]):
        task = {"type": "worker", "index": index}
        config = json.dumps({"cluster": {"worker": addresses}, "task": task})
        processes.append(
            subprocess.Popen(
                process("train", *flags, *others), env=environment(TF_CONFIG=config), text=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )
        )  # fmt: skip
    return processes


def ended(processes):
    """Waits for the end; returns exit status, output and errors of each."""
    try:
        texts = [each.communicate(timeout=240) for each in processes]
    finally:
        for each in processes:
            each.kill()
    return [(each.returncode, *text) for each, text in zip(processes, texts, strict=True)]


def train(*flags, **options):
    chief, other = ended(start(*flags, **options))
    assert chief[0] == other[0] == 0, chief[2] + other[2]
    assert other[1] == "", "the chief reports the run"


@pytest.fixture
def flags(data):
    return [*FLAGS, "--data", str(data[0]), "--eval-data", str(data[1])]


@pytest.mark.long
def test_two_workers_train_the_weights_of_one(flags, tmp_path, unexported):
    one, two = tmp_path / "one", tmp_path / "two"
    assert call("train", *flags, "--output", one) == 0
    train(*flags, "--output", two)
    assert_close_weights(two, one)


@pytest.mark.variant
def test_resumed_after_the_time_was_up(flags, tmp_path, unexported):
    one, two = tmp_path / "one", tmp_path / "two"
    flags += ["--negatives", "mix"]
    assert call("train", *flags, "--output", one) == 0
    train(*flags, "--output", two, "--max-minutes", "1e-4")
    assert json.loads((two / "metrics.json").read_text())["steps"] == 9
    train(*flags, "--output", two, "--resume")
    assert_close_weights(two, one)


@pytest.mark.long
def test_ctrl_c_of_one_worker_stops_both(flags, tmp_path, unexported):
    one, two = tmp_path / "one", tmp_path / "two"
    flags += ["--epochs", "30", "--optimizer", "sgd"]
    processes = start(*flags, "--output", two)
    while processes[0].poll() is None and not (two / "history.jsonl").exists():
        time.sleep(0.1)
    processes[1].send_signal(signal.SIGINT)
    chief, other = ended(processes)
    assert chief[0] == other[0] == 130, chief[2] + other[2]
    assert "the state is saved" in chief[1]
    assert not (two / "model").exists()
    train(*flags, "--output", two, "--resume")
    assert call("train", *flags, "--output", one) == 0
    assert_close_weights(two, one)


@pytest.mark.long
def test_both_stop_if_the_loss_is_not_finite(flags, tmp_path):
    flags += ["--optimizer", "sgd", "--learning-rate", "1e38"]
    for status, _, errors in ended(start(*flags, "--output", tmp_path / "run")):
        assert status == 1
        assert "error: The loss or its gradient is not finite at step 1." in errors


@pytest.mark.long
def test_workers_that_differ(flags, tmp_path):
    for status, _, errors in ended(start(*flags, "--output", tmp_path, of_second=["--seed", "1"])):
        assert status == 1
        assert "error: The workers of `TF_CONFIG` differ in settings" in errors


@pytest.mark.long
def test_a_worker_that_ended(flags, tmp_path):
    (tmp_path / "file").touch()
    chief, other = ended(start(*flags, "--output", tmp_path))
    assert chief[0] == other[0] == 1
    assert "--overwrite" in chief[2]
    assert "error: Another worker of `TF_CONFIG` has ended" in other[2]
