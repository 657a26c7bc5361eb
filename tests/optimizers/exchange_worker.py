"""One of the two workers of `test_exchange.py`: prints its results as JSON."""

import json
import os

import numpy as np
import tensorflow as tf

from tf_charagram.errors import LostWorkerError
from tf_charagram.training.workers import cluster_of, connect

TEXTS = ([[1, 2], [], [3], [4, 5, 6], [7]], [[], [3], [4, 5, 6]], [[3]])
TYPES = (tf.float32, tf.bfloat16, tf.int64)


def main() -> None:
    exchange = connect(cluster_of())
    rank = exchange.rank
    own_ids = tf.ragged.constant([[1, 2], []][rank:], tf.int32)
    result = {
        "json": exchange.json({"rank": rank, "ü": "x" * 9 * rank}),
        "numbers": exchange.numbers(1, rank),
        "any": [exchange.any(rank == 1), exchange.any(False)],
        "of_chief": exchange.of_chief(3.5 + rank),
        "copied": [assigned(exchange.copy_from_chief, dtype, rank) for dtype in TYPES],
        "merged": assigned(exchange.merge_rows, tf.bfloat16, rank),
        "ragged": [one.to_list() for one in exchange.ragged(own_ids)],
        **gradients(exchange, rank),
        "encoded": [encoded(exchange, texts) for texts in TEXTS],
    }
    print(json.dumps(result), flush=True)
    try:
        exchange.wait()  # One must not end while the other still reads its message.
        if rank == 1:
            os._exit(0)
        for _ in range(3):
            exchange.wait()
    except LostWorkerError as error:
        print(json.dumps(str(error)), flush=True)
    os._exit(0)


def assigned(exchange_all, dtype, rank):
    """Returns variables that differ between the workers, after an exchange."""
    variables = [
        tf.Variable(tf.cast(tf.reshape(tf.range(6), [3, 2]) + rank, dtype)),
        tf.Variable(tf.cast([5 + rank], dtype)),
    ]
    exchange_all(variables)
    return [tf.cast(variable, tf.float32).numpy().tolist() for variable in variables]


def gradients(exchange, rank):
    """Returns the sums of sparse gradients of different length, and of dense ones."""
    rows = tf.constant([3, 0, 1][: 1 + 2 * rank])
    values = tf.ones([1 + 2 * rank, 2]) * (rank + 1.0)
    sparse = tf.IndexedSlices(values, rows, tf.constant([4, 2]))
    sums = exchange.sum_gradients([sparse, tf.constant([1.0, rank])])
    return {
        "sparse": tf.convert_to_tensor(sums[0]).numpy().tolist(),
        "distinct": len(np.unique(sums[0].indices)) == len(sums[0].indices),
        "dense": sums[1].numpy().tolist(),
    }


def encoded(exchange, texts):
    """Returns the vectors of texts encoded in shares, and the summed gradient of the weight."""
    weight = tf.Variable(2.0)

    def encoder(ids, training):
        return weight * tf.cast(tf.reduce_sum(ids, axis=1), tf.float32)[:, tf.newaxis]

    with tf.GradientTape() as tape:
        vectors = exchange.encode_share(encoder, tf.ragged.constant(texts), True)
        loss = tf.reduce_sum(tf.square(vectors))
    gradient = exchange.numbers(float(tape.gradient(loss, weight) or 0.0))
    return [vectors.numpy()[:, 0].tolist(), *gradient]


if __name__ == "__main__":
    main()
