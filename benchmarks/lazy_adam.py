"""`fit` of a Keras model with a large `Embedding`: `keras.optimizers.Adam` against `LazyAdam`.

    python benchmarks/lazy_adam.py [--rows 100000,1000000] [--jit-compile]

The case of keras issue 19992: every step of Adam rewrites the whole table and both of its moments.
Both models are trained in turns, on the same batches of random ids. Runs on a GPU if there is one.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import common
import keras
import numpy as np
import tensorflow as tf

from tf_charagram.optimizers import LazyAdam

DIM = 64
BATCH_SIZE = 256
NUM_IDS = 20


def make_model(
    num_rows: int, optimizer: keras.optimizers.Optimizer, jit_compile: bool
) -> keras.Model:
    """Returns a classifier of sequences by the mean of their embeddings."""
    model = keras.Sequential(
        [
            keras.Input((NUM_IDS,), dtype="int32"),
            keras.layers.Embedding(num_rows, DIM),
            keras.layers.GlobalAveragePooling1D(),
            keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(optimizer, "binary_crossentropy", jit_compile=jit_compile)
    return model


def measure(num_rows: int, arguments: argparse.Namespace) -> dict[str, common.Sample]:
    """Returns the sequences per second of both, and the ratios of rounds."""
    rng = np.random.default_rng(0)
    size = arguments.steps * BATCH_SIZE
    ids = rng.integers(0, num_rows, (size, NUM_IDS), dtype=np.int32)
    labels = rng.integers(0, 2, size)
    data = tf.data.Dataset.from_tensor_slices((ids, labels)).batch(BATCH_SIZE).prefetch(2)

    def trained(optimizer: keras.optimizers.Optimizer) -> Callable[[], object]:
        model = make_model(num_rows, optimizer, arguments.jit_compile)
        return lambda: model.fit(data, verbose=0, shuffle=False)

    runs = {"lazy_adam": trained(LazyAdam()), "adam": trained(keras.optimizers.Adam())}
    return common.compare(arguments.rounds, runs, size, "sequences/s")


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__)
    parser.add_argument("--rows", default="100000,1000000", help="heights of the tables")
    parser.add_argument("--steps", type=int, default=20, help="steps per call of `fit`")
    parser.add_argument("--jit-compile", action="store_true", help="compile with XLA")
    arguments = parser.parse_args()
    devices = tf.config.list_physical_devices("GPU")
    names = [tf.config.experimental.get_device_details(each)["device_name"] for each in devices]
    result: dict[str, object] = {
        "device": ", ".join(names) or "CPU",
        "jit_compile": arguments.jit_compile,
    }
    for num_rows in map(int, arguments.rows.split(",")):
        found = measure(num_rows, arguments)
        print(f"{num_rows:,} rows: {found}", flush=True)
        result[f"{num_rows} rows"] = found
    common.finish("lazy_adam", result, arguments)


if __name__ == "__main__":
    tf.get_logger().setLevel("ERROR")
    main()
