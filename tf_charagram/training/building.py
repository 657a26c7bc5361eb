"""From settings to the objects that are trained: vectorizer, encoder, ids."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import keras
import tensorflow as tf

from tf_charagram.config import TrainConfig
from tf_charagram.encoders import encoder_class
from tf_charagram.errors import ConfigError
from tf_charagram.text.batches import bounded_batches, to_bytes
from tf_charagram.text.kinds import VECTORIZERS

_CHUNK_CHARS = 4_000_000

#: Settings that only some encoders have, and that count the units of only some vectorizers.
_ENCODER_OPTIONS = (
    "activation", "num_layers", "filters", "dense", "dropout", "use_output_gate", "use_peepholes",
)  # fmt: skip
_COUNT_OPTIONS = ("ngrams", "min_count", "max_per_order", "hash_buckets", "rows_per_ngram")
_COUNTED = {"ngrams": _COUNT_OPTIONS, "words": ("min_count",), "characters": ()}


def check_options(config: TrainConfig) -> None:
    """Checks that every option was meant for the encoder that was chosen.

    Raises:
        ConfigError: The encoder is unknown, or an option that it does not have was set.
    """
    encoder = encoder_class(config.encoder)
    has = {*inspect.signature(encoder).parameters, *_COUNTED[encoder.vectorizer]}
    defaults = {field.name: field.default for field in dataclasses.fields(TrainConfig)}
    for name in (*_ENCODER_OPTIONS, *_COUNT_OPTIONS):
        if name not in has and getattr(config, name) != defaults[name]:
            raise ConfigError(
                f"`{name}` is not an option of the encoder '{config.encoder}'. "
                f"Received: {name}={getattr(config, name)!r}"
            )


def make_encoder(config: TrainConfig, num_rows: int) -> keras.layers.Layer:
    """Builds the encoder that the settings ask for; options left open have its own defaults."""
    encoder = encoder_class(config.encoder)
    options = {
        name: getattr(config, name)
        for name in inspect.signature(encoder).parameters
        if name in _ENCODER_OPTIONS and getattr(config, name) is not None
    }
    return encoder(num_rows=num_rows, dim=config.dim, seed=config.seed, **options)


def make_vectorizer(config: TrainConfig, texts: list[str]) -> keras.layers.Layer:
    """Builds the vectorizer of the encoder; units are counted once a distinct text."""
    kind = encoder_class(config.encoder).vectorizer
    options: dict[str, Any] = {"unicode_form": config.unicode_form}
    if config.max_chars is not None:
        options["max_chars"] = config.max_chars
    if config.hash_buckets is not None:
        return VECTORIZERS[kind](
            orders=config.ngrams,
            hash_buckets=config.hash_buckets,
            rows_per_ngram=config.rows_per_ngram,
            **options,
        )
    if kind == "ngrams":
        options |= {"orders": config.ngrams, "max_per_order": config.max_per_order}
    if kind != "characters":
        options |= {"min_count": config.min_count}
    return VECTORIZERS[kind].from_texts(texts, **options)


def vectorize(
    vectorizer: keras.layers.Layer, texts: list[str], chunk: int = 10_000
) -> tf.RaggedTensor:
    """Returns the ids of many texts, computed a chunk at a time."""
    function = tf.function(vectorizer.__call__, input_signature=[tf.TensorSpec([None], tf.string)])
    chunks = bounded_batches(texts, chunk, _CHUNK_CHARS)
    encoded = ([to_bytes(text) for text in chunk] for chunk in chunks)
    return tf.concat([function(tf.constant(chunk)) for chunk in encoded], axis=0)
