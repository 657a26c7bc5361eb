"""Where models are: in a folder, in that of a run, or in the package under a name.

Imports nothing large: command lines ask here before TensorFlow is loaded.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, NamedTuple

from tf_charagram._version import __version__
from tf_charagram.errors import ConfigError, RunError, unknown_name
from tf_charagram.files.json_files import read_json
from tf_charagram.files.writing import sha256_of

#: Models with a dictionary have version 3, others with tables in fewer bits version 2, all others
#: version 1.
FORMAT_VERSION = 3
#: One folder for each model that ships with the package; `recipes/ship.py` writes them.
PRETRAINED = Path(__file__).parent.parent / "pretrained"
#: What a shipped model has besides `FILES`: its facts; and words to search, most frequent first, if
#: it has no dictionary.
CARD = "card.json"
WORDS = "words.txt.gz"


class _Files(NamedTuple):
    config: str = "config.json"
    vocabulary: str = "vocabulary.npz"
    weights: str = "weights.npz"


FILES = _Files()


def shipped_models() -> dict[str, Path]:
    """Returns the folders of the models that ship with the package, by name."""
    return {path.name: path for path in sorted(PRETRAINED.glob("[!._]*")) if path.is_dir()}


def check_path(path: Any) -> None:
    """Checks that a path is one, and not empty, which would be the current folder.

    Raises:
        ConfigError: It is not.
    """
    if not isinstance(path, str | os.PathLike) or path == "":
        raise ConfigError(
            f"A model is given by its folder, that of its run, or its name. Received: {path!r}"
        )


def model_folder(path: str | Path) -> Path:
    """Returns the folder of a model; the one place that knows what names a model.

    Args:
        path: The folder itself, that of the run it is in, or the name of a shipped model. A folder
            of that name comes first.

    Raises:
        ConfigError: It is not a path, or is empty.
        RunError: The run has no model yet.
    """
    check_path(path)
    folder = Path(path)
    shipped = {} if folder.is_dir() else shipped_models()
    if (name := os.fspath(path)) in shipped:
        return shipped[name]
    if (folder / "model" / FILES.config).is_file():
        return folder / "model"
    if is_run_file(folder / FILES.config):
        raise RunError(
            f"{folder} holds no model yet: the run did not reach its end. Go on with --resume."
        )
    return folder


def is_run_file(path: Path) -> bool:
    """Returns whether a file has the settings of a run: models and other programs have such files.

    Args:
        path: The `config.json` of a run, or the file of that kind that a search has.
    """
    try:
        config = read_json(path)
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and {"settings", "data_files"} <= config.keys()


def read_config(path: str | Path) -> dict[str, Any]:
    """Returns the settings of a model.

    Args:
        path: As for `model_folder`.

    Raises:
        RunError: It is not a model folder, is damaged, or is from a newer version.
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
            f"{FORMAT_VERSION}. Please upgrade: pip install -U tf-charagram"
        )
    return config


def read_card(path: str | Path) -> dict[str, Any] | None:
    """Returns the facts that a shipped model comes with; `None` for other models.

    Args:
        path: As for `model_folder`.

    Raises:
        RunError: They are damaged.
    """
    file = model_folder(path) / CARD
    try:
        return dict(read_json(file))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, TypeError) as error:
        raise RunError(f"{file} is damaged: {error!r}. Install the package again.") from error


def _what_it_is(path: Path) -> str:
    """Returns what to do about a path that is not a model folder."""
    if path.suffix == ".keras":
        return "A Keras archive is read by `keras.models.load_model`."
    if (path / "saved_model.pb").is_file():
        return "A SavedModel is read by `tf.saved_model.load`; give the model it was exported from."
    return "Give the folder of a run, or its `model` folder."


def _other_names(path: str | Path) -> str:
    """Returns what to add to an error about a path that may be a mistyped name."""
    name, shipped = os.fspath(path), shipped_models()
    if not shipped or Path(name).name != name or Path(name).exists():
        return ""
    return f" {unknown_name('model', name, shipped)}"


#: The kind of a model whose settings name none.
EMBEDDER = "embedder"


def model_files(path: str | Path) -> list[Path]:
    """Returns the files of a saved model that exist, given its folder or its run's."""
    folder = model_folder(path)
    return [folder / name for name in FILES if (folder / name).is_file()]


def model_sha256(path: str | Path) -> str:
    """Returns a checksum over the files of a model, given its folder or its run's.

    Raises:
        RunError: It is not a model folder.
    """
    read_config(path)
    checksums = "".join(map(sha256_of, model_files(path)))
    return hashlib.sha256(checksums.encode()).hexdigest()


def read_kind(path: str | Path) -> str:
    """Returns what kind of model a folder holds, such as `"embedder"`; errors as `load_model`."""
    return kind_of(read_config(path))


def kind_of(config: dict[str, Any]) -> str:
    """Returns the kind that the settings of a model say."""
    return str(config.get("kind", EMBEDDER))
