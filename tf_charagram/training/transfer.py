"""Two-stage training: a saved model goes on, on new texts, with a vocabulary grown by their units.

This is the cumulative training of CSE (section 5.1): first on phrases, then on sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.config import RunConfig
from tf_charagram.encoders import encoder_name
from tf_charagram.encoders.options import options_of
from tf_charagram.errors import ConfigError
from tf_charagram.layers.embedding_table import embedding_tables
from tf_charagram.layers.placement import beside
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.serialization.model_folder import read_config
from tf_charagram.text.growing import settings_of
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.words import WordVectorizer

ConfigT = TypeVar("ConfigT", bound=RunConfig)

#: Settings that a second stage may change, as it may what only training sees.
_MAY_DIFFER_FROM_INIT = ("num_rows", "num_words", "seed")
#: Small, so that texts nearly keep their embeddings; not 0, from where texts of new n-grams alone
#: would have no direction to go.
_SCALE_OF_NEW_NGRAMS = 0.1
#: Settings that are given in other words than by a flag of their name.
_FLAGS = {"orders": "--ngrams"}


def grow_from(
    path: str | Path,
    vectorizer: keras.layers.Layer,
    make_encoder: Callable[[keras.layers.Layer], keras.layers.Layer],
) -> tuple[keras.layers.Layer, keras.layers.Layer]:
    """Returns the vectorizer and the encoder of a saved model, with room for new texts.

    Units that the model knows keep their vectors, and texts of such units their embeddings. New
    words and characters have the vectors that `make_encoder` gave them, new n-grams a tenth of
    theirs: most texts have some of them beside known ones, which say already what the text means.

    Args:
        path: Run or model folder.
        vectorizer: What the new texts alone would be trained with.
        make_encoder: Returns a new encoder for a vectorizer.

    Raises:
        RunError: The folder holds no model, or a damaged one.
        ConfigError: The model has other settings than the new vectorizer and encoder; all are
            named.
    """
    old = TextEmbedder.load(path)
    try:
        grown, rows = old.vectorizer.grown(vectorizer)
    except ConfigError:
        # The settings of the encoder may differ too.
        check_same_settings(path, old, vectorizer, make_encoder(vectorizer))
        raise
    encoder = make_encoder(grown)
    check_same_settings(path, old, vectorizer, encoder)
    if isinstance(grown, NgramVectorizer):
        _scale_rows(encoder, np.setdiff1d(np.arange(grown.num_rows), rows), _SCALE_OF_NEW_NGRAMS)
    transfer(old.encoder, encoder, rows)
    return grown, encoder


def check_init(init: str | Path, out: str | Path | None) -> None:
    """Checks that a second stage does not write over the first.

    Args:
        init: Run or model folder to go on from.
        out: Folder of the new run, or `None` for one with a new name.

    Raises:
        ConfigError: The model to go on from lies in the folder of the new run.
    """
    if out is None:
        return
    first, second = Path(init).resolve(), Path(out).resolve()
    if first.is_relative_to(second) or second.is_relative_to(first / "model"):
        raise ConfigError(
            "`init` must not lie in `out`, for the model there would be overwritten. Give another "
            "--out; to go on with a run that was stopped, use --resume. Received: "
            f"init={init}, out={out}"
        )


def with_settings_of(config: ConfigT) -> ConfigT:
    """Returns the settings of a run, what they leave open taken from the model of `config.init`.

    Left open are fields that are `None`, and options of the encoder that were not given.

    Raises:
        RunError: The folder holds no model, or a damaged one.
        ConfigError: The model has another encoder.
    """
    if config.init is None:
        return config
    saved = _saved_settings(config.init)
    _check_same_encoder(config.init, saved["encoder"], config.encoder)
    # A second stage has a dropout of its own on the words (CSE, section 5.1).
    options = _options_from(saved, config.encoder, without=("word_dropout",))
    left_open = [name for name, value in config.to_dict().items() if value is None]
    values = {name: saved[name] for name in left_open if name in saved}
    return config.replace(**{**options, **values, **config.encoder_options})


def as_saved(config: ConfigT) -> ConfigT:
    """Returns the settings of a run whose encoder is that of `config.init`, if there is one.

    Fields at their default, and options of the encoder that were not given, are taken from the
    model; what was set to something else stays, and `grow_from` says so if it does not fit.

    Raises:
        RunError: The folder holds no model, or a damaged one.
        ConfigError: The model has another encoder than one that is not the default.
    """
    if config.init is None:
        return config
    saved = _saved_settings(config.init)
    values = {
        field.name: saved[field.name]
        for field in fields(config)
        if field.name in saved
        and field.name != "seed"
        and getattr(config, field.name) == field.default
    }
    encoder = values.get("encoder", config.encoder)
    _check_same_encoder(config.init, saved["encoder"], encoder)
    options = _options_from(saved, encoder, without=_training_only(encoder))
    return config.replace(**{**options, **values, **config.encoder_options})


def check_as_saved(config: RunConfig) -> None:
    """Checks that a run whose encoder is frozen is told no other settings than its model has.

    Args:
        config: What `as_saved` returned.

    Raises:
        RunError: The folder of `config.init` holds no model, or a damaged one.
        ConfigError: Settings differ; each is named with the flag that mends it.
    """
    saved = _saved_settings(str(config.init))
    free = {*_MAY_DIFFER_FROM_INIT, *_training_only(config.encoder)}
    differing = [
        f"{_flag(name, saved[name], config.encoder)} (received: {_shown(value)})"
        for name, value in config.to_dict().items()
        if name in saved and name not in free and _shown(saved[name]) != _shown(value)
    ]
    if differing:
        raise _other_settings(str(config.init), differing)


def _saved_settings(path: str) -> dict[str, Any]:
    """Returns what a saved model says of the settings of a run, by the names that runs have."""
    saved = read_config(path)
    encoder, vectorizer = saved["encoder"], saved["vectorizer"]
    settings = {**vectorizer, **encoder["config"], "encoder": encoder["name"]}
    settings["use_capitals"] = vectorizer.get("lowercase")
    settings["unknown_words"] = "shared" if settings.get("num_words") is None else "ngrams"
    if "orders" in vectorizer:
        settings["ngrams"] = tuple(vectorizer["orders"])
    return settings


def _options_from(
    saved: Mapping[str, Any], encoder: str, without: Collection[str]
) -> dict[str, Any]:
    """Returns the options of an encoder that a saved model has, and defaults for some."""
    options = options_of(encoder)
    return {
        name: option.default if name in without or name not in saved else saved[name]
        for name, option in options.items()
    }


def _training_only(encoder: str) -> list[str]:
    """Returns the options of an encoder that only training sees."""
    return [name for name, option in options_of(encoder).items() if option.is_training_only]


def _check_same_encoder(path: str, saved: str, received: str) -> None:
    """Checks the encoder before settings of the model are taken over, which may not suit another.

    Raises:
        ConfigError: It is another one.
    """
    if saved != received:
        raise _other_settings(path, [f"--encoder {saved} (received: {received})"])


def check_same_settings(
    path: str | Path,
    old: TextEmbedder,
    vectorizer: keras.layers.Layer,
    encoder: keras.layers.Layer,
) -> None:
    """Checks that a saved model and a new one compute the same function, but for the units.

    Args:
        path: Where the saved model is, for the message.
        old: The saved model.
        vectorizer: Of the new model.
        encoder: Of the new model.

    Raises:
        ConfigError: Settings differ; each is named with the flag that mends it.
    """
    before, now = _settings(old.vectorizer, old.encoder), _settings(vectorizer, encoder)
    # Encoders of two classes share only some settings.
    differing = [
        f"{_flag(name, value, before['encoder'])} (received: {_shown(now[name])})"
        for name, value in before.items()
        if name in now and now[name] != value
    ]
    if differing:
        raise _other_settings(path, differing)


def _other_settings(path: str | Path, differing: Sequence[str]) -> ConfigError:
    """Returns the error that names what to give to go on from a model."""
    return ConfigError(
        f"{path} was trained with other settings. To go on from it, give {', '.join(differing)}."
    )


def transfer(old: keras.layers.Layer, new: keras.layers.Layer, rows: np.ndarray) -> None:
    """Gives an encoder the weights of another of the same settings, whose units are among its own.

    Args:
        old: The encoder to read; not changed.
        new: The encoder to change. Rows of tables that no old one goes to stay as they are.
        rows: The row in the new tables of each row of the old ones, int64 `(old.num_rows,)`.

    Raises:
        ConfigError: The two do not have the same weights.
    """
    old_tables, new_tables = (
        {table.path for table in embedding_tables(encoder)} for encoder in (old, new)
    )
    shapes, new_shapes = _shapes(old, old_tables), _shapes(new, new_tables)
    if shapes != new_shapes or (old.num_rows,) != rows.shape:
        raise ConfigError(
            "Weights go only to an encoder with the same ones, and `rows` has one row for each of "
            f"{old.num_rows}. Received: {shapes}, {new_shapes}, rows of shape {rows.shape}"
        )
    sources = {weight.path: weight for weight in old.weights}
    for weight in new.weights:
        source = sources[weight.path].value
        if weight.path in new_tables:
            # In place: a table may take most of the memory.
            with beside(weight.value):
                source = tf.cast(source, weight.dtype)
            weight.value.scatter_update(tf.IndexedSlices(source, tf.constant(rows)))
        else:
            weight.assign(source)


def _scale_rows(encoder: keras.layers.Layer, rows: np.ndarray, scale: float) -> None:
    for table in embedding_tables(encoder):
        table.value.scatter_mul(tf.IndexedSlices(tf.cast(scale, table.dtype), tf.constant(rows)))


def _shapes(encoder: keras.layers.Layer, tables: set[str]) -> dict[str, tuple[int | None, ...]]:
    """Returns the shapes of the weights by path, of tables without their height."""
    return {
        weight.path: (None, *weight.shape[1:]) if weight.path in tables else tuple(weight.shape)
        for weight in encoder.weights
    }


def _settings(vectorizer: keras.layers.Layer, encoder: keras.layers.Layer) -> dict[str, Any]:
    settings = {**settings_of(encoder), **settings_of(vectorizer)}
    if isinstance(vectorizer, WordVectorizer):
        settings["unknown_words"] = "shared" if vectorizer.ngrams is None else "ngrams"
        if vectorizer.ngrams is not None:
            settings["orders"] = list(vectorizer.ngrams.orders)
    name = encoder_name(encoder)
    for free in (*_MAY_DIFFER_FROM_INIT, *_training_only(name)):
        settings.pop(free, None)
    return {"encoder": name, **settings}


def _flag(name: str, value: Any, encoder: str) -> str:
    """Returns the flag that gives a setting a value; without one, the setting."""
    flag = _FLAGS.get(name, f"--{name.replace('_', '-')}")
    names = {*_FLAGS, *options_of(encoder), *(field.name for field in fields(RunConfig))}
    if name not in names:
        return f"{name}={_shown(value)}"
    if value is None:
        return f"no {flag}"
    if isinstance(value, bool):
        return flag if value else flag.replace("--", "--no-", 1)
    return f"{flag} {_shown(value)}"


def _shown(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
