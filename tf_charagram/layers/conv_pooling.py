"""Convolutions of several widths over a sequence, each pooled to one number per filter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

from tf_charagram.errors import ConfigError, check_name, check_positive
from tf_charagram.layers._ops.ragged import full_mask, num_real_steps, sum_rows
from tf_charagram.layers._ops.xla import in_xla, lookup
from tf_charagram.layers.base import ConfiguredLayer

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
        check_name("activation", activation, ACTIVATIONS)
        check_name("pooling", pooling, POOLINGS)
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
        if mask is None:
            mask = full_mask(inputs)
        # A filter that is wider than its text reaches into the padding.
        is_real = tf.expand_dims(mask, axis=2)
        inputs = tf.where(is_real, inputs, 0.0)
        lengths = num_real_steps(mask)
        if self.activation == "linear" and self.pooling == "sum":
            return self._summed(inputs, lengths)
        # For an empty batch, oneDNN computes convolutions of a wrong shape.
        num_texts = tf.size(lengths)
        num_added = tf.cast(tf.equal(num_texts, 0), tf.int32)
        inputs = tf.pad(inputs, [[0, num_added], [0, 0], [0, 0]])
        lengths = tf.pad(lengths, [[0, num_added]])

        def convolve(width: int, kernel: tf.Tensor) -> tf.Tensor:
            padded = _at_least(inputs, width)
            return tf.nn.conv1d(padded, kernel, 1, "VALID")

        pooled = self._pooled(convolve, lengths)
        return pooled[:num_texts]

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
            num_filters = kernel.shape[2]
            products = tf.einsum("rd,wdf->wrf", rows, kernel)
            padded = _at_least(ids, width)
            num_windows = tf.shape(padded)[1] - width + 1
            # The ids of the first step of each window, then of the second, and so on.
            columns = []
            for first in range(width):
                columns.append(padded[:, first : first + num_windows])
            if in_xla():
                parts = [lookup(products[i], column) for i, column in enumerate(columns)]
                return tf.add_n(parts)
            # One table of all products, with the rows of a column behind those before.
            table = tf.reshape(products, [-1, num_filters])
            entries = [column + i * num_rows for i, column in enumerate(columns)]
            flat = tf.reshape(tf.stack(entries, axis=2), [-1])
            windows = tf.RaggedTensor.from_uniform_row_length(flat, width, validate=False)
            sums = sum_rows(table, windows)
            return tf.reshape(sums, [-1, num_windows, num_filters])

        return self._pooled(convolve, num_real_steps(mask))

    def compute_mask(self, inputs: tf.Tensor, previous_mask: tf.Tensor | None) -> None:
        """Returns `None`, because the output has no steps."""
        del inputs, previous_mask

    def _summed(self, inputs: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
        """Sums linear filters as filters of sums, which need fewer products."""
        steps = tf.range(tf.shape(inputs, tf.int64)[1])
        pooled = []
        for convolution in self.convolutions:
            [width] = convolution.kernel_size
            num_fitting = _num_fitting(lengths, width)
            # Whether each step is the first of a window, the second, and so on.
            places = tf.range(width, dtype=tf.int64)
            begins = steps - places[:, tf.newaxis]
            is_window = begins < num_fitting[:, tf.newaxis, tf.newaxis]
            chosen = tf.cast((begins >= 0) & is_window, inputs.dtype)
            sums = tf.matmul(chosen, inputs)
            sums = tf.reshape(sums, [-1, width * inputs.shape[2]])
            kernel = tf.reshape(convolution.kernel.value, [-1, convolution.filters])
            num_biases = tf.cast(num_fitting, inputs.dtype)
            biases = num_biases[:, tf.newaxis] * convolution.bias.value
            pooled.append(tf.matmul(sums, kernel) + biases)
        return tf.concat(pooled, axis=1)

    def _pooled(
        self, convolve: Callable[[int, tf.Tensor], tf.Tensor], lengths: tf.Tensor
    ) -> tf.Tensor:
        """Pools windows of every width, `(batch, num_windows, num_filters)` without a bias."""
        has_steps = lengths[:, tf.newaxis] > 0
        pooled = []
        for convolution in self.convolutions:
            [width] = convolution.kernel_size
            bias = convolution.bias.value
            outputs = convolve(width, convolution.kernel.value)
            windows = tf.range(tf.shape(outputs, tf.int64)[1])
            num_fitting = _num_fitting(lengths, width)
            fits = windows < num_fitting[:, tf.newaxis]
            fits = tf.expand_dims(fits, axis=2)
            if self.pooling == "sum":
                values = self._function(outputs + bias)
                values = tf.where(fits, values, 0.0)
                pooled.append(tf.reduce_sum(values, axis=1))
            else:
                # Activations are monotonic, so it is enough to apply them to the maximum.
                outputs = tf.where(fits, outputs, outputs.dtype.min)
                highest = tf.reduce_max(outputs, axis=1)
                values = self._function(highest + bias)
                pooled.append(tf.where(has_steps, values, 0.0))
        return tf.concat(pooled, axis=1)


def _at_least(inputs: tf.Tensor, width: int) -> tf.Tensor:
    """Pads `(batch, time, ...)` with zeros to a number of steps."""
    shape = tf.shape(inputs)
    num_missing = tf.maximum(width - shape[1], 0)
    # `tf.pad` has no GPU kernel for int64.
    padding_shape = tf.concat([shape[:1], [num_missing], shape[2:]], axis=0)
    padding = tf.zeros(padding_shape, inputs.dtype)
    return tf.concat([inputs, padding], axis=1)


def _num_fitting(lengths: tf.Tensor, width: int) -> tf.Tensor:
    """Returns the number of positions of a filter, int64 `(batch,)`."""
    num_fitting = tf.maximum(lengths - width + 1, 1)
    return tf.where(lengths > 0, num_fitting, 0)


def _check_widths(
    widths: Mapping[int, int] | Sequence[tuple[int, int]],
) -> tuple[tuple[int, int], ...]:
    # Pairs come from the config of a saved layer.
    pairs = list(widths.items()) if isinstance(widths, Mapping) else list(widths)
    for width, num_filters in pairs:
        check_positive(widths=width, num_filters=num_filters)
    num_distinct = len(dict(pairs))
    if num_distinct < max(len(pairs), 1):
        raise ConfigError(f"`widths` must be one or more different widths. Received: {pairs}")
    return tuple((width, num_filters) for width, num_filters in pairs)
