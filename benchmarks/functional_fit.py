"""A functional Keras model with `LazyAdam` against the package's own training, same batches of ids.

    python benchmarks/functional_fit.py [--data PAIRS] [--batch-size 100]

All compute the margin loss with the most similar text as negative. The package's own training is
`ParaphraseModel`; the functional models have `MarginLoss`. One gets the ids of all texts of a
batch, as `ParaphraseModel` does. The other has two towers, and calls the encoder once for each
side, so that rows of the table that both sides name are looked up, and summed, twice. With
`--keras` there is the first one with Keras' Adam, too.
"""

from __future__ import annotations

import common
import keras
import tensorflow as tf

from tf_charagram.encoders.charagram import Charagram
from tf_charagram.losses.margin import MarginLoss
from tf_charagram.optimizers import LazyAdam
from tf_charagram.tasks.paraphrase.model import ParaphraseModel
from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
from tf_charagram.training._loop.building import make_vectorizer
from tf_charagram.training._loop.loop import STEPS_PER_EXECUTION

DIM = 300


def batches(pairs: list, vectorizer: keras.layers.Layer, size: int, steps: int) -> list:
    """Returns batches of ids of lefts and of rights."""
    chosen = pairs[: size * steps]
    sides = [
        vectorizer(tf.constant(list(side))).with_row_splits_dtype(tf.int64)
        for side in zip(*chosen, strict=True)
    ]
    starts = range(0, len(chosen), size)
    return [tuple(side[start : start + size] for side in sides) for start in starts]


def dataset(elements: list) -> tf.data.Dataset:
    """Returns a dataset of batches that are in memory."""
    kept = tf.data.Dataset.from_generator(
        lambda: iter(elements), output_signature=_spec(elements[0])
    ).cache()
    num_batches = sum(1 for _ in kept)
    kept = kept.apply(tf.data.experimental.assert_cardinality(num_batches))
    return kept.prefetch(tf.data.AUTOTUNE)


def _spec(element: object) -> object:
    ragged = tf.RaggedTensorSpec([None, None], tf.int32, 1, tf.int64)
    return tf.nest.map_structure(
        lambda part: (
            ragged if isinstance(part, tf.RaggedTensor) else tf.TensorSpec([None], part.dtype)
        ),
        element,
    )


def functional(
    num_rows: int, optimizer: keras.optimizers.Optimizer, num_towers: int
) -> keras.Model:
    """Returns a model of all texts of a batch, or one of two towers."""
    encoder = Charagram(num_rows=num_rows, dim=DIM)
    inputs = [keras.Input((None,), dtype="int32", ragged=True) for _ in range(num_towers)]
    vectors = [encoder(ids) for ids in inputs]
    if num_towers == 1:
        vectors = keras.ops.split(vectors[0], 2)
    model = keras.Model(inputs, keras.ops.stack(vectors, axis=1))
    model.compile(
        optimizer, MarginLoss(0.4), jit_compile=False, steps_per_execution=STEPS_PER_EXECUTION
    )
    return model


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__, data=common.WORDS)
    parser.add_argument("--batch-size", type=int, default=100)
    parser.add_argument("--steps", type=int, default=200, help="steps per call of `fit`")
    parser.add_argument("--keras", action="store_true", help="also with Keras' Adam, 10 steps")
    arguments = parser.parse_args()
    size, steps = arguments.batch_size, arguments.steps
    pairs = common.word_pairs(arguments.data)
    vectorizer = make_vectorizer(ParaphraseConfig(), common.texts_of(pairs))
    ids = batches(pairs, vectorizer, size, steps)
    numbers = tf.range(size, dtype=tf.int64)
    for_towers = dataset([(sides, numbers) for sides in ids])
    joined = [tf.concat(sides, axis=0) for sides in ids]
    for_one = dataset([((both,), numbers) for both in joined])
    for_ours = dataset([(both, tf.tile(numbers, [2])) for both in joined])

    ours = ParaphraseModel(Charagram(num_rows=vectorizer.num_rows, dim=DIM))
    ours.compile(LazyAdam(distinct_rows=True), steps_per_execution=STEPS_PER_EXECUTION)
    one, towers = (functional(vectorizer.num_rows, LazyAdam(), towers) for towers in (1, 2))
    runs = {
        "ours": lambda: ours.fit(for_ours, verbose=0, shuffle=False),
        "functional": lambda: one.fit(for_one, verbose=0, shuffle=False),
        "two_towers": lambda: towers.fit(for_towers, verbose=0, shuffle=False),
    }
    result = common.compare(arguments.rounds, runs, steps * size, "pairs/s")
    if arguments.keras:
        slow = functional(vectorizer.num_rows, keras.optimizers.Adam(), 1)
        few = for_one.take(10)
        slow.fit(few, verbose=0, shuffle=False)
        seconds = common.seconds(lambda: slow.fit(few, verbose=0, shuffle=False))
        result["keras_adam"] = common.Sample([10 * size / seconds], "pairs/s")
    print(f"batch {size}: {result}", flush=True)
    facts = {"num_rows": vectorizer.num_rows, "dim": DIM, "batch_size": size}
    common.finish("functional_fit", facts | result, arguments)


if __name__ == "__main__":
    tf.get_logger().setLevel("ERROR")
    main()
