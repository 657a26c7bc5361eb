"""`charagram train --workers`: the same weights as one worker, and nothing lost with one."""

import json
import os
import random
import signal
import subprocess
import time

import numpy as np
import pytest

from tests.commands import call, environment, process, run, saved_weights
from tf_charagram.training.workers.cluster import VARIABLE, local_clusters
from tf_charagram.training.workers.launcher import free_ports

SMALL = ("--dim", "32", "--evaluations-per-epoch", "2", "--batch-size", "20", "--threads", "1")
STARTER = ("--data", "starter", *SMALL)


def difference(one, other):
    """Returns the largest difference of the weights of two runs."""
    first, second = saved_weights(one), saved_weights(other)
    assert first.keys() == second.keys()
    return max(np.abs(first[name] - second[name]).max() for name in first)


def trained(folder, *flags, workers=2):
    command = process("train", *flags, "--workers", workers, "--out", folder, "--quiet")
    result = run(command, cwd=folder.parent)
    assert result.returncode == 0, result.stderr
    return folder


@pytest.mark.usefixtures("unexported")
def test_weights_of_two_are_those_of_one(tmp_path):
    """After 200 steps, with what acts across parts: clipping, mined negatives. Where two candidates
    are as near, rounding may choose another: later on the difference is larger."""
    flags = (*STARTER, "--negatives", "mix", "--clip-norm", "0.1", "--l2", "1e-3")
    one, two = tmp_path / "one", tmp_path / "two"
    assert call("train", *flags, "--epochs", 0.3, "--out", one) == 0
    trained(two, *flags, "--epochs", 0.3)
    assert 0 < difference(one, two) < 1e-5
    metrics = json.loads((two / "metrics.json").read_text())
    assert metrics["num_workers"] == 2
    assert (
        metrics["scores"].keys() == json.loads((one / "metrics.json").read_text())["scores"].keys()
    )
    # A checkpoint does not know who wrote it.
    history = (two / "history.jsonl").read_text().splitlines()
    assert call("train", *flags, "--epochs", 0.3, "--out", two, "--resume") == 0
    assert (two / "history.jsonl").read_text().splitlines() == history
    assert difference(one, two) < 1e-5


@pytest.mark.long
@pytest.mark.parametrize(
    "flags",
    [
        pytest.param(("--task", "pos", "--encoder", "char_cnn"), marks=pytest.mark.variant),
        ("--mega-batches", "3", "--table-devices", "2", "--negatives", "random"),
    ],
    ids=str,
)
def test_tasks_and_settings(flags, tmp_path):
    # Adam makes large steps of small gradients, and so of their rounding.
    settings = ("--optimizer", "sgd", "--learning-rate", "0.05", "--epochs", "0.05")
    flags = (*STARTER, *settings, *flags)
    trained(tmp_path / "one", *flags, workers=1)
    trained(tmp_path / "two", *flags)
    assert difference(tmp_path / "one", tmp_path / "two") < 1e-5


@pytest.mark.long
def test_parts_in_bfloat16(tmp_path):
    """Those of two workers are rounded as those of two devices, as those of one table would be."""
    flags = (*STARTER, "--precision", "mixed_bfloat16", "--clip-norm", "0.1", "--epochs", 0.1)
    workers = saved_weights(trained(tmp_path / "workers", *flags))
    devices = saved_weights(trained(tmp_path / "devices", *flags, "--table-devices", 2, workers=1))
    for name, array in devices.items():
        # Sums in another order would round a few numbers to the other neighbour.
        assert np.mean(workers[name] == array) > 0.9


KILLED = (*STARTER, "--epochs", 0.5, "--seed", 1, "--checkpoint-every-s", 0)


@pytest.fixture(scope="module")
def left_alone(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("workers") / "run", *KILLED)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(int(os.environ.get("KILLS", "1"))))
def test_a_worker_is_killed_at_a_random_moment(seed, left_alone, tmp_path):
    """Twice; resumed, the weights are to the bit those of two workers that were left alone."""
    folder = tmp_path / "killed"
    command = process("train", *KILLED, "--workers", 2, "--out", folder, "--resume", "--quiet")
    draw = random.Random(seed)
    for _ in range(2):
        with subprocess.Popen(
            command, env=environment(), stderr=subprocess.PIPE, text=True
        ) as run_:
            time.sleep(draw.uniform(4.0, 12.0))
            if workers := children_of(run_.pid):
                os.kill(draw.choice(workers), signal.SIGKILL)
            _, errors = run_.communicate(timeout=300)
        if run_.returncode:
            assert "was lost (killed by signal 9)" in errors
            assert "--resume" in errors
    assert run(command, cwd=tmp_path).returncode == 0
    assert difference(left_alone, folder) == 0


