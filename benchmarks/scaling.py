"""How training and vocabulary building grow: with the vocabulary, the batch, the corpus.

    python benchmarks/scaling.py

Texts are the same for all vocabulary sizes: 22 ids each, drawn by Zipf's law from the smallest
vocabulary and spread over the larger ones, so that only the size of the tables differs.
"""

from __future__ import annotations

import gc
import random
import resource
import time

import common
import fitting
import keras
import numpy as np
import tensorflow as tf

from tf_charagram.encoders.charagram import Charagram
from tf_charagram.optimizers.registry import make_optimizer
from tf_charagram.tasks.paraphrase._corpus.pair_stream import Pairs, PairStream
from tf_charagram.tasks.paraphrase.model import ParaphraseModel
from tf_charagram.text.vocabulary import NgramVocabulary
from tf_charagram.training._loop.loop import STEPS_PER_EXECUTION

NUM_TEXTS, NUM_PAIRS, IDS_PER_TEXT, SMALLEST = 20_000, 100_000, 22, 20_000


def stream(num_rows: int, batch_size: int) -> PairStream:
    """Returns pairs of made-up texts over a table of `num_rows` rows."""
    rng = np.random.default_rng(0)
    ids = np.minimum(rng.zipf(1.2, NUM_TEXTS * IDS_PER_TEXT) - 1, SMALLEST - 1)
    ids = (ids * (num_rows // SMALLEST)).astype(np.int32)
    ragged = tf.RaggedTensor.from_uniform_row_length(tf.constant(ids), IDS_PER_TEXT)
    ragged = tf.RaggedTensor.from_row_splits(ragged.values, ragged.row_splits)
    texts = tf.constant(rng.integers(0, NUM_TEXTS, 2 * NUM_PAIRS))
    pairs = Pairs(tf.gather(ragged, texts), texts)
    return PairStream(NUM_PAIRS, lambda: pairs, batch_size=batch_size)


def step_runs(sizes: list[int], batch_size: int, steps: int) -> dict:
    """Returns for each vocabulary size a function that trains for `steps` steps."""
    runs = {}
    for size in sizes:
        model = ParaphraseModel(Charagram(num_rows=size))
        model.compile(make_optimizer("adam", 0.001), steps_per_execution=STEPS_PER_EXECUTION)
        batches = stream(size, batch_size)

        def run(model=model, batches=batches) -> None:
            fitting.train(model, batches, steps)

        run()
        runs[str(size)] = run
    return runs


def memory_mb() -> float:
    """Returns the resident size now, in MB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def vocabulary_growth(numbers: list[int]) -> dict:
    """Returns seconds and n-grams of vocabulary builds over growing corpora."""
    rng = random.Random(0)
    result = {}
    for number in numbers:
        texts = ("".join(rng.choices(common.LETTERS, k=rng.randint(4, 14))) for _ in range(number))
        start = time.perf_counter()
        vocabulary = NgramVocabulary.from_texts(texts)
        spent = time.perf_counter() - start
        result[f"{number:,} texts"] = {
            "time": common.Sample([spent], "s"), "ngrams": len(vocabulary),
            "memory": common.Sample([memory_mb()], "MB"),
        }  # fmt: skip
        print(f"vocabulary of {number:,} texts: {result[f'{number:,} texts']}", flush=True)
    return result


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__, rounds=5)
    parser.add_argument("--sizes", default="20000,200000,2000000")
    parser.add_argument("--batch-sizes", default="25,100,1000")
    parser.add_argument("--texts", default="100000,1000000")
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",")]
    result: dict = {}
    for batch_size in map(int, arguments.batch_sizes.split(",")):
        steps = max(STEPS_PER_EXECUTION, 10_000 // batch_size)
        runs = step_runs(sizes, batch_size, steps)
        rates = common.compare(arguments.rounds, runs, steps * batch_size, "pairs/s")
        memory = common.Sample([memory_mb()], "MB")
        result[f"batch {batch_size}"] = {**rates, "memory": memory}
        print(f"batch {batch_size}: {result[f'batch {batch_size}']}", flush=True)
        # Tables of 2 million rows take 7 GB with their moments: make room for the next.
        del runs
        keras.backend.clear_session()
        gc.collect()
    result["vocabulary"] = vocabulary_growth([int(n) for n in arguments.texts.split(",")])
    common.finish("scaling", result, arguments)


if __name__ == "__main__":
    main()
