"""Settings that a run takes over from the model it starts from, and those it may not change."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import keras

from tf_charagram.encoders import encoder_name
from tf_charagram.encoders.options import options_of
from tf_charagram.errors import ConfigError
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.models.locations import read_config
from tf_charagram.text.base import settings_of
from tf_charagram.text.words import WordVectorizer
from tf_charagram.training.settings import RunConfig

ConfigT = TypeVar("ConfigT", bound=RunConfig)

#: Settings that a second stage may change, besides those that only training sees.
_MAY_DIFFER_FROM_INIT = ("num_rows", "num_words", "seed")
#: Settings whose flag has another name.
_FLAGS = {"orders": "--ngrams"}


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
    """Returns the settings of a run, with what they leave open taken from `config.init`.

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
        ConfigError: An encoder was chosen that is not the model's.
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
    """Checks that the settings of a run with a frozen encoder are those of its model.

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
    """Returns the settings of a saved model under the names they have in a run."""
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
