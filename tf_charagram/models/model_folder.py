"""Model folders: JSON and NumPy arrays, no code."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile

import keras
import numpy as np
import tensorflow as tf

from tf_charagram._version import __version__
from tf_charagram.encoders import encoder_class, encoder_from_config, encoder_name
from tf_charagram.encoders.base import check_num_ids
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.files.arrays import open_arrays, read_arrays
from tf_charagram.files.json_files import parse_json, read_json, to_json
from tf_charagram.files.writing import whole_file
from tf_charagram.layers.base import FROZEN
from tf_charagram.layers.embedding_table import unfilled_tables
from tf_charagram.models.locations import (
    EMBEDDER,
    FILES,
    FORMAT_VERSION,
    kind_of,
    model_folder,
    read_config,
)
from tf_charagram.models.parts import Parts
from tf_charagram.models.plain_settings import plain_settings
from tf_charagram.models.weights import check_shapes, restore, weight_arrays
from tf_charagram.text import vectorizer_class
from tf_charagram.text.base import DAMAGES
from tf_charagram.text.dictionary import Dictionary, without_dictionary

# Format versions of float32 weights, of compressed tables, and of models with a dictionary.
_PLAIN_VERSION, _SMALL_VERSION, _DICTIONARY_VERSION = 1, 2, FORMAT_VERSION
# Key of the checksum over the array files, which shows that they belong together.
_ARRAYS = "arrays"


def save_model(
    path: str | Path,
    parts: Parts,
    kind: str = EMBEDDER,
    task: str | None = None,
    table_dtype: str = "float32",
) -> None:
    """Writes a model folder; each file whole or not at all.

    Args:
        path: The folder.
        parts: Parts of the model.
        kind: Kind of the model.
        task: Name of the task it was trained for, if known.
        table_dtype: `"float32"`; or `"float16"`, `"int8"` or `"int4"` for a small folder with
            rounded embedding tables and compressed files.

    Raises:
        ConfigError: `table_dtype` is unknown or does not fit the model; or `load` would reject the
            model: a weight is not finite, the vectorizer does not match the encoder, or a setting
            is too large.
        RunError: The folder cannot be written, or has the `config.json` of something else.
    """
    path = Path(path)
    _check_free(path / FILES.config)
    encoder, head = parts.encoder, parts.head
    is_small = table_dtype != "float32"
    weights = weight_arrays(parts.weights, encoder, table_dtype)
    _check_kinds(parts)
    config = {
        "format_version": _version(parts.vectorizer, is_small),
        "tf_charagram": __version__,
        "kind": kind,
        **({} if task is None else {"task": task}),
        **({"table_dtype": table_dtype} if is_small else {}),
        "vectorizer": parts.vectorizer.settings(),
        "encoder": {"name": encoder_name(encoder), "config": _config_of(encoder)},
        **({} if head is None else {"head": _config_of(head)}),
    }
    _check_settings(parts, config)
    write_arrays = np.savez_compressed if is_small else np.savez
    # Every file is complete before the first one gets its name.
    with (
        whole_file(path / FILES.config, "w") as settings,
        whole_file(path / FILES.weights) as table,
        whole_file(path / FILES.vocabulary) as vocabulary,
    ):
        for file, arrays in ((vocabulary, parts.vectorizer.state()), (table, weights)):
            write_arrays(file, **arrays)
            _flush(file)
        config[_ARRAYS] = _fingerprint(vocabulary.name, table.name)
        settings.write(to_json(config))
        _flush(settings)


def _check_free(config: Path) -> None:
    """Checks that only the `config.json` of a model is overwritten.

    Raises:
        RunError: It belongs to something else.
    """
    try:
        is_ours = "format_version" in read_json(config)
    except FileNotFoundError:
        return
    except (OSError, ValueError, TypeError):
        is_ours = False
    if not is_ours:
        raise RunError(f"{config} does not belong to a model. Move it, or give another folder.")


def _version(vectorizer: keras.layers.Layer, is_small: bool) -> int:
    """Returns the lowest format version that has everything."""
    if vectorizer.dictionary is not None:
        return _DICTIONARY_VERSION
    return _SMALL_VERSION if is_small else _PLAIN_VERSION


def _config_of(layer: keras.layers.Layer) -> dict[str, Any]:
    """Returns the constructor arguments of a layer, except whether it is frozen."""
    return {name: value for name, value in layer.get_config().items() if name != FROZEN}


def _check_kinds(parts: Parts) -> None:
    """Checks that vectorizer and encoder match; raises as `save_model`."""
    encoder, vectorizer = parts.encoder, parts.vectorizer
    needed = vectorizer_class(encoder_class(encoder_name(encoder)).vectorizer)
    if not isinstance(vectorizer, needed):
        raise ConfigError(
            f"{type(encoder).__name__} reads the ids of {needed.__name__}. "
            f"Received: {type(vectorizer).__name__}"
        )


def _check_settings(parts: Parts, config: dict[str, Any]) -> None:
    """Checks that `load_model` accepts the settings; raises as `save_model`."""
    written = parse_json(to_json(config))
    try:
        plain_settings(type(parts.vectorizer), written["vectorizer"])
        plain_settings(type(parts.encoder), written["encoder"]["config"])
        if parts.head is not None:
            plain_settings(type(parts.head), written["head"])
    except ValueError as error:
        raise ConfigError(f"The model cannot be saved: {error}.") from error


def _flush(file: IO[Any]) -> None:
    """Flushes a file to disk, which may be full."""
    file.flush()
    os.fsync(file.fileno())


def _fingerprint(*paths: str | Path) -> str:
    """Returns a checksum of the arrays in zip files, from their CRCs."""
    members = []
    for path in paths:
        with ZipFile(path) as file:
            members += [(member.filename, member.CRC) for member in file.infolist()]
    return hashlib.sha256(repr(members).encode()).hexdigest()


def load_model(
    path: str | Path,
    kind: str = EMBEDDER,
    head_class: type[keras.layers.Layer] | None = None,
    *,
    correct_spelling: bool = True,
) -> Parts:
    """Loads a model, in float32.

    Args:
        path: As for `model_folder`.
        kind: The expected kind.
        head_class: The class of its head, if any.
        correct_spelling: Whether to use its dictionary, if any.

    Raises:
        RunError: The folder is not a model of this kind, is damaged, or was written by a newer
            version.
    """
    config = read_config(path)
    path = model_folder(path)
    actual = kind_of(config)
    if actual != kind:
        raise RunError(f"{path} contains a model of the kind '{actual}'. Expected: '{kind}'.")
    try:
        vocabulary = read_arrays(path / FILES.vocabulary, "iu")
        if not correct_spelling:
            vocabulary = without_dictionary(vocabulary)
        with open_arrays(path / FILES.weights) as weights:
            make_layers = _layers(config, head_class, len(weights.infos))
            # Check shapes before allocating memory for the sizes that the file claims.
            with tf.Graph().as_default(), unfilled_tables():
                check_shapes(Parts(None, *make_layers()).weights, weights)
            with unfilled_tables():
                encoder, head = make_layers()
            vectorizer_type = vectorizer_class(encoder.vectorizer)
            settings = plain_settings(vectorizer_type, config["vectorizer"])
            # Fill the look-up tables and the weights in parallel.
            with ThreadPoolExecutor(1) as other_thread:
                vectorizer = other_thread.submit(vectorizer_type.from_state, settings, vocabulary)
                for weight in Parts(None, encoder, head).weights:
                    restore(weight, weights)
            parts = Parts(vectorizer.result(), encoder, head)
            check_num_ids(parts.vectorizer.num_rows, encoder)
        files = path / FILES.vocabulary, path / FILES.weights
        if config[_ARRAYS] != _fingerprint(*files):
            raise ValueError("its files belong to different models")
    except RunError as problem:
        raise RunError(f"{path / FILES.weights} {problem}") from problem
    except (ConfigError, *DAMAGES) as problem:
        raise RunError(f"{path} is damaged: {problem}. Train again, or copy it again.") from problem
    return parts


def read_dictionary(path: str | Path) -> Dictionary | None:
    """Returns the dictionary of a model, or `None`.

    Args:
        path: As for `load_model`.

    Raises:
        RunError: The file is missing or damaged.
    """
    file = model_folder(path) / FILES.vocabulary
    try:
        return Dictionary.from_arrays(read_arrays(file, "iu"))
    except DAMAGES as problem:
        raise RunError(f"{file} is damaged: {problem}. Train again, or copy it again.") from problem


def _layers(
    config: dict[str, Any], head_class: type[keras.layers.Layer] | None, num_arrays: int
) -> Callable[[], tuple[keras.layers.Layer, keras.layers.Layer | None]]:
    """Returns a function that makes encoder and head from checked settings."""
    name = config["encoder"]["name"]
    # Each element of a list, such as a filter width, has weights of its own.
    settings = plain_settings(encoder_class(name), config["encoder"]["config"], num_arrays)
    head_settings = None if head_class is None else plain_settings(head_class, config["head"])

    def make() -> tuple[keras.layers.Layer, keras.layers.Layer | None]:
        encoder = encoder_from_config(name, settings)
        return encoder, None if head_class is None else head_class.from_config(head_settings)

    return make
