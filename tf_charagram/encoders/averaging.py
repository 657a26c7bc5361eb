"""Encoders that average word vectors, followed by dense layers or not.

Arguments that are not listed are those of `WordEncoder`.
"""

from __future__ import annotations

from typing import Any, Literal

import keras
import tensorflow as tf

from tf_charagram.encoders.options import DanOptions, ProjectionOptions
from tf_charagram.encoders.words import WordEncoder
from tf_charagram.layers._ops.chunked import Ids
from tf_charagram.layers.base import make_dense


@keras.saving.register_keras_serializable(package="tf_charagram")
class WordAverage(WordEncoder):
    """Embeds a text as the mean of its word vectors (PARAGRAM-PHRASE; Universal, section 3).

    A text without words gets zeros.
    """

    has_no_products = True

    def call(self, ids: Ids, training: bool = False) -> tf.Tensor:
        """Returns the embeddings of texts given as word ids."""
        return self.mean(ids, training)


@keras.saving.register_keras_serializable(package="tf_charagram")
class Projection(WordEncoder):
    """Embeds a text as Wp m + b, m the mean of its word vectors (Universal, section 3).

    With a `dim` larger than `input_dim`, such as 1,200 or 2,400, classifiers get more features than
    word vectors have (Universal, section 4.4). A text without words gets b.

    Args:
        input_dim: Width of the word vectors. Default: `dim`.
        **kwargs: `num_rows`, `dim` and the other arguments of `WordEncoder`.
    """

    def __init__(
        self, *, input_dim: int | None = ProjectionOptions.input_dim, **kwargs: Any
    ) -> None:
        super().__init__(width=input_dim, **kwargs)
        self.dense = make_dense(
            self.input_dim, self.dim, activation="linear", seed=self.seed + 1, name="dense"
        )

    def call(self, ids: Ids, training: bool = False) -> tf.Tensor:
        """Returns the embeddings of texts given as word ids."""
        return self.dense(self.mean(ids, training))


@keras.saving.register_keras_serializable(package="tf_charagram")
class Dan(WordEncoder):
    """Embeds a text by dense layers over the mean of its word vectors (Universal, section 3).

    The deep averaging network of Iyyer et al. (2015): each layer is f(W x + b). A text without
    words gets the layers' value at zero.

    Args:
        input_dim: Width of the word vectors. Default: `dim`.
        activation: The non-linearity f of each layer.
        num_layers: Number of layers.
        **kwargs: `num_rows`, `dim` and the other arguments of `WordEncoder`.
    """

    def __init__(
        self,
        *,
        input_dim: int | None = DanOptions.input_dim,
        activation: Literal["tanh", "relu"] = DanOptions.activation,
        num_layers: Literal[1, 2] = DanOptions.num_layers,
        **kwargs: Any,
    ) -> None:
        DanOptions(activation=activation, num_layers=num_layers)
        super().__init__(width=input_dim, **kwargs)
        self.activation = activation
        self.num_layers = num_layers
        widths = [self.input_dim, *[self.dim] * num_layers]
        self.dense = [
            make_dense(
                width, self.dim, activation=activation, seed=self.seed + n, name=f"dense_{n}"
            )
            for n, width in enumerate(widths[:-1], start=1)
        ]

    def call(self, ids: Ids, training: bool = False) -> tf.Tensor:
        """Returns the embeddings of texts given as word ids."""
        embedding = self.mean(ids, training)
        for dense in self.dense:
            embedding = dense(embedding)
        return embedding
