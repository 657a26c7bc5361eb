"""Convolutions of several widths over a sequence, each pooled to one number per filter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

from tf_charagram.errors import ConfigError, check_integers, unknown_name
from tf_charagram.layers.base import ConfiguredLayer
from tf_charagram.layers.ragged import sum_rows
from tf_charagram.layers.xla import in_xla, lookup

ACTIVATIONS = ("linear", "tanh", "relu")
POOLINGS = ("max", "sum")


@keras.saving.register_keras_serializable(package="tf_charagram")
class ConvPooling(ConfiguredLayer):
    """Pools `f(convolution)` over the positions of a text, for filters of several widths.

    A filter is applied at every position where it fits inside the text; a shorter text is padded
    with zeros to one position. This is the convolution of Kim (2014).

    Masking: padding and other texts of a batch never change a result. A text without real steps
    gives zeros.

    Args:
        widths: Number of filters of each width: a mapping, or pairs
            `(width, num_filters)`. The output has them in this order.
        activation: f, one of `"linear"`, `"tanh"`, `"relu"`.
        pooling: `"max"` or `"sum"`.
        seed: Seed of the initial weights, which are Glorot uniform; biases are zero.

    Call arguments:
        inputs: float32 `(batch, time, dim)`, `time` at least 1.
        mask: bool `(batch, time)`, true at real steps, which come first; all are real if
            omitted.

    Returns:
        float32 `(batch, total number of filters)`.

    Raises:
        ConfigError: An argument is out of range.
    """

    def __init__(
        self,
        widths: Mapping[int, int] | Sequence[tuple[int, int]],
        *,
        activation: str = "linear",
        pooling: str = "max",
        seed: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.widths = _check_widths(widths)
        if activation not in ACTIVATIONS:
            raise ConfigError(unknown_name("activation", activation, ACTIVATIONS))
        if pooling not in POOLINGS:
            raise ConfigError(unknown_name("pooling", pooling, POOLINGS))
        self.activation = activation
        self.pooling = pooling
        self.seed = seed
        self.supports_masking = True
        self._function = keras.activations.get(activation)
        self.convolutions = [
            keras.layers.Conv1D(
                num_filters,
                width,
                kernel_initializer=keras.initializers.GlorotUniform(seed=seed + index),
                name=f"width_{width}",
                dtype=self.dtype_policy,
            )
            for index, (width, num_filters) in enumerate(self.widths)
        ]

    @property
    def num_filters(self) -> int:
        """Width of the output."""
        return sum(number for _, number in self.widths)

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Creates the weights of the filters."""
        for convolution in self.convolutions:
            convolution.build((None, None, input_shape[-1]))
        self.built = True

    def call(self, inputs: tf.Tensor, mask: tf.Tensor | None = None) -> tf.Tensor:
        """Returns the pooled filters."""
        mask = tf.ones(tf.shape(inputs)[:2], tf.bool) if mask is None else mask
        # A filter that is wider than its text reaches into the padding.
        inputs = tf.where(mask[:, :, tf.newaxis], inputs, 0.0)
        lengths = tf.reduce_sum(tf.cast(mask, tf.int64), axis=1)
        if (self.activation, self.pooling) == ("linear", "sum"):
            return self._summed(inputs, lengths)
        # For an empty batch, oneDNN computes convolutions of a wrong shape.
        num_texts = tf.shape(lengths)[0]
        is_empty = tf.cast(tf.equal(num_texts, 0), tf.int32)
        inputs = tf.pad(inputs, [[0, is_empty], [0, 0], [0, 0]])
        lengths = tf.concat([lengths, tf.zeros([is_empty], tf.int64)], axis=0)

        def convolve(width: int, kernel: tf.Tensor) -> tf.Tensor:
            return tf.nn.conv1d(_at_least(inputs, width), kernel, 1, "VALID")

        return self._pooled(convolve, lengths)[:num_texts]

    def call_rows(self, rows: tf.Tensor, ids: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        """Returns the pooled filters of texts whose steps are rows of a table.

        The same function of `tf.gather(rows, ids)` as `call`, but each column of a filter is
        multiplied with each row once; a window is then a sum of products. A batch of texts has
        about 1,000 characters, but only about 40 distinct ones.

        Args:
            rows: float32 `(num_rows, dim)`; row 0 is zero.
            ids: int64 `(batch, time)`, rows of the table, 0 at padding.
            mask: bool `(batch, time)`, true at real steps, which come first.
        """
        num_rows = tf.shape(rows, tf.int64)[0]

        def convolve(width: int, kernel: tf.Tensor) -> tf.Tensor:
            products = tf.einsum("rd,wdf->wrf", rows, kernel)
            padded = _at_least(ids, width)
            num_windows = tf.shape(padded)[1] - width + 1
            steps = [padded[:, i : i + num_windows] for i in range(width)]
            if in_xla():
                return tf.add_n([lookup(products[i], step) for i, step in enumerate(steps)])
            products = tf.reshape(products, [-1, kernel.shape[2]])
            steps = [step + i * num_rows for i, step in enumerate(steps)]
            windows = tf.RaggedTensor.from_uniform_row_length(
                tf.reshape(tf.stack(steps, axis=2), [-1]), width, validate=False
            )
            shape = [-1, num_windows, kernel.shape[2]]
            return tf.reshape(sum_rows(products, windows), shape)

        return self._pooled(convolve, tf.reduce_sum(tf.cast(mask, tf.int64), axis=1))

    def compute_mask(self, inputs: tf.Tensor, previous_mask: tf.Tensor | None) -> None:
        """Returns `None`, because the output has no steps."""
        del inputs, previous_mask

    def _summed(self, inputs: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
        """Sums linear filters as filters of sums, which need fewer products."""
        num_steps = tf.shape(inputs, tf.int64)[1]
        pooled = []
        for (width, num_filters), convolution in zip(self.widths, self.convolutions, strict=True):
            # Whether each step is the first of a window, the second, and so on.
            num_fitting = _num_fitting(lengths, width)
            begins = tf.range(num_steps) - tf.range(width, dtype=tf.int64)[:, tf.newaxis]
            chosen = (begins >= 0) & (begins < num_fitting[:, tf.newaxis, tf.newaxis])
            sums = tf.matmul(tf.cast(chosen, inputs.dtype), inputs)
            sums = tf.reshape(sums, [-1, width * inputs.shape[2]])
            kernel = tf.reshape(convolution.kernel.value, [-1, num_filters])
            num_fitting = tf.cast(num_fitting, inputs.dtype)[:, tf.newaxis]
            pooled.append(tf.matmul(sums, kernel) + num_fitting * convolution.bias.value)
        return tf.concat(pooled, axis=1)

    def _pooled(
        self, convolve: Callable[[int, tf.Tensor], tf.Tensor], lengths: tf.Tensor
    ) -> tf.Tensor:
        """Pools windows of every width, `(batch, num_windows, num_filters)` without a bias."""
        pooled = []
        for (width, _), part in zip(self.widths, self.convolutions, strict=True):
            outputs, bias = convolve(width, part.kernel.value), part.bias.value
            num_fitting = _num_fitting(lengths, width)[:, tf.newaxis]
            fits = (tf.range(tf.shape(outputs, tf.int64)[1]) < num_fitting)[:, :, tf.newaxis]
            if self.pooling == "sum":
                values = self._function(outputs + bias)
                pooled.append(tf.reduce_sum(tf.where(fits, values, 0.0), axis=1))
                continue
            # Activations are monotonic, so it is enough to apply them to the maximum.
            highest = tf.reduce_max(tf.where(fits, outputs, outputs.dtype.min), axis=1)
            values = self._function(highest + bias)
            pooled.append(tf.where(lengths[:, tf.newaxis] > 0, values, 0.0))
        return tf.concat(pooled, axis=1)


def _at_least(inputs: tf.Tensor, width: int) -> tf.Tensor:
    """Pads `(batch, time, ...)` with zeros to a number of steps."""
    shape = tf.shape(inputs)
    missing = tf.maximum(width - shape[1], 0)
    # `tf.pad` has no GPU kernel for int64.
    zeros = tf.zeros(tf.concat([shape[:1], [missing], shape[2:]], axis=0), inputs.dtype)
    return tf.concat([inputs, zeros], axis=1)


def _num_fitting(lengths: tf.Tensor, width: int) -> tf.Tensor:
    """Returns the number of positions of a filter, int64 `(batch,)`."""
    return tf.where(lengths > 0, tf.maximum(lengths - width + 1, 1), 0)


def _check_widths(
    widths: Mapping[int, int] | Sequence[tuple[int, int]],
) -> tuple[tuple[int, int], ...]:
    pairs = tuple((w, n) for w, n in (widths.items() if isinstance(widths, Mapping) else widths))
    distinct = {width for width, _ in pairs}
    for width, number in pairs:
        check_integers(widths=width, num_filters=number)
    if not pairs or len(distinct) < len(pairs) or min(map(min, pairs)) < 1:
        raise ConfigError(
            "`widths` must be pairs of different widths and numbers of filters, all at least 1. "
            f"Received: {list(pairs)}"
        )
    return pairs