@pytest.mark.long
def test_as_on_two_machines(left_alone, tmp_path):
    """They exchange through addresses, not through sockets, and the weights are the same."""
    command = process("train", *KILLED, "--out", tmp_path / "run", "--quiet")
    codes, errors = ended_by_addresses([command] * 2)
    assert codes == [0, 0], errors
    assert difference(left_alone, tmp_path / "run") == 0


def children_of(number):
    """Returns the processes that a process has started and that still run."""
    path = f"/proc/{number}/task/{number}/children"
    try:
        with open(path) as file:
            return [int(child) for child in file.read().split()]
    except OSError:
        return []


@pytest.mark.parametrize(
    ("flags", "variables", "message"),
    [
        (("--workers", "0"), {}, "`workers` must be at least 1. Received: workers=0"),
        ((), {VARIABLE: "{"}, "`TF_CONFIG` must be JSON"),
        (
            ("--workers", "2"),
            {VARIABLE: '{"cluster": {"worker": ["a:1", "b:2"]}, "task": {"index": 1}}'},
            "this process is one of 2 already. Leave out one of the two",
        ),
    ],
)
def test_what_cannot_be(flags, variables, message, monkeypatch, capsys, tmp_path):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert call("train", *STARTER, *flags, "--out", tmp_path / "run") == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.long
def test_workers_with_other_settings_say_so(tmp_path):
    """And leave nothing behind, as do those that lack a file."""
    assert "worker 1: --margin is 0.5, the chief has 0.4" in errors_of_chief(
        tmp_path, (), ("--margin", "0.5")
    )
    sets = tmp_path / "sets.tsv"
    sets.write_text("cat\tcats\t1\ndog\tdogs\t2\nmouse\tmice\t3\n")
    other = ("--eval-data", tmp_path / "missing.tsv")
    assert "worker 1: " in errors_of_chief(tmp_path, ("--eval-data", sets), other)
    assert not (tmp_path / "run").exists()


def errors_of_chief(folder, *flags):
    """Returns what the chief of two workers says that were started one by one, and fail."""
    commands = [process("train", *STARTER, "--out", folder / "run", *more) for more in flags]
    codes, errors = ended_by_addresses(commands)
    assert codes == [1, 1]
    return errors[0]


def ended_by_addresses(commands):
    """Starts two workers as on two machines; returns their exit statuses and what they say."""
    processes = [
        subprocess.Popen(
            command, env=environment(**{VARIABLE: cluster.to_json()}), text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )
        for command, cluster in zip(commands, local_clusters(free_ports(2)), strict=True)
    ]  # fmt: skip
    errors = [one.communicate(timeout=200)[1] for one in processes]
    return [one.returncode for one in processes], errors


@pytest.mark.long
def test_nothing_is_shared_with_a_frozen_encoder(tmp_path):
    one = tmp_path / "one"
    assert call("train", *STARTER, "--epochs", 0.01, "--out", one) == 0
    flags = ("--task", "similarity", *STARTER, "--init", one, "--freeze", "--workers", 2)
    result = run(process("train", *flags, "--out", tmp_path / "run"), cwd=tmp_path)
    assert result.returncode == 1
    assert "`workers` share the work of an encoder that is trained" in result.stderr


@pytest.mark.long
def test_more_workers_than_examples(tmp_path):
    data = tmp_path / "pairs.tsv"
    data.write_text("a cat\tcats\nmice\ta mouse\n")
    flags = ("--data", data, *SMALL, "--workers", 3, "--out", tmp_path / "run")
    result = run(process("train", *flags), cwd=tmp_path)
    assert result.returncode == 1
    assert "`workers` must be at most the number of examples, 2. Received: 3" in result.stderr
    assert not (tmp_path / "run").exists()
