"""The base of the encoders: what Keras needs to know before it sees any ids."""

from __future__ import annotations

from typing import Any

import keras

from tf_charagram.errors import ConfigError
from tf_charagram.layers.base import Float32Layer


class Encoder(Float32Layer):
    """A Keras layer from ragged ids `(batch, None)` to float32 `(batch, dim)`.

    A subclass has the attributes `num_rows`, `dim` and, of the class, `vectorizer`: the kind of ids
    it takes. They are int32, and int64 where a GPU trains, see `trainers.device.to_parts`. In a
    functional model its input is symbolic and ragged: what a vectorizer gives, or
    `keras.Input((None,), dtype="int32", ragged=True)`.
    """

    vectorizer: str
    num_rows: int
    dim: int

    #: Whether the gradient of its weights is finite wherever that of the vectors is: no product
    #: with other weights comes between the two.
    passes_gradients_on: bool = False

    def compute_output_spec(self, ids: keras.KerasTensor, **kwargs: Any) -> keras.KerasTensor:
        """Returns a symbolic float32 `(batch, dim)` for symbolic ids.

        Raises:
            ConfigError: The ids are those of a vectorizer with more of them than `num_rows`.
        """
        del kwargs
        check_num_ids(getattr(ids, "num_ids", None), self)
        return keras.KerasTensor((ids.shape[0], self.dim), "float32")


def is_padded(encoder: keras.layers.Layer | type[keras.layers.Layer]) -> bool:
    """Returns whether an encoder, or a class of them, pads the texts of a batch to the longest."""
    return getattr(encoder, "is_padded", False)


def check_num_ids(num_ids: int | None, encoder: keras.layers.Layer) -> None:
    """Checks that an encoder has a row for every id of its vectorizer.

    Args:
        num_ids: Number of ids of the vectorizer; `None` if that is not known.
        encoder: The encoder.

    Raises:
        ConfigError: It has fewer rows.
    """
    if num_ids is not None and num_ids > encoder.num_rows:
        raise ConfigError(
            f"`num_rows` of the encoder must be at least the number of ids of the vectorizer, "
            f"{num_ids}. Received: num_rows={encoder.num_rows}. Make the encoder with "
            "num_rows=vectorizer.num_rows."
        )
