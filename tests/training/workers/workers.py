"""What two workers of `test_exchange.py` do: prints what each of them got as JSON."""

import json
import os

import numpy as np
import tensorflow as tf

from tf_charagram.errors import LostWorkerError
from tf_charagram.training.division import encode_share, some_rows, summed_gradients
from tf_charagram.training.workers.cluster import cluster_of
from tf_charagram.training.workers.connection import connect

TYPES = (tf.float32, tf.bfloat16, tf.float64, tf.int32, tf.int64, tf.uint32)


def main() -> None:
    exchange = connect(cluster_of())
    rank = exchange.rank
    own_ids = tf.ragged.constant([[1, 2], []][rank:], tf.int32)
    result = {
        "json": exchange.json({"rank": rank, "ü": "x" * 9 * rank}),
        "numbers": exchange.numbers(1, rank),
        "any": [exchange.any(rank == 1), exchange.any(False)],
        "of_chief": exchange.of_chief(3.5 + rank),
        "copied": [copied(exchange, dtype, rank) for dtype in TYPES],
        "ragged": [one.to_list() for one in exchange.ragged(own_ids)],
        **slices(exchange, rank),
        **vectors(exchange),
    }
    print(json.dumps(result), flush=True)
    try:
        exchange.wait()  # Else one may be gone while the other still reads what it sent.
        if rank == 1:
            os._exit(0)
        for _ in range(3):
            exchange.wait()
    except LostWorkerError as error:
        print(json.dumps(str(error)), flush=True)
    os._exit(0)


def copied(exchange, dtype, rank):
    """Returns what variables of the second have, once they are those of the first."""
    variables = [tf.Variable(tf.cast(tf.reshape(tf.range(6), [3, 2]) + rank, dtype)),
                 tf.Variable(tf.cast(5 + rank, dtype))]  # fmt: skip
    exchange.copy_from_chief(variables)
    return [tf.cast(variable, tf.float32).numpy().tolist() for variable in variables]


def slices(exchange, rank):
    """Returns the sum of sparse gradients of different length, and of dense ones."""
    rows = tf.constant([3, 0, 1][: 1 + 2 * rank])
    values = tf.ones([1 + 2 * rank, 2]) * (rank + 1.0)
    sparse = tf.IndexedSlices(values, rows, tf.constant([4, 2]))
    sums = summed_gradients([sparse, tf.constant([1.0, rank])], exchange)
    return {"sparse": tf.convert_to_tensor(sums[0]).numpy().tolist(),
            "distinct": len(np.unique(sums[0].indices)) == len(sums[0].indices),
            "dense": sums[1].numpy().tolist()}  # fmt: skip


def vectors(exchange):
    """Returns the vectors of texts encoded in shares, and the summed gradient of the weights."""
    ids = tf.ragged.constant([[1, 2], [], [3], [4, 5, 6], [7]])
    weight = tf.Variable(2.0)

    def encoder(ids, training):
        return weight * tf.cast(tf.reduce_sum(ids, axis=1), tf.float32)[:, tf.newaxis]

    found = []
    for texts in (ids, some_rows(ids, 1, 4), some_rows(ids, 0, 1)):
        with tf.GradientTape() as tape:
            encoded = encode_share(encoder, texts, True, exchange)
            loss = tf.reduce_sum(tf.square(encoded))
        gradient = exchange.numbers(float(tape.gradient(loss, weight) or 0.0))
        found.append([encoded.numpy()[:, 0].tolist(), *gradient])
    return {"encoded": found}


if __name__ == "__main__":
    main()
