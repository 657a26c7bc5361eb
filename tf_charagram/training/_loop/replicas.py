"""Several GPUs: replicas encode a share of a batch, and see all vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from tf_charagram.layers._ops.ragged import gather_ragged
from tf_charagram.layers._ops.row_gradients import Gradient, sum_equal_rows

_PADDING = -1


def make_strategy() -> tf.distribute.Strategy:
    """Returns the strategy that trains on all GPUs of this machine."""
    gpus = _gpus()
    return tf.distribute.MirroredStrategy(gpus) if len(gpus) > 1 else tf.distribute.get_strategy()


def _gpus() -> list[str]:
    return [device.name for device in tf.config.list_logical_devices("GPU")]


class MeanLoss(keras.metrics.Mean):
    """Mean over batches and replicas, which can be assigned outside of the replicas.

    Keras' own keeps a sum for each replica, to which TensorFlow adds inside of replicas only.
    """

    def add_variable(
        self,
        shape: Sequence[int],
        initializer: Any,
        dtype: Any = None,
        aggregation: str = "mean",
        name: str | None = None,
    ) -> keras.Variable:
        """Returns a variable that replicas update together."""
        del aggregation
        initializer = keras.initializers.get(initializer)
        return keras.Variable(
            initializer, shape, dtype, trainable=False, aggregation="mean", name=name
        )


def shared_by_replicas(
    batches: tf.data.Dataset, strategy: tf.distribute.Strategy
) -> tf.data.Dataset:
    """Prepares batches for Keras' `fit`, so that each replica gets a copy of the whole batch.

    Keras splits batches along their first axis, and averages the first one over the replicas, which
    fails for ragged tensors. So each tensor becomes one copy per replica, with padded ids.

    Args:
        batches: Batches of `(ids, numbers)`: `tf.RaggedTensor` `(n, None)` and int64 `(n,)`.
        strategy: Strategy of the model; with one replica, `batches` is returned.
    """
    num_replicas = strategy.num_replicas_in_sync
    is_shared = batches.element_spec[1].shape.rank == 2
    if num_replicas == 1 or is_shared:
        return batches

    def copies(ids: tf.RaggedTensor, numbers: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        # In int64, because int32 would be averaged in host memory.
        padded = tf.cast(ids.to_tensor(_PADDING), tf.int64)
        return tf.stack([padded] * num_replicas), tf.stack([numbers] * num_replicas)

    return batches.map(copies)


def own_copy(
    ids: tf.Tensor | tf.RaggedTensor, numbers: tf.Tensor
) -> tuple[tf.RaggedTensor, tf.Tensor]:
    """Returns the batch of which a replica got a copy by `shared_by_replicas`."""
    if isinstance(ids, tf.RaggedTensor):
        return ids, numbers
    unpadded = tf.RaggedTensor.from_tensor(ids[0], padding=_PADDING)
    return tf.cast(unpadded, tf.int32), numbers[0]


def encode_in_shares(
    encode: Callable[[tf.RaggedTensor], tf.Tensor], ids: tf.RaggedTensor
) -> tf.Tensor:
    """Encodes a share of some texts in each replica; returns the vectors of all.

    The gradient of the gathered vectors adds up over the replicas. If each computes the same loss
    from them, the gradient of a weight of the encoder is the mean of those of the replicas, as it
    is for a weight that all replicas use in full.

    Args:
        encode: Maps at least one text to float32 `(n, dim)`.
        ids: The same in all replicas, int32 `(num_texts, None)`.

    Returns:
        float32 `(num_texts, dim)`.
    """
    context = tf.distribute.get_replica_context()
    num_texts = ids.nrows(tf.int64)
    size = -(-num_texts // context.num_replicas_in_sync)
    first = size * tf.cast(context.replica_id_in_sync_group, tf.int64)
    # The last text fills up the last shares: a new one would add rows to the gradient.
    rows = tf.minimum(first + tf.range(size), num_texts - 1)
    with tf.device("CPU:0"):
        share = gather_ragged(ids, rows)
    return context.all_gather(encode(share), axis=0)[:num_texts]


def mean_gradients(
    gradients: Sequence[Gradient], variables: Sequence[tf.Variable]
) -> list[Gradient]:
    """Returns the means of the gradients of all replicas, sparse ones with distinct rows."""
    means = tf.distribute.get_replica_context().all_reduce("MEAN", list(gradients))
    return [
        sum_equal_rows(mean, variable) if isinstance(mean, tf.IndexedSlices) else mean
        for mean, variable in zip(means, variables, strict=True)
    ]
