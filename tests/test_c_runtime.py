"""A SavedModel in TensorFlow's C library gives the outputs that Python gives."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

from tests.c_runtime import CRuntime

TEXTS = [
    b"",
    "a \N{GRINNING FACE} cat".encode(),
    b"nul\0inside",
    b"broken \xff\xfe \xc3",
    b"x" * 500,
]


class Model(tf.Module):
    """Uses a table, a variable, and inputs and outputs of all types that signatures have."""

    def __init__(self):
        super().__init__()
        initializer = tf.lookup.KeyValueTensorInitializer(["c", "a", "t"], [1, 2, 3])
        self.table = tf.lookup.StaticHashTable(initializer, default_value=0)
        self.weights = tf.Variable([[0.5], [1.0], [2.0], [-3.0]])

    @tf.function(
        input_signature=[
            tf.TensorSpec([None], tf.string, name="texts"),
            tf.TensorSpec([None], tf.int64, name="times"),
        ]
    )
    def embed(self, texts, times):
        tf.debugging.assert_equal(tf.size(texts), tf.size(times), "lengths differ")
        symbols = tf.strings.unicode_split(texts, "UTF-8", errors="replace")
        ids = tf.ragged.map_flat_values(self.table.lookup, symbols)
        rows = tf.ragged.map_flat_values(lambda ids: tf.gather(self.weights, ids), ids)
        return {
            "embedding": tf.reduce_sum(rows, axis=1),
            "echo": tf.strings.join(["<", texts, ">"]),
            "num_bytes": tf.strings.length(texts),
            "doubled": 2 * times,
        }


@pytest.fixture(scope="module")
def model():
    return Model()


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("c_runtime")
    tf.saved_model.save(model, str(folder), signatures=model.embed)
    message = SavedModel()
    message.ParseFromString((folder / "saved_model.pb").read_bytes())
    signature = message.meta_graphs[0].signature_def["serving_default"]
    tensors = [
        {name: {"tensor": info.name, "dtype": tf.as_dtype(info.dtype).name}
         for name, info in side.items()}
        for side in (signature.inputs, signature.outputs)
    ]  # fmt: skip
    card = {"signatures": {"serving_default": {"inputs": tensors[0], "outputs": tensors[1]}}}
    (folder / "model_card.json").write_text(json.dumps(card))
    return folder


@pytest.fixture(scope="module")
def runtime(folder):
    return CRuntime(folder)


@pytest.mark.parametrize("texts", [TEXTS, [b"hello"], [b"", b""], []])
def test_outputs(runtime, model, texts):
    times = [*range(len(texts))]
    found = runtime("serving_default", texts=texts, times=times)
    inputs = tf.constant(texts, tf.string, [len(texts)]), tf.constant(times, tf.int64)
    expected = {name: value.numpy() for name, value in model.embed(*inputs).items()}
    assert found.keys() == expected.keys()
    for name, array in found.items():
        assert (array.shape, array.dtype) == (expected[name].shape, expected[name].dtype)
        np.testing.assert_array_equal(array, expected[name])


def test_an_error_of_the_graph_leaves_the_runtime_usable(runtime):
    with pytest.raises(RuntimeError, match="lengths differ"):
        runtime("serving_default", texts=[b"a"], times=[1, 2])
    found = runtime("serving_default", texts=[b"cat"], times=[1])
    assert found["embedding"].tolist() == [[0.0]]


def test_missing_names(runtime):
    with pytest.raises(KeyError, match="nope"):
        runtime("nope", texts=[])
    with pytest.raises(KeyError, match="times"):
        runtime("serving_default", texts=[])


def test_a_folder_without_a_saved_model(folder, tmp_path):
    (tmp_path / "model_card.json").write_bytes((folder / "model_card.json").read_bytes())
    with pytest.raises(RuntimeError, match=r"Could not find SavedModel.*" + tmp_path.name):
        CRuntime(tmp_path)
