"""Training on several devices of one process: the weights are those of one device."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.commands import assert_close_weights, config_flag, environment

# Trains on one device, and on three that share each batch. Arguments: the run folders without this
# number, then flags of `train`.
SCRIPT = """
import sys
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
from functools import partialmethod
from tf_charagram.cli import main
from tf_charagram.training._loop import replicas
from tf_charagram.training.run import TrainingRun
TrainingRun.run = partialmethod(TrainingRun.run, export=False)
out, *flags = sys.argv[1:]
for number in (1, 3):
    replicas._gpus = lambda: [f"CPU:{i}" for i in range(number)]
    if status := main(["train", *flags, "--quiet", "--output", f"{out}{number}"]):
        sys.exit(status)
"""
# 7 pairs are 14 texts, and the last 4 are 8: three shares of neither are equal.
FLAGS = ("--dim", "8", "--batch-size", "7", "--epochs", "2", "--evaluations-per-epoch", "1")
UPDATES = ("--l2", "1e-3", "--clip-norm", "0.1")


def train(folder, *flags):
    command = [sys.executable, "-c", SCRIPT, str(folder / "run"), *FLAGS, *map(str, flags)]
    return subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=300)


@pytest.mark.long
@pytest.mark.parametrize(
    "flags",
    [
        ("--negatives", "max", *UPDATES),
        pytest.param(("--negatives", "mix", *UPDATES), marks=pytest.mark.variant),
        pytest.param(("dense_l2", *UPDATES), marks=pytest.mark.variant),
        pytest.param(("--batch-size", "59"), marks=pytest.mark.variant),
        pytest.param(("--optimizer", "sgd"), marks=pytest.mark.variant),
        pytest.param(("--encoder", "char_cnn", "--dropout", "0"), marks=pytest.mark.variant),
    ],
    ids=lambda flags: " ".join(flags),
)
def test_three_devices_train_the_weights_of_one(flags, data, tmp_path):
    if "dense_l2" in flags:
        flags = (*config_flag(tmp_path, dense_l2=True), *flags[1:])
    done = train(tmp_path, "--data", data[0], "--eval-data", data[1], *flags)
    assert done.returncode == 0, done.stderr
    assert_close_weights(tmp_path / "run3", tmp_path / "run1")


@pytest.mark.variant
@pytest.mark.parametrize("task", ["entailment", "sentiment", "pos"])
def test_labels(task, tmp_path):
    """A head, which all devices compute in full, moves once and not once per device."""
    flags = ("--hidden-dim", "4", "--optimizer", "sgd", "--epochs", "0.1", "--l2-head", "1e-3")
    done = train(tmp_path, "--task", task, *flags)
    assert done.returncode == 0, done.stderr
    assert_close_weights(tmp_path / "run3", tmp_path / "run1")


@pytest.mark.long
def test_a_head_alone_trains_on_one_device(trained, tmp_path):
    done = train(tmp_path, "--task", "entailment", "--freeze=encoder", "--init", trained.folder)
    assert done.returncode == 1
    assert "`freeze` encoder trains a head on one device only" in done.stderr
