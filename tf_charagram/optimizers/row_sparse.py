"""Row-sparse updates: their base, and clipping."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tf_charagram.errors import check_switches
from tf_charagram.layers.embedding_table import Gradient
from tf_charagram.layers.placement import beside
from tf_charagram.optimizers.exchange import ALONE, Exchange
from tf_charagram.optimizers.table_rows import TableOptimizer, for_each_block, sum_equal_rows


class RowSparseOptimizer(TableOptimizer):
    """Base of the optimizers that read and write only the rows a sparse gradient names.

    Comes before the Keras optimizer among the bases of a class. Equal rows of one gradient are
    summed before they are applied.

    Args:
        distinct_rows: Whether the rows of every sparse gradient are known to be distinct, as those
            of one call of `RaggedEmbeddingSum` are; then they are not summed. With several
            replicas they are summed all the same.
        **kwargs: `rounding_seed` of `TableOptimizer`, and as for the Keras optimizer.
    """

    def __init__(self, *, distinct_rows: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        check_switches(distinct_rows=distinct_rows)
        self.distinct_rows = distinct_rows

    def update_step(
        self, gradient: Gradient, variable: tf.Variable, learning_rate: tf.Tensor
    ) -> None:
        """Updates one variable, or the rows of it that a sparse gradient names."""
        with beside(gradient):
            if not isinstance(gradient, tf.IndexedSlices):
                if variable.dtype == tf.bfloat16:
                    self._update_blocks(gradient, variable, learning_rate)
                else:
                    self.update_all(gradient, variable, learning_rate)
                return
            # A sum over replicas names a row once for each.
            num_replicas = self._distribution_strategy.num_replicas_in_sync
            if not self.distinct_rows or num_replicas > 1:
                gradient = sum_equal_rows(gradient)
            self.update_rows(gradient, variable, learning_rate)

    def update_all(
        self, gradient: tf.Tensor, variable: tf.Variable, learning_rate: tf.Tensor
    ) -> None:
        """Updates one variable by a dense gradient; left to Keras."""
        super().update_step(gradient, variable, learning_rate)

    def _update_blocks(
        self, gradient: tf.Tensor, variable: tf.Variable, learning_rate: tf.Tensor
    ) -> None:
        """Updates a table in bfloat16 by a dense gradient."""

        def update(indices: tf.Tensor) -> None:
            slices = tf.IndexedSlices(tf.gather(gradient, indices), indices)
            self.update_rows(slices, variable, learning_rate)

        for_each_block(variable, update)

    @abstractmethod
    def update_rows(
        self, gradient: tf.IndexedSlices, variable: tf.Variable, learning_rate: tf.Tensor
    ) -> None:
        """Updates the rows of a variable that a gradient with distinct rows names."""

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor arguments."""
        return {**super().get_config(), "distinct_rows": self.distinct_rows}


def clip_by_global_norm(
    gradients: Sequence[Gradient],
    clip_norm: float,
    is_part: Sequence[bool] | None = None,
    exchange: Exchange = ALONE,
) -> list[Gradient]:
    """Scales gradients so that their joint L2 norm is at most `clip_norm`.

    Args:
        gradients: Dense tensors, or sparse ones with distinct rows.
        clip_norm: Largest norm, above 0 and finite.
        is_part: Which of them are of parts of a table whose other parts `exchange` has. Default:
            none.
        exchange: The other workers, which have the same gradients besides.

    Raises:
        tf.errors.InvalidArgumentError: The norm, whose square is a float32, is not finite.
    """
    whole: list[tf.Tensor] = [tf.zeros([])]
    parts: list[tf.Tensor] = [tf.zeros([])]
    for gradient, belongs in zip(gradients, is_part or [False] * len(gradients), strict=True):
        (parts if belongs else whole).append(_sum_of_squares(gradient))
    norm = tf.sqrt(tf.add_n([*whole, exchange.sum(tf.add_n(parts))]))
    norm = tf.debugging.check_numerics(norm, "The norm of the gradient is not finite")
    return scaled(gradients, clip_norm / tf.maximum(norm, clip_norm))


def _sum_of_squares(gradient: Gradient) -> tf.Tensor:
    with beside(gradient):
        is_sparse = isinstance(gradient, tf.IndexedSlices)
        return tf.reduce_sum(tf.square(gradient.values if is_sparse else gradient))


def scaled(gradients: Sequence[Gradient], scale: float | tf.Tensor) -> list[Gradient]:
    """Returns gradients times a number; a factor of 1 costs nothing."""
    if isinstance(scale, float) and scale == 1.0:
        return list(gradients)
    return [_times(gradient, scale) for gradient in gradients]


def _times(gradient: Gradient, scale: float | tf.Tensor) -> Gradient:
    with beside(gradient):
        if not isinstance(gradient, tf.IndexedSlices):
            return gradient * scale
        return tf.IndexedSlices(gradient.values * scale, gradient.indices, gradient.dense_shape)
