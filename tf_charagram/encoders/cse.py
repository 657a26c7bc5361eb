"""The convolutional sentence encoder: sums over all windows of words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import keras
import tensorflow as tf

from tf_charagram.encoders.options import CseOptions
from tf_charagram.encoders.words import WordEncoder
from tf_charagram.errors import ConfigError, check_integers
from tf_charagram.layers._ops.chunked import Ids
from tf_charagram.layers.conv_pooling import ConvPooling


@keras.saving.register_keras_serializable(package="tf_charagram")
class Cse(WordEncoder):
    """Embeds a text by filters over windows of its word vectors (CSE, section 3.1).

    A filter of width h computes f(w . x_{i:i+h-1} + b) for each of the n - h + 1 windows of a text
    of n words, and their sum (equations 2 and 3). A text shorter than h is "padded when necessary":
    with zero vectors to one window. Each width has the same number of filters. A text without words
    gets zeros.

    Args:
        input_dim: Width of the word vectors. Default: `dim`.
        widths: Filter widths, distinct; `dim` is a multiple of their number.
        activation: The non-linearity f.
        **kwargs: `num_rows`, `dim` and the other arguments of `WordEncoder`.

    Raises:
        ConfigError: An argument is out of range.
    """

    is_padded = True

    def __init__(
        self,
        *,
        input_dim: int | None = CseOptions.input_dim,
        widths: Sequence[int] = CseOptions.widths,
        activation: Literal["linear", "tanh"] = CseOptions.activation,
        **kwargs: Any,
    ) -> None:
        CseOptions(activation=activation)
        super().__init__(width=input_dim, **kwargs)
        if not isinstance(widths, Iterable):
            raise ConfigError(f"`widths` must be a list of integers. Received: widths={widths!r}")
        widths = tuple(widths)
        for width in widths:
            check_integers(widths=width)
        if not widths or min(widths) < 1 or len(set(widths)) < len(widths):
            raise ConfigError(f"`widths` must be distinct and at least 1. Received: {list(widths)}")
        if self.dim % len(widths):
            raise ConfigError(
                f"`dim` must be a multiple of the number of filter widths, {len(widths)}. "
                f"Received: dim={self.dim}"
            )
        self.widths = widths
        self.activation = activation
        self.filters = ConvPooling(
            [(width, self.dim // len(widths)) for width in widths],
            activation=activation,
            pooling="sum",
            seed=self.seed + 1,
            name="filters",
        )
        self.filters.build((None, None, self.input_dim))

    def call(self, ids: Ids, training: bool = False) -> tf.Tensor:
        """Returns the embeddings of texts given as word ids."""
        inputs, mask = self.vectors(ids, training)
        return self.filters(inputs, mask=mask)
