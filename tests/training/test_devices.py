"""Runs whose table is cut over devices: the same weights, and errors that say what to do."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
import tensorflow as tf

from tests.commands import QUICK, call, interrupt_training_at, process, run, saved_weights
from tests.contracts import some_now
from tf_charagram.encoders import ENCODERS
from tf_charagram.errors import ConfigError
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.tasks.supervised_settings import SupervisedConfig
from tf_charagram.training import run as training_run
from tf_charagram.training.building import check_options
from tf_charagram.training.devices import table_devices

# What moves between two devices in a step, traced as users have it.
STEP = """
import sys

import tensorflow as tf
from tensorflow.python.eager import context

from tf_charagram.encoders.charagram import Charagram
from tf_charagram.layers.cut_table import CutTable
from tf_charagram.layers.embedding_table import tables_in
from tf_charagram.optimizers import make_optimizer
from tf_charagram.tasks.paraphrase.model import ParaphraseModel
from tf_charagram.training.devices import table_devices

devices = table_devices(2)
with tables_in(sys.argv[1]):
    encoder = Charagram(num_rows=50, dim=6)
cut = CutTable(encoder.sum, devices)
model = ParaphraseModel(encoder)
model.compile(make_optimizer(sys.argv[2], 0.01), l2=0.1, clip_norm=1.0)
for variables in ([part.value for part in cut.parts], *model._siblings(cut)):
    assert [v.device[-5:] for v in variables] == devices, [v.device for v in variables]
step = tf.function(lambda ids, keys: model.train_step((ids, keys)), autograph=False)
context.context().enable_graph_collection()
step(tf.ragged.constant([[1, 2], [3], [4], []], dtype=tf.int32), tf.range(4, dtype=tf.int64))
graphs = context.context().export_run_metadata().function_graphs
for graph in (partition for function in graphs for partition in function.partition_graphs):
    nodes = {node.name: node for node in graph.node}
    for node in graph.node:
        if node.op == "_Send" and node.attr["send_device"].s != node.attr["recv_device"].s:
            source = nodes[node.input[0].split(":")[0]]
            print(node.attr["send_device"].s[-5:].decode(), source.op, source.name)
"""
# Of these, each is a single number.
SCALARS = {"Const", "LoopCond", "ReadVariableOp", "Reciprocal", "Sum", "Pow"}


@pytest.mark.parametrize(
    ("dtype", "optimizer"),
    some_now([("float32", "adam"), ("bfloat16", "adam"), ("bfloat16", "sgd")], ("float32", "adam")),
)
def test_only_ids_and_sums_move_between_devices(dtype, optimizer, tmp_path):
    ended = run([sys.executable, "-c", STEP, dtype, optimizer], cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    moved = [line.split(" ", 2) for line in ended.stdout.splitlines()]
    moved = [(device, op, name) for device, op, name in moved if op not in SCALARS]
    there = [op for device, op, _ in moved if device == "CPU:0"]
    assert sorted(there) == ["Identity", "_Arg", "_Arg"], moved  # gradient of the sums, and ids
    ((_, op, name),) = [back for back in moved if back[0] == "CPU:1"]
    assert op == "StridedSlice" and "ngrams" in name, moved  # the sums of the second part


@pytest.fixture
def one_device():
    """Puts all parts on the one device there is, for TensorFlow has begun to work here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training_run, "table_devices", lambda number: ["CPU:0"] * number)
        yield


def assert_same_weights(whole, folder):
    expected, found = saved_weights(whole), saved_weights(folder)
    assert sorted(found) == sorted(expected)
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-3, atol=1e-5)


@pytest.mark.usefixtures("one_device", "unexported")
@pytest.mark.parametrize(("before", "after"), some_now([(2, 3), (1, 2), (3, 1)], (2, 3)))
def test_a_run_goes_on_with_another_number_of_parts(trained, tmp_path, monkeypatch, before, after):
    arguments = [*trained.arguments, "--out", tmp_path / "run", "--table-devices"]
    interrupt_training_at(monkeypatch, 7)
    assert call("train", *arguments, before) == 130
    monkeypatch.undo()
    assert call("train", *arguments, after, "--resume") == 0
    folders = trained.folder, tmp_path / "run"
    assert_same_weights(*folders)
    whole, cut = (json.loads((folder / "metrics.json").read_text()) for folder in folders)
    assert cut["scores"] == pytest.approx(whole["scores"], abs=0.1)


@pytest.mark.usefixtures("one_device")
def test_more_parts_than_rows(data, tmp_path, capsys):
    arguments = ["--data", data[0], "--hash-buckets", 3, *QUICK, "--table-devices", 4]
    assert call("train", *arguments, "--out", tmp_path / "run") == 1
    message = "`num_parts` must be from 1 to the number of rows, 3. Received: num_parts=4"
    assert message in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "run").exists()


def test_tensorflow_has_begun(data, tmp_path, capsys):
    tf.zeros([1])
    arguments = ["--data", data[0], *QUICK, "--table-devices", 2]
    assert call("train", *arguments, "--out", tmp_path / "run") == 1
    message = " ".join(capsys.readouterr().err.split())
    assert "`table_devices` needs 2 logical CPU devices" in message
    assert "TensorFlow has begun to work with 1. Start a process of its own" in message


def test_gpus(monkeypatch):
    kinds = {"GPU": ["a GPU", "another"], "CPU": ["a CPU"]}
    monkeypatch.setattr(tf.config, "list_physical_devices", kinds.get)
    monkeypatch.setattr(tf.config, "get_logical_device_configuration", lambda device: None)
    assert table_devices(2) == ["GPU:0", "GPU:1"]
    message = r"`table_devices` must be at most the number of GPUs, 2\. .*table_devices=3"
    with pytest.raises(ConfigError, match=message):
        table_devices(3)


def test_none_are_too_few():
    message = r"`table_devices` must be at least 1\. Received: table_devices=0"
    with pytest.raises(ConfigError, match=message):
        ParaphraseConfig(table_devices=0)


@pytest.mark.parametrize("encoder", [name for name in ENCODERS if name != "charagram"])
def test_other_encoders(encoder):
    message = rf"encoders that sum n-gram vectors, .*=2 for the encoder '{encoder}'"
    with pytest.raises(ConfigError, match=message):
        check_options(ParaphraseConfig(encoder=encoder, table_devices=2))


def test_a_head_alone():
    message = r"`table_devices` is for tables that are trained, not for `freeze`\..*=2"
    with pytest.raises(ConfigError, match=message):
        check_options(
            SupervisedConfig(task="similarity", init="runs/one", freeze=True, table_devices=2)
        )


TASKS = {"sentences": ("--mega-batches", "2"), "pos": ()}


@pytest.mark.long
@pytest.mark.parametrize("task", some_now(TASKS, "sentences"))
def test_each_task_in_processes(task, tmp_path):
    """With real devices; the weights are those of the whole table."""
    folders = [tmp_path / "1", tmp_path / "2"]
    for folder in folders:
        command = process(
            "train", "--task", task, "--data", "starter", *TASKS[task], "--dim", 8, "--epochs",
            0.2, "--table-devices", folder.name, "--out", folder,
        )  # fmt: skip
        ended = run(command, cwd=tmp_path)
        assert ended.returncode == 0, ended.stderr
    assert_same_weights(*folders)
    assert (folders[1] / "saved_model" / "1" / "saved_model.pb").is_file()
