"""`CRuntime` against golden vectors, in processes that never import Python's TensorFlow."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from tf_charagram.errors import ConfigError
from tf_charagram.export.runtime.c_runtime import CRuntime

BATCHES = {
    "one": [b"hello"],
    "many": [
        b"",
        "a \N{GRINNING FACE} cat".encode(),
        b"nul\x00inside",
        b"broken \xff\xfe utf-8 \xc3",
        b"unknown: 0123456789",
        "caf\N{LATIN SMALL LETTER E WITH ACUTE} ".encode() * 50,
    ],
    "only_empty": [b"", b""],
    "empty_batch": [],
}

BUILD = """
import json, sys
import numpy as np
import tensorflow as tf

folder = sys.argv[1]
ALPHABET = "abcdefghijklmnopqrstuvwxyz \\u00e9\\ufffd\\U0001f600\\0"


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        keys = tf.strings.unicode_split(ALPHABET, "UTF-8")
        ids = tf.range(len(ALPHABET), dtype=tf.int64)
        table = tf.lookup.KeyValueTensorInitializer(keys, ids)
        self.table = tf.lookup.StaticHashTable(table, default_value=-1)
        weights = np.random.default_rng(7).normal(size=(len(ALPHABET), 5))
        self.weights = tf.Variable(weights.astype(np.float32))
        self.kept = tf.Variable([b""], shape=[None])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="texts")])
    def embed(self, texts):
        symbols = tf.strings.unicode_split(texts, "UTF-8", errors="replace")
        ids = tf.ragged.map_flat_values(self.table.lookup, symbols)
        ids = tf.ragged.boolean_mask(ids, ids >= 0)
        # One row too many: SparseMatrixMatMul divides by the number of rows, so none would kill
        # the process (SIGFPE in TensorFlow 2.21).
        shape = tf.stack([ids.nrows() + 1, tf.cast(len(ALPHABET), tf.int64)])
        indices = tf.stack([ids.value_rowids(), ids.values], axis=1)
        counts = tf.ones_like(ids.values, tf.float32)
        sparse = tf.sparse.reorder(tf.SparseTensor(indices, counts, shape))
        matrix = tf.raw_ops.SparseTensorToCSRSparseMatrix(
            indices=sparse.indices, values=sparse.values, dense_shape=sparse.dense_shape
        )
        embedding = tf.raw_ops.SparseMatrixMatMul(a=matrix, b=self.weights)[:-1]
        embedding.set_shape([None, 5])
        return {
            "embedding": embedding,
            "echo": tf.strings.join(["<", texts, ">"]),
            "num_bytes": tf.strings.length(texts),
            "num_symbols": symbols.row_lengths(),
        }

    @tf.function(input_signature=[
        tf.TensorSpec([2, None, 3], tf.float32, name="x"),
        tf.TensorSpec([], tf.int64, name="times"),
        tf.TensorSpec([None, 2], tf.int32, name="add"),
        tf.TensorSpec(None, tf.string, name="names"),
    ])
    def numbers(self, x, times, add, names):
        tf.debugging.assert_non_negative(times, "`times` must not be negative")
        y = x * tf.cast(times, tf.float32)
        return {"y": y, "square": times * times, "add": add + 1, "big": add > 0, "names": names}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="texts")])
    def keep(self, texts):
        before = tf.identity(self.kept)
        with tf.control_dependencies([before]):
            self.kept.assign(texts)
        return {"before": before}


model = Model()
signatures = {"serving_default": model.embed, "numbers": model.numbers, "keep": model.keep}
tf.saved_model.save(model, f"{folder}/model", signatures=signatures)
with open(f"{folder}/batches.json") as file:
    batches = json.load(file)
for name, batch in batches.items():
    texts = tf.constant([bytes.fromhex(text) for text in batch], tf.string, [len(batch)])
    for output, value in model.embed(texts).items():
        value = value.numpy()
        value = value.astype("S1000") if value.dtype == object else value
        np.save(f"{folder}/{name}.{output}.npy", value)
"""

RUN = """
import json, sys
import numpy as np
from tf_charagram.export.runtime.c_runtime import CRuntime

folder = sys.argv[1]
outputs = {}
with CRuntime(f"{folder}/model", intra_op_threads=1, inter_op_threads=1) as runtime:
    for name, batch in json.load(open(f"{folder}/batches.json")).items():
        texts = {"texts": [bytes.fromhex(text) for text in batch]}
        for output, value in runtime.run("serving_default", texts).items():
            value = value.astype("S1000") if value.dtype == object else value
            outputs[f"{name}.{output}"] = value
