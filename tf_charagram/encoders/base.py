"""The interface of the encoders."""

from __future__ import annotations

from typing import Any

import keras

from tf_charagram._common.devices import CPU
from tf_charagram.errors import ConfigError


class Encoder:
    """A Keras layer from ragged ids `(batch, None)` to float32 `(batch, dim)`.

    Comes before `ConfiguredLayer` among the bases of a class.

    Ids are int32, or int64 in a replica of `tf.distribute`; compiled by XLA, they are `ChunkedIds`.
    In a functional model, the input is symbolic and ragged: the output of a vectorizer, or
    `keras.Input((None,), dtype="int32", ragged=True)`.

    Attributes:
        vectorizer: The kind of ids, a key of `text.VECTORIZERS`.
        num_rows: Number of ids.
        dim: Width of the embedding.
        has_no_products: Whether table rows are only added up, not multiplied by other weights. Then
            finite gradients of the embeddings give finite ones of the weights.
    """

    vectorizer: str
    num_rows: int
    dim: int
    has_no_products: bool = False

    def compute_output_spec(self, ids: keras.KerasTensor, **kwargs: Any) -> keras.KerasTensor:
        """Returns a symbolic float32 `(batch, dim)`.

        Raises:
            ConfigError: The vectorizer of the ids has more than `num_rows`.
        """
        del kwargs
        check_num_ids(getattr(ids, "num_ids", None), self)
        return keras.KerasTensor((ids.shape[0], self.dim), "float32")


def is_padded(encoder: keras.layers.Layer | type[keras.layers.Layer]) -> bool:
    """Returns whether an encoder, or its class, pads the texts of a batch to the longest."""
    return getattr(encoder, "is_padded", False)


def device_scope(encoder: keras.layers.Layer | type[keras.layers.Layer]) -> str:
    """Returns the device scope in which an encoder, or its class, embeds texts.

    An encoder that sums rows does so on the CPU. Its other operations are few, and would only copy
    vectors to a GPU and back. An encoder that pads has no scope: TensorFlow chooses a GPU, if any.
    """
    return "" if is_padded(encoder) else CPU


def check_num_ids(num_ids: int | None, encoder: keras.layers.Layer) -> None:
    """Checks that an encoder has a row for each of `num_ids` ids, if that number is known.

    Raises:
        ConfigError: It has fewer rows.
    """
    if num_ids is not None and num_ids > encoder.num_rows:
        raise ConfigError(
            f"`num_rows` of the encoder must be at least the number of ids of the vectorizer, "
            f"{num_ids}. Received: num_rows={encoder.num_rows}. Make the encoder with "
            "num_rows=vectorizer.num_rows."
        )
