"""An epoch of training a head on vectors computed once, against computing them in every epoch.

    python benchmarks/supervised.py [--data SICK] [--encoders charagram,cse]

All train the same head on the same batches; the encoder is not trained. "from_ids" is a forward
pass over the ids of the texts of each batch, which are in memory; "from_strings" reads the texts
too.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from functools import partial

import common
import fitting
import numpy as np
import tensorflow as tf

from tf_charagram.data._tables.columns import read_scored_pairs
from tf_charagram.encoders import encoder_class
from tf_charagram.layers._ops.ragged import gather_ragged
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.optimizers.registry import make_optimizer
from tf_charagram.tasks.labels._heads.heads import PairScoreHead
from tf_charagram.text import vectorizer_class
from tf_charagram.text._algorithm.arguments import distinct
from tf_charagram.text._algorithm.tensors import ids_function
from tf_charagram.training._loop.loop import STEPS_PER_EXECUTION
from tf_charagram.training._loop.processor import limit_threads
from tf_charagram.training._loop.steps import FeatureSteps, choose_steps, run_watched
from tf_charagram.training._loop.stream import ExampleStream
from tf_charagram.training.supervised_model import SupervisedModel

DIM = 300
NUM_CLASSES = 5


def scored_pairs(path: str | None, seed: int = 0) -> tuple[list[str], list[str], np.ndarray]:
    """Returns the pairs of a file, or as many made-up sentences as SICK has."""
    if path is not None:
        pairs = read_scored_pairs(path, 1.0, float(NUM_CLASSES))
        return pairs.left, pairs.right, pairs.scores
    rng = random.Random(seed)
    words = ["".join(rng.choices(common.LETTERS, k=rng.randint(2, 9))) for _ in range(2300)]
    texts = [" ".join(rng.choices(words, k=rng.randint(5, 15))) for _ in range(4900)]
    left, right = (rng.choices(texts, k=4500) for _ in range(2))
    return left, right, np.array([rng.uniform(1, NUM_CLASSES) for _ in left])


def epoch(
    encoder: tf.keras.layers.Layer | None,
    take: Callable[[tf.Tensor], tf.Tensor | tf.RaggedTensor],
    rows: tf.Tensor,
    scores: tf.Tensor,
    batch_size: int,
) -> Callable[[], object]:
    """Returns a function that trains a head for an epoch.

    Args:
        encoder: What embeds ids at every step; `None` where vectors are in memory.
        take: Gives the ids or the vectors of some of the distinct texts.
        rows: Which of these are the left and the right texts, `(2, num_pairs)`.
        scores: Of the pairs.
        batch_size: Pairs per batch.
    """

    def batch(chosen: tf.Tensor) -> tuple[tf.Tensor | tf.RaggedTensor, tf.Tensor]:
        texts = tf.reshape(tf.gather(rows, chosen, axis=1), [-1])
        return take(texts), tf.gather(scores, chosen)

    head = PairScoreHead(dim=DIM, num_classes=NUM_CLASSES)
    model = SupervisedModel(encoder, head)
    model.compile(make_optimizer("adam", 0.001), steps_per_execution=STEPS_PER_EXECUTION)
    stream = ExampleStream(len(scores), batch, batch_size=batch_size, unit="pairs")
    if encoder is None:
        run_segment = partial(run_watched, model, FeatureSteps(model, stream, batch).run)
    else:
        run_segment = choose_steps(model, stream)
    return lambda: fitting.run(model, stream, stream.steps_per_epoch, run_segment)


def rates(
    name: str, left: list[str], right: list[str], scores: np.ndarray, options: argparse.Namespace
) -> dict:
    """Times the epochs of one encoder."""
    texts = [*left, *right]
    encoder_type = encoder_class(name)
    vectorizer = vectorizer_class(encoder_type.vectorizer).from_texts(texts)
    encoder = encoder_type(num_rows=vectorizer.num_rows, dim=DIM)
    encoder.trainable = False
    embedder = TextEmbedder(vectorizer, encoder)
    known, positions = distinct(texts)
    matrix = embedder.encode(known)
    cache_s = common.seconds(lambda: embedder.encode(distinct(texts)[0]))
    vectors, rows = tf.constant(matrix), tf.constant(positions.reshape(2, -1))
    ids, strings = ids_function(vectorizer)(known), tf.constant(known)
    examples = rows, tf.constant(scores, tf.float32), options.batch_size
    runs = {
        "cached": epoch(None, lambda wanted: tf.gather(vectors, wanted), *examples),
        "from_ids": epoch(encoder, lambda wanted: gather_ragged(ids, wanted), *examples),
        "from_strings": epoch(
            encoder, lambda wanted: vectorizer(tf.gather(strings, wanted)), *examples
        ),
    }
    rates = common.compare(options.rounds, runs, len(scores), "pairs/s")
    return rates | {"making the cache": common.Sample([cache_s], "s")}


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__, data="sts/SICK.train.tsv")
    parser.add_argument("--encoders", default="charagram,cse")
    parser.add_argument("--batch-size", type=int, default=25)
    parser.add_argument(
        "--threads", type=int, default=1, help="of an operation; 1 as in runs with frozen encoders"
    )
    arguments = parser.parse_args()
    limit_threads(arguments.threads)
    left, right, scores = scored_pairs(arguments.data)
    result = {"num_pairs": len(scores), "dim": DIM, "batch_size": arguments.batch_size}
    result["threads"] = arguments.threads
    for name in arguments.encoders.split(","):
        result[name] = rates(name, left, right, scores, arguments)
        print(f"{name}: {result[name]}", flush=True)
    common.finish("supervised", result, arguments)


if __name__ == "__main__":
    tf.get_logger().setLevel("ERROR")
    main()
