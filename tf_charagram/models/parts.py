"""The parts of a model: a vectorizer, an encoder and, except for an embedder, a head."""

from __future__ import annotations

from typing import NamedTuple

import keras


class Parts(NamedTuple):
    """The parts of a model.

    Attributes:
        vectorizer: Keras layer from strings to ragged ids.
        encoder: Keras layer from ragged ids to vectors.
        head: Keras layer from vectors to answers; `None` for an embedder.
    """

    vectorizer: keras.layers.Layer
    encoder: keras.layers.Layer
    head: keras.layers.Layer | None = None

    @property
    def weights(self) -> list[keras.Variable]:
        """The weights of encoder and head."""
        return [*self.encoder.weights, *([] if self.head is None else self.head.weights)]

    @property
    def num_parameters(self) -> int:
        """Number of values in the weights."""
        return sum(weight.value.shape.num_elements() for weight in self.weights)
