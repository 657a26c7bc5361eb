"""Settings that the preset or the model of `init` determines; needs no TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tf_charagram.encoders import make_options, options_class
from tf_charagram.errors import ConfigError
from tf_charagram.models._storage.locations import read_config
from tf_charagram.settings import file_only, types_of
from tf_charagram.training.settings import RunConfig

# Settings of a vectorizer that are settings of a run under the same name.
_TEXT_SETTINGS = ("hash_buckets", "rows_per_ngram", "unicode_form", "max_chars")
# The preset and the tasks that have it.
_FINE_TUNE = {"epochs": 3, "learning_rate": 0.0005, "decay": "linear", "l2": 1e-5}
_FINE_TUNED = ("words", "sentences")


def fine_tuning(task: str, *, has_init: bool) -> dict[str, Any]:
    """Returns the settings of the preset `fine-tune`, which trains a model further.

    Args:
        task: Name of the task.
        has_init: Whether training starts from a model.

    Raises:
        ConfigError: The task is another one, or there is no model.
    """
    if task not in _FINE_TUNED:
        raise ConfigError(
            f"--preset fine-tune is for {' and '.join(_FINE_TUNED)}. Received: --task {task}"
        )
    if not has_init:
        raise ConfigError("--preset fine-tune starts from a model: give --init, such as english.")
    return dict(_FINE_TUNE)


def check_init(init: str | Path, output: str | Path | None) -> None:
    """Checks that a second stage does not write over the first.

    Args:
        init: Run or model folder to start from.
        output: Folder of the new run, or `None` for one with a new name.

    Raises:
        ConfigError: The model to start from lies in the folder of the new run.
    """
    if output is None:
        return
    first = Path(init).resolve()
    second = Path(output).resolve()
    # A new run inside the old run's folder is fine, except in the folder of its model.
    if first.is_relative_to(second) or second.is_relative_to(first / "model"):
        raise ConfigError(
            "`init` must not lie in `output`, because the model there would be overwritten. Give "
            "another --output; to go on with a run that was stopped, use --resume. Received: "
            f"init={init}, output={output}"
        )


def inherited_settings(init: str | Path) -> dict[str, Any]:
    """Returns the settings that a saved model decides, as a run has them.

    They are the encoder, its options except options for training only, its width, and how texts
    become ids.

    Raises:
        RunError: The folder holds no model, or a damaged one.
    """
    saved = read_config(init)
    vectorizer = saved["vectorizer"]
    encoder = saved["encoder"]["config"]
    encoder_name = saved["encoder"]["name"]
    settings = {"encoder": encoder_name, "dim": encoder["dim"]}
    cls = options_class(encoder_name)
    names = types_of(cls)
    # An older model may lack an option; then its default holds.
    options = make_options(encoder_name, {name: encoder[name] for name in names if name in encoder})
    for name in names:
        if name not in cls.training_only:
            settings[name] = getattr(options, name)
    for name in _TEXT_SETTINGS:
        if name in vectorizer:
            settings[name] = vectorizer[name]
    # Two settings have another name in a vectorizer.
    if "lowercase" in vectorizer:
        settings["use_capitals"] = vectorizer["lowercase"]
    if "orders" in vectorizer:
        settings["ngrams"] = tuple(vectorizer["orders"])
    return settings


def check_start(config: RunConfig) -> None:
    """Checks that a run reads texts as the model it starts from does, and has its encoder.

    Raises:
        RunError: The folder of `config.init` holds no model, or a damaged one.
        ConfigError: Settings differ, each is named with the flag to give; or `config.init` lies in
            `config.output`.
    """
    if config.init is None:
        return
    check_init(config.init, config.output)
    own = config.to_dict()
    saved = inherited_settings(config.init)
    differing = {name: value for name, value in saved.items() if own.get(name, value) != value}
    if differing:
        # Another encoder has other options, which would only hide the cause.
        if "encoder" in differing:
            differing = {"encoder": differing["encoder"]}
        without_flag = [*file_only(type(config)), *file_only(type(config.encoder_options))]
        raise other_settings(config.init, differing, own, without_flag)


def other_settings(
    init: str | Path,
    saved: Mapping[str, Any],
    received: Mapping[str, Any],
    without_flag: Sequence[str] = (),
) -> ConfigError:
    """Returns the error for settings that differ from the model a run starts from."""
    named = []
    for name, value in saved.items():
        is_in_file = name in without_flag
        advice = f"{name}={value!r} in --config" if is_in_file else _flag(name, value)
        named.append(f"{advice} (received: {_text(received[name])})")
    return ConfigError(
        f"{init} was trained with other settings. To start from it, give {', '.join(named)}."
    )


def _flag(name: str, value: Any) -> str:
    """Returns the flag that gives a setting a value."""
    flag = f"--{name.replace('_', '-')}"
    if value is None:
        return f"no {flag}"
    if isinstance(value, bool):
        return flag if value else flag.replace("--", "--no-", 1)
    return f"{flag} {_text(value)}"


def _text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
