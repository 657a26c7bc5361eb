"""Model folders: JSON and NumPy arrays, no code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from keras.layers import Layer

from tf_charagram._files.arrays import fingerprint
from tf_charagram._files.json_files import to_json
from tf_charagram._files.writing import whole_file
from tf_charagram._version import __version__
from tf_charagram.encoders import encoder_class, encoder_name
from tf_charagram.encoders.base import check_num_ids, device_scope
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.layers.embedding_table import unfilled_tables
from tf_charagram.models._storage.locations import ARRAYS, EMBEDDER, FILES, FORMAT_VERSION
from tf_charagram.models._storage.stored_model import StoredModel, stored_model
from tf_charagram.models._storage.weights import check_shapes, restore, weight_arrays, weights_of
from tf_charagram.text import vectorizer_class
from tf_charagram.text.base import DAMAGES


def save_model(
    path: str | Path,
    parts: Sequence[Layer],
    kind: str = EMBEDDER,
    task: str | None = None,
    table_dtype: str = "float32",
) -> None:
    """Writes a model folder; each file whole or not at all.

    Args:
        path: The folder.
        parts: Vectorizer, encoder and, if any, head.
        kind: Kind of the model.
        task: Name of the task it was trained for, if known.
        table_dtype: `"float32"`; or `"float16"`, `"int8"` or `"int4"` for a small folder with
            rounded embedding tables and compressed files.

    Raises:
        ConfigError: `table_dtype` is unknown or does not fit the model, a weight is not finite, or
            the vectorizer does not match the encoder.
        RunError: The folder cannot be written, or has the `config.json` of something else.
    """
    path = Path(path)
    vectorizer, encoder, *heads = parts
    is_small = table_dtype != "float32"
    weights = weight_arrays(parts[1:], table_dtype)
    # Vectorizer and encoder may come from different models: an encoder of words would take
    # the ids of n-grams for its own.
    name = encoder_name(encoder)
    needed = vectorizer_class(encoder_class(name).vectorizer)
    if not isinstance(vectorizer, needed):
        raise ConfigError(
            f"{type(encoder).__name__} reads the ids of {needed.__name__}. "
            f"Received: {type(vectorizer).__name__}"
        )
    file = path / FILES.config
    if file.is_file() and b'"format_version"' not in file.read_bytes():
        raise RunError(f"{file} does not belong to a model. Move it, or give another folder.")
    config: dict[str, Any] = {
        "format_version": FORMAT_VERSION,
        "tf_charagram": __version__,
        "kind": kind,
    }
    if task is not None:
        config["task"] = task
    if is_small:
        config["table_dtype"] = table_dtype
    config["vectorizer"] = vectorizer.settings()
    config["encoder"] = {"name": name, "config": encoder.get_config()}
    if heads:
        config["head"] = heads[0].get_config()
    write_arrays: Any = np.savez_compressed if is_small else np.savez
    # Every file is complete before the first one gets its name.
    with (
        whole_file(path / FILES.config, "w") as settings,
        whole_file(path / FILES.weights) as table,
        whole_file(path / FILES.vocabulary) as vocabulary,
    ):
        write_arrays(vocabulary, **vectorizer.state())
        write_arrays(table, **weights)
        vocabulary.flush()
        table.flush()
        config[ARRAYS] = fingerprint(vocabulary.name, table.name)
        settings.write(to_json(config))
        settings.flush()


def load_model(
    path: str | Path,
    kind: str = EMBEDDER,
    head_class: type[Layer] | None = None,
    *,
    correct_spelling: bool = True,
    keep_words: str | Path | Iterable[str] | None = None,
    word_counts: Mapping[str, int] | None = None,
) -> list[Layer]:
    """Loads a model, in float32.

    Args:
        path: Model folder, run folder, or name of a shipped model.
        kind: The expected kind.
        head_class: The class of its head, if any.
        correct_spelling: Whether to use its dictionary, if any.
        keep_words: Correctly spelled words, or a file of them.
        word_counts: How often words occur in texts by which words are weighed.

    Returns:
        Vectorizer, encoder and, if any, head.

    Raises:
        ConfigError: `keep_words` is neither a path nor a list of texts.
        RunError: The folder is not a model of this kind, is damaged, or was written by a newer
            version; or the file of words cannot be read.
    """
    opened = stored_model(
        path,
        kind,
        correct_spelling=correct_spelling,
        keep_words=keep_words,
        word_counts=word_counts,
        damages=DAMAGES,
    )
    with opened as stored, unfilled_tables():
        config = stored.config
        # Check shapes before allocating memory for the sizes that the file claims.
        with tf.Graph().as_default():
            check_shapes(weights_of(_layers(config, head_class)), stored.weights)
        layers = _layers(config, head_class)
        # Fill the look-up tables and the weights in parallel.
        with ThreadPoolExecutor(1) as other_thread:
            vectorizer = other_thread.submit(_vectorizer, layers[0].vectorizer, stored)
            for weight in weights_of(layers):
                restore(weight, stored.weights)
        parts = [vectorizer.result(), *layers]
        check_num_ids(parts[0].num_rows, parts[1])
    return parts


def _vectorizer(kind: str, stored: StoredModel) -> Layer:
    """Makes the vectorizer of a kind of ids."""
    settings = _plain(stored.config["vectorizer"])
    parts = {} if stored.dictionary is None else {"dictionary": stored.dictionary}
    return vectorizer_class(kind).from_state(settings, stored.state, **parts)


def _layers(config: dict[str, Any], head_class: type[Layer] | None) -> list[Layer]:
    """Makes the encoder and the head, if any, that settings from a file describe."""
    encoder = config["encoder"]
    cls = encoder_class(encoder["name"])
    with tf.device(device_scope(cls)):
        layers = [cls.from_config(_plain(encoder["config"]))]
    if head_class is not None:
        layers.append(head_class.from_config(_plain(config["head"])))
    return layers


def _plain(settings: Any) -> dict[str, Any]:
    """Checks the settings of a layer from a file; returns them with the dtype float32.

    Raises:
        ValueError: A setting is an object, from which Keras might load code.
    """
    if not isinstance(settings, dict):
        raise ValueError("the settings of a layer are not an object")
    plain = {name: value for name, value in settings.items() if name != "dtype"}
    for name, value in plain.items():
        parts = value if isinstance(value, list) else [value]
        for part in parts:
            if isinstance(part, dict | list):
                raise ValueError(f"`{name}` must be a number, a text or a list of them")
    return {**plain, "dtype": "float32"}
