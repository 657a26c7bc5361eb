"""Texts become ids on `CPU:0`, and rows are summed there, in all device scopes and threads."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
import tensorflow as tf

from tests.commands import run
from tf_charagram._common.devices import on_cpu

pytest.importorskip("tensorflow_text")

ROOT = Path(__file__).parent.parent
# Of a node of a graph, and of a single operation.
PLACED = re.compile(
    r"\] (?:[^ ]+: \((\w+)\): |Executing op (\w+) in device ).*/device:CPU:1$", re.M
)
SUMS = {"SparseTensorToCSRSparseMatrix", "SparseMatrixTranspose", "SparseMatrixMatMul"}
OF_TEXTS = {"LookupTableFindV2", "DecodeRaw", "StringLength", "StringJoin"}
# Of arguments and results, and of the gradient of a reshaped sum.
COMMON = {"_Arg", "_Retval", "_EagerConst", "Const", "Identity", "NoOp", "Fill", "ZerosLike"}
RESHAPING = {"Reshape", "Shape"}


@pytest.fixture(scope="module")
def ended():
    """Returns the process of `two_cpus`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TF_CPP_MIN_LOG_LEVEL", "0")
        ended = run([sys.executable, "-m", "tests.two_cpus"], cwd=ROOT)
    assert ended.returncode == 0, ended.stderr[-4000:]
    return ended


def on_second_cpu(ended, phase: str) -> set[str]:
    """Returns the types of operations that a phase ran on the second CPU."""
    _, _, log = ended.stderr.partition(f"phase: {phase}\n")
    log, end, _ = log.partition("phase: ")
    assert end
    return {node or single for node, single in PLACED.findall(log)}


@pytest.mark.long
def test_results_are_the_same(ended):
    found = json.loads(ended.stdout.splitlines()[-1])
    (device,) = found["devices"]
    assert device.endswith("/device:CPU:0")
    assert not found["differing"]


@pytest.mark.long
def test_ids(ended):
    assert not on_second_cpu(ended, "ids")


@pytest.mark.long
def test_sums_and_their_gradients(ended):
    used = {name for name in on_second_cpu(ended, "sums") if not name.startswith("__inference")}
    assert used - COMMON - RESHAPING == {"Square"}


@pytest.mark.long
def test_padded_encoders_stay_in_the_scope(ended):
    used = on_second_cpu(ended, "padded")
    assert {"Einsum", "Tanh"} <= used
    assert not used & (OF_TEXTS | SUMS)


def test_on_cpu():
    @on_cpu
    def square(x: float, *, name: str = "x") -> tf.Tensor:
        """Squares."""
        return tf.square(tf.constant(x), name=name)

    assert square.__doc__ == "Squares."
    with tf.Graph().as_default(), tf.device("CPU:1"):
        assert square(3.0, name="nine").device == "/device:CPU:0"
        assert tf.square(3.0).device == "/device:CPU:1"
