"""Whole `fit` of the paraphrase model against Keras' Adam and a PyTorch twin, same batches.

    python benchmarks/train_step.py [--data PAIRS] [--batch-sizes 25,50,100]

PyTorch gets one thread or two, whichever it is faster with. TensorFlow takes all cores unless
`TF_NUM_INTRAOP_THREADS=1` is set, which makes small batches faster where cores are few or busy.
"""

from __future__ import annotations

import common
import keras
import numpy as np
import tensorflow as tf
import twins

from tf_charagram.config import ParaphraseConfig
from tf_charagram.data.pipeline.pair_stream import PairStream
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.optimizers import make_optimizer
from tf_charagram.trainers.paraphrase import ParaphraseModel
from tf_charagram.training.building import make_vectorizer
from tf_charagram.training.loop import STEPS_PER_EXECUTION

DIM = 300


def fit(num_rows: int, optimizer: keras.optimizers.Optimizer, stream: PairStream, steps: int):
    """Returns a function that trains for `steps` steps, and has already run once."""
    model = ParaphraseModel(Charagram(num_rows=num_rows, dim=DIM))
    model.compile(optimizer, margin=twins.MARGIN, steps_per_execution=STEPS_PER_EXECUTION)

    def run() -> None:
        common.train(model, stream, steps)

    run()
    return run


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__, data=common.WORDS)
    parser.add_argument("--batch-sizes", default="25,50,100")
    parser.add_argument("--pairs", type=int, default=40_000, help="pairs per call of `fit`")
    parser.add_argument("--keras-steps", type=int, default=10)
    arguments = parser.parse_args()
    pairs = common.word_pairs(arguments.data)
    vectorizer = make_vectorizer(ParaphraseConfig(), common.texts_of(pairs))
    store = common.store_of(pairs, vectorizer)
    has_torch = twins.has_torch()
    result = {"num_rows": vectorizer.num_rows, "dim": DIM}
    for size in map(int, arguments.batch_sizes.split(",")):
        stream, steps = PairStream(store, batch_size=size), arguments.pairs // size
        optimizer = make_optimizer("adam", 0.001)
        ours = fit(vectorizer.num_rows, optimizer, stream, steps)
        twin = ("sum", vectorizer.num_rows, DIM, stream, steps) if has_torch else None
        rates = twins.compare(arguments.rounds, ours, twin, steps * size)
        slow = fit(vectorizer.num_rows, keras.optimizers.Adam(0.001), stream, arguments.keras_steps)
        keras_times = [common.seconds(slow) for _ in range(3)]
        rates["keras"] = round(arguments.keras_steps * size / float(np.median(keras_times)), 1)
        rates["ours/keras"] = round(rates["ours"] / rates["keras"], 2)
        print(f"batch {size}: {rates} (pairs/s)", flush=True)
        result[f"batch_{size}"] = rates
    common.finish("train_step", result)


if __name__ == "__main__":
    tf.get_logger().setLevel("ERROR")
    main()
