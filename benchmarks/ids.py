"""Strings to ids: words and sentences per second, on all cores and from one caller.

    python benchmarks/ids.py [--data PAIRS]

The vectorizer has a vocabulary of 2-, 3- and 4-grams. `all_cores` gives batches of Python strings
to as many threads as there are cores, as `train` and `vocabulary` do; `one_caller` gives one after
the other; `tensors` gives batches that are tensors already, as a SavedModel or `tf.data` has them.
"""

from __future__ import annotations

from collections import deque

import common
import tensorflow as tf

from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.text._algorithm.batches import in_threads, num_threads
from tf_charagram.text._algorithm.tensors import ids_function
from tf_charagram.training._loop.building import make_vectorizer

BATCH = 10_000


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__, data=common.WORDS)
    parser.add_argument("--number", type=int, default=500_000, help="texts per call")
    arguments = parser.parse_args()
    # Whole batches run side by side.
    tf.config.threading.set_intra_op_parallelism_threads(1)
    texts = common.texts_of(common.word_pairs(arguments.data))
    vectorizer = make_vectorizer(ParaphraseConfig(), texts)
    to_ids = ids_function(vectorizer)
    graph = tf.function(vectorizer.__call__, input_signature=[tf.TensorSpec([None], tf.string)])
    words = [text for text in texts if " " not in text]
    result: dict = {"num_rows": vectorizer.num_rows, "cores": num_threads()}
    for kind, sample in {"words": words, "sentences": common.sts_lines()}.items():
        number = arguments.number if kind == "words" else arguments.number // 5
        many = (sample * (number // len(sample) + 1))[:number]
        batches = [many[start : start + BATCH] for start in range(0, number, BATCH)]
        tensors = [tf.constant(batch) for batch in batches]
        runs = {
            "all_cores": lambda batches=batches: deque(in_threads(to_ids, batches), maxlen=0),
            "one_caller": lambda batches=batches: deque(map(to_ids, batches), maxlen=0),
            "tensors": lambda tensors=tensors: deque(in_threads(graph, tensors), maxlen=0),
        }
        result[kind] = common.compare(arguments.rounds, runs, number, f"{kind}/s")
        print(f"{kind}: {result[kind]}", flush=True)
    common.finish("ids", result, arguments)


if __name__ == "__main__":
    main()
