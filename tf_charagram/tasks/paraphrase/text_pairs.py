"""Conversion of raw pairs of texts to the batches of `ParaphraseModel`."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.data.pipeline.device import first_gpu, from_parts, on_device
from tf_charagram.errors import ConfigError

#: Ids of lefts and rights, and numbers of lefts and rights that are equal for equal texts.
Sides = tuple[tf.RaggedTensor, tf.RaggedTensor, tf.Tensor, tf.Tensor]

# Batches split between replicas are padded: Keras averages data over replicas to infer shapes,
# which fails for ragged tensors.
_PADDING = -1
_SPACES = r"[\s\v\x{85}\p{Z}]+"


def ids_of_pairs(data: Any, vectorizer: keras.layers.Layer | None, num_replicas: int = 1) -> Any:
    """Converts a dataset of string pairs to one of ids; other data are returned unchanged.

    The ids are computed in the input pipeline, because replicas of a `tf.distribute` strategy
    cannot receive strings. The two sides stay apart, so that a batch can be split.

    Args:
        data: A `tf.data.Dataset` of `(lefts, rights)`, strings `(batch,)`; or other data.
        vectorizer: The layer that makes the ids.
        num_replicas: Number of replicas a batch is split between.

    Raises:
        ConfigError: The pairs are not a dataset or not in batches, or there is no vectorizer.
    """
    if isinstance(data, list | tuple | np.ndarray) or tf.is_tensor(data):
        raise ConfigError(
            "Data must be a `tf.data.Dataset`, such as "
            "`tf.data.Dataset.from_tensor_slices((lefts, rights)).batch(batch_size)`. "
            f"Received: {type(data).__name__}"
        )
    if not isinstance(data, tf.data.Dataset):
        return data
    specs = data.element_spec
    if not (isinstance(specs, tuple) and all(map(_is_text, specs))):
        return data
    if len(specs) != 2 or any(spec.shape.rank != 1 for spec in specs):
        raise ConfigError(
            "Data of texts must be batches of pairs, (lefts, rights) with strings (batch,) each. "
            f"Received: {specs}. Use dataset.batch(batch_size)."
        )
    if vectorizer is None:
        raise ConfigError(
            "Without a vectorizer the model trains on ids. Received: strings. Make it with "
            "`ParaphraseModel.from_embedder(embedder)`."
        )

    def to_ids(lefts: tf.Tensor, rights: tf.Tensor) -> Sides:
        sides = vectorizer(lefts), vectorizer(rights)
        if num_replicas > 1:
            # A ragged tensor cannot be split between replicas.
            sides = tuple(tf.cast(side.to_tensor(_PADDING), tf.int64) for side in sides)
        return *sides, _numbers(lefts), _numbers(rights)

    sides = data.map(to_ids, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
    device = first_gpu() if num_replicas == 1 else None
    return sides if device is None else on_device(sides, device)


def _is_text(spec: Any) -> bool:
    return getattr(spec, "dtype", None) == tf.string


def _numbers(texts: tf.Tensor) -> tf.Tensor:
    """Returns a number for each text, ignoring case and white space.

    The in-graph version of `data.pipeline.store.text_keys`.
    """
    lowered = tf.strings.lower(texts, encoding="utf-8")
    collapsed = tf.strings.strip(tf.strings.regex_replace(lowered, _SPACES, " "))
    return tf.strings.to_hash_bucket_fast(collapsed, 2**63 - 1)


def joined(data: tuple[Any, ...]) -> tuple[tf.RaggedTensor, tf.Tensor]:
    """Joins the sides of a batch into ids and numbers of all texts, lefts first."""
    data = from_parts(data)
    if len(data) == 2:
        return data
    sides = [
        side
        if isinstance(side, tf.RaggedTensor)
        else tf.RaggedTensor.from_tensor(side, padding=_PADDING)
        for side in data[:2]
    ]
    return tf.concat(sides, axis=0), tf.concat(data[2:], axis=0)
