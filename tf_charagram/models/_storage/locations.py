"""Finds models and their classes: in a folder, in a run folder, or in the package by name.

Imports without TensorFlow, because the command line asks here first.
"""

from __future__ import annotations

import hashlib
import os
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from tf_charagram._files.json_files import read_json
from tf_charagram._files.writing import sha256_of
from tf_charagram._version import __version__
from tf_charagram.errors import ConfigError, RunError, check_name, unknown_name

#: Version of the format of model folders.
FORMAT_VERSION = 3
#: One folder for each model that ships with the package; `recipes/ship.py` writes them.
PRETRAINED = Path(__file__).parents[2] / "pretrained"
#: The training texts in the folder of a run.
RUN_TEXTS = "texts.txt"
#: Additional files of a shipped model: its facts, and words to search if it has no dictionary.
CARD = "card.json"
WORDS = "words.txt.gz"


class _Files(NamedTuple):
    config: str = "config.json"
    vocabulary: str = "vocabulary.npz"
    weights: str = "weights.npz"


FILES = _Files()
#: Key of the checksum over the array files in `config.json`: they belong together.
ARRAYS = "arrays"
#: The default kind of a model.
EMBEDDER = "embedder"
#: Kind -> module and class, which is imported when needed. Tasks add the kinds that they train.
MODELS = {EMBEDDER: ("tf_charagram.models.embedder", "TextEmbedder")}


def shipped_models() -> dict[str, Path]:
    """Returns name -> folder of the models that ship with the package."""
    return {path.name: path for path in sorted(PRETRAINED.glob("[!._]*")) if path.is_dir()}


def check_path(path: Any) -> None:
    """Checks the type of a path, and that it is not empty.

    Raises:
        ConfigError: It is empty or of another type.
    """
    if not isinstance(path, str | os.PathLike) or path == "":
        raise ConfigError(
            f"A model must be given by its folder, its run folder or its name. Received: {path!r}"
        )


def model_folder(path: str | Path) -> Path:
    """Returns the folder of a model.

    Args:
        path: The folder itself, the folder of its run, or the name of a shipped model. A folder
            takes precedence over a name.

    Raises:
        ConfigError: `path` is not a path, or is empty.
        RunError: The run has no model yet.
    """
    check_path(path)
    folder = Path(path)
    if not folder.is_dir():
        shipped = shipped_models().get(os.fspath(path))
        if shipped is not None:
            return shipped
    if (folder / "model" / FILES.config).is_file():
        return folder / "model"
    if is_run_file(folder / FILES.config):
        raise RunError(
            f"{folder} has no model yet, because the run is not finished. Continue with --resume."
        )
    return folder


def is_run_file(path: Path) -> bool:
    """Returns whether a JSON file contains the settings of a run or of a search."""
    try:
        config = read_json(path)
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and {"settings", "data_files"} <= config.keys()


def read_config(path: str | Path) -> dict[str, Any]:
    """Returns the settings of a model.

    Args:
        path: Model folder, run folder, or name of a shipped model.

    Raises:
        RunError: It is not a model folder, is damaged, or was written by a newer version.
    """
    folder = model_folder(path)
    try:
        config = read_json(folder / FILES.config)
        version = int(config["format_version"])
    except (FileNotFoundError, NotADirectoryError):
        raise RunError(
            f"{folder} is not a model folder: it has no {FILES.config}. {_what_it_is(folder)}"
            f"{_other_names(path)}"
        ) from None
    except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise RunError(f"{folder / FILES.config} is damaged: {error!r}.") from error
    if version > FORMAT_VERSION:
        raise RunError(
            f"{folder} has format version {version}, written by tf-charagram "
            f"{config.get('tf_charagram')}; this is {__version__}, which reads up to "
            f"{FORMAT_VERSION}. Install a newer tf-charagram."
        )
    return config


def read_card(path: str | Path) -> dict[str, Any] | None:
    """Returns the facts about a shipped model; `None` for other models.

    Args:
        path: Model folder, run folder, or name of a shipped model.

    Raises:
        RunError: The file is damaged.
    """
    file = model_folder(path) / CARD
    try:
        return dict(read_json(file))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, TypeError) as error:
        raise RunError(f"{file} is damaged: {error!r}. Install the package again.") from error


def _what_it_is(path: Path) -> str:
    """Returns advice about a path that is not a model folder."""
    if path.suffix == ".keras":
        return "Use `keras.models.load_model` for a Keras archive."
    if (path / "saved_model.pb").is_file():
        return "Use `tf.saved_model.load` for a SavedModel, or give the run it was exported from."
    return "Give a run folder or its `model` folder."


def _other_names(path: str | Path) -> str:
    """Returns a suggestion if a path may be a mistyped name."""
    name = os.fspath(path)
    has_folders = Path(name).name != name
    if has_folders or Path(name).exists():
        return ""
    return f" {unknown_name('model', name, shipped_models())}"


def model_files(path: str | Path) -> list[Path]:
    """Returns the existing files of a model.

    Args:
        path: Model folder, run folder, or name of a shipped model.
    """
    folder = model_folder(path)
    return [folder / name for name in FILES if (folder / name).is_file()]


def model_sha256(path: str | Path) -> str:
    """Returns a checksum of the files of a model.

    Args:
        path: Model folder, run folder, or name of a shipped model.

    Raises:
        RunError: It is not a model folder, is damaged, or was written by a newer version.
    """
    read_config(path)  # Raises if it is not a model.
    checksums = [sha256_of(file) for file in model_files(path)]
    return hashlib.sha256("".join(checksums).encode()).hexdigest()


def read_kind(path: str | Path) -> str:
    """Returns the kind of a model, such as `"embedder"`.

    Raises:
        RunError: It is not a model folder, is damaged, or was written by a newer version.
    """
    return str(read_config(path).get("kind", EMBEDDER))


def model_class(kind: str) -> Any:
    """Returns the class of a kind of model, a `TextModel`.

    Raises:
        ConfigError: There is no such kind.

    Examples:
        >>> model_class("tagger").__name__
        'Tagger'
    """
    check_name("kind of model", kind, MODELS)
    module, name = MODELS[kind]
    return getattr(import_module(module), name)


def load_any(path: str | Path) -> Any:
    """Loads a model of any kind, a `TextModel`.

    Args:
        path: Model folder, run folder, or name of a shipped model.

    Raises:
        RunError: It is not a model, is of an unknown kind, is damaged, or is from a newer version.
    """
    kind = read_kind(path)
    try:
        cls = model_class(kind)
    except ConfigError as error:
        raise RunError(f"{path}: {error}") from error
    return cls.load(path)