np.savez(f"{folder}/outputs.npz", **outputs)
loaded = [name for name in sys.modules if name.partition(".")[0] in ("tensorflow", "keras")]
sys.exit(f"imported: {loaded}" if loaded else 0)
"""


def run_python(script, folder):
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    command = [sys.executable, "-c", script, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("c_runtime")
    batches = {name: [text.hex() for text in batch] for name, batch in BATCHES.items()}
    (folder / "batches.json").write_text(json.dumps(batches), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["build", str(folder)])
        exec(BUILD, {})
    return folder


@pytest.fixture(scope="module")
def runtime(folder):
    with CRuntime(folder / "model") as runtime:
        yield runtime


@pytest.fixture(scope="module")
def outputs(folder):
    run_python(RUN, folder)
    with np.load(folder / "outputs.npz") as outputs:
        return dict(outputs)


@pytest.mark.parametrize("output", ["embedding", "echo", "num_bytes", "num_symbols"])
@pytest.mark.parametrize("batch", BATCHES)
def test_a_process_without_python_tensorflow_gives_the_golden_outputs(
    folder, outputs, batch, output
):
    golden = np.load(folder / f"{batch}.{output}.npy")
    result = outputs[f"{batch}.{output}"]
    assert (result.shape, result.dtype) == (golden.shape, golden.dtype)
    assert len(result) == len(BATCHES[batch])
    if output == "embedding":
        np.testing.assert_allclose(result, golden, rtol=1e-6, atol=1e-6)
    else:
        np.testing.assert_array_equal(result, golden)


def test_signatures_are_read_from_the_saved_model(runtime):
    assert set(runtime.signatures) == {"serving_default", "numbers", "keep"}
    serving = runtime.signatures["serving_default"]
    assert list(serving.inputs) == ["texts"]
    assert serving.inputs["texts"].name == "serving_default_texts:0"
    assert serving.inputs["texts"].dtype == object
    assert serving.outputs["embedding"].shape == (None, 5)
    assert serving.outputs["embedding"].dtype == np.float32
    numbers = runtime.signatures["numbers"].inputs
    assert numbers["x"].shape == (2, None, 3)
    assert numbers["times"].shape == ()
    assert numbers["names"].shape is None


def test_str_is_sent_as_utf8(runtime):
    texts = ["caf\N{LATIN SMALL LETTER E WITH ACUTE}", "\N{GRINNING FACE}", "lone \ud800", "\0"]
    outputs = runtime.run("serving_default", {"texts": texts})
    expected = [b"<" + text.encode("utf-8", "surrogatepass") + b">" for text in texts]
    assert outputs["echo"].tolist() == expected
    assert np.isfinite(outputs["embedding"]).all()


@pytest.mark.parametrize("length", [0, 1, 4])
def test_numbers_of_any_rank(runtime, length):
    x = np.arange(2 * length * 3, dtype=np.float32).reshape(2, length, 3)
    add = np.arange(length * 2).reshape(length, 2)  # int64 values that fit int32
    names = np.array([[b"\0"], [b"long" * 100]], dtype=object)
    # A transposed view: the values must go in their C order.
    fed = np.asfortranarray(x)
    outputs = runtime.run("numbers", {"x": fed, "times": 3, "add": add, "names": names})
    np.testing.assert_array_equal(outputs["y"], x * 3)
    np.testing.assert_array_equal(outputs["add"], add + 1)
    np.testing.assert_array_equal(outputs["big"], add > 0)
    np.testing.assert_array_equal(outputs["names"], names)
    assert outputs["square"] == 9
    dtypes = {name: value.dtype for name, value in outputs.items()}
    assert (dtypes["y"], dtypes["add"], dtypes["square"]) == (np.float32, np.int32, np.int64)


def test_strings_a_variable_keeps_outlive_their_run(runtime):
    texts = [b"too long to be stored inside the string itself", b"short"]
    runtime.run("keep", {"texts": texts})
    runtime.run("serving_default", {"texts": [b"x" * 46] * 100})
    assert runtime.run("keep", {"texts": [b""]})["before"].tolist() == texts


def test_a_wrong_signature_or_input_is_named_with_a_suggestion(runtime):
    with pytest.raises(ConfigError, match=r"'serving'. Did you mean 'serving_default'\?.*keep"):
        runtime.run("serving", {"texts": []})
    with pytest.raises(ConfigError, match=r"Unknown input 'text'. Did you mean 'texts'\?"):
        runtime.run("serving_default", {"text": []})
    with pytest.raises(ConfigError, match="Signature 'numbers' also needs: add, names, times"):
        runtime.run("numbers", {"x": []})


def test_values_that_do_not_fit_are_named(runtime):
    with pytest.raises(ConfigError, match=r"Input 'texts' takes str or bytes. Received: 3"):
        runtime.run("serving_default", {"texts": ["a", 3]})
    fitting = {"x": np.zeros((2, 1, 3)), "times": 1, "add": [[1, 2]], "names": "a"}
    for times in (1.5, 2**70, "1"):
        with pytest.raises(ConfigError, match=r"Input 'times' takes int64 values. Received: "):
            runtime.run("numbers", {**fitting, "times": times})
    with pytest.raises(ConfigError, match=r"Input 'add' takes int32 values. Received: int64"):
        runtime.run("numbers", {**fitting, "add": [[2**40, 1]]})


def test_errors_of_the_graph_carry_the_c_message_and_leave_the_runtime_usable(runtime):
    negative = {"x": np.zeros((2, 1, 3)), "times": -1, "add": [[1, 2]], "names": "a"}
    with pytest.raises(RuntimeError, match="`times` must not be negative"):
        runtime.run("numbers", negative)
    assert runtime.run("serving_default", {"texts": ["a"]})["embedding"].shape == (1, 5)


def test_a_wrong_folder_or_thread_count_is_named(folder, tmp_path):
    with pytest.raises(RuntimeError, match=r"Could not find SavedModel.*" + tmp_path.name):
        CRuntime(tmp_path)
    with pytest.raises(ConfigError, match=r"`inter_op_threads` must be >= 1 .*inter_op_threads=0"):
        CRuntime(folder / "model", inter_op_threads=0)


def test_close_frees_once_and_run_says_so(folder):
    runtime = CRuntime(folder / "model")
    runtime.close()
    runtime.close()
    with pytest.raises(RuntimeError, match="`run` came after `close`"):
        runtime.run("serving_default", {"texts": []})
