"""The folder a model is saved in: JSON and NumPy arrays, no code.

A model is a vectorizer, an encoder and, except for an embedder, a head on top of them.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import keras
import numpy as np
import tensorflow as tf

from tf_charagram._version import __version__
from tf_charagram.encoders import encoder_from_config, encoder_name
from tf_charagram.errors import CharagramError, RunError
from tf_charagram.files import sha256_of, whole_file, write_json
from tf_charagram.text.registry import VECTORIZERS

FORMAT_VERSION = 1
EMBEDDER = "embedder"
# What reading a damaged folder raises.
_DAMAGES = (BadZipFile, EOFError, KeyError, OSError, TypeError, ValueError, zlib.error)


class _Files(NamedTuple):
    config: str = "config.json"
    vocabulary: str = "vocabulary.npz"
    weights: str = "weights.npz"


FILES = _Files()


class Parts(NamedTuple):
    """What a model is made of.

    Attributes:
        vectorizer: Keras layer from strings to ragged ids.
        encoder: Keras layer from ragged ids to vectors.
        head: Keras layer from vectors to answers; `None` for an embedder.
    """

    vectorizer: keras.layers.Layer
    encoder: keras.layers.Layer
    head: keras.layers.Layer | None = None

    @property
    def weights(self) -> list[keras.Variable]:
        """The weights of encoder and head."""
        return [*self.encoder.weights, *([] if self.head is None else self.head.weights)]

    @property
    def num_parameters(self) -> int:
        """Total number of values in the weights."""
        return sum(weight.value.shape.num_elements() for weight in self.weights)


def save_model(
    path: str | Path, parts: Parts, kind: str = EMBEDDER, task: str | None = None
) -> None:
    """Writes a model folder; each file whole or not at all.

    Args:
        path: The folder.
        parts: The model.
        kind: What it is.
        task: What it was trained for, if that is known.

    Raises:
        RunError: It cannot be written.
    """
    path = Path(path)
    encoder, head = parts.encoder, parts.head
    config = {
        "format_version": FORMAT_VERSION,
        "tf_charagram": __version__,
        "kind": kind,
        **({} if task is None else {"task": task}),
        "vectorizer": parts.vectorizer.get_config(),
        "encoder": {"name": encoder_name(encoder), "config": encoder.get_config()},
        **({} if head is None else {"head": head.get_config()}),
    }
    for name, arrays in (
        (FILES.vocabulary, parts.vectorizer.state()),
        (FILES.weights, {weight.path: _view(weight) for weight in parts.weights}),
    ):
        with whole_file(path / name) as file:
            np.savez(file, **arrays)
    write_json(path / FILES.config, config)


def load_model(
    path: str | Path, kind: str = EMBEDDER, head_class: type[keras.layers.Layer] | None = None
) -> Parts:
    """Loads the model of a model folder, or of the run it is in.

    Args:
        path: The folder.
        kind: What it must be.
        head_class: The class of its head, if it has one.

    Raises:
        RunError: The folder is not a model, or one of another kind, is damaged, or is from a newer
            version.
    """
    path = _model_folder(Path(path))
    config = read_config(path)
    actual = _kind_of(config)
    if actual != kind:
        raise RunError(f"{path} holds a model of the kind '{actual}', where '{kind}' is needed.")
    try:
        vocabulary = _read_arrays(path / FILES.vocabulary)
        weights = _read_arrays(path / FILES.weights)
        encoder = encoder_from_config(config["encoder"]["name"], config["encoder"]["config"])
        vectorizer_class = VECTORIZERS[encoder.vectorizer]
        vectorizer = vectorizer_class.from_state(config["vectorizer"], vocabulary)
        head = None if head_class is None else head_class.from_config(config["head"])
        parts = Parts(vectorizer, encoder, head)
        for weight in parts.weights:
            if weight.path not in weights:
                raise RunError(f"{path / FILES.weights} lacks the array '{weight.path}'.")
            weight.assign(weights.pop(weight.path))
    except CharagramError:
        raise
    except _DAMAGES as problem:
        raise RunError(f"{path} is damaged: {problem}. Train again, or copy it again.") from problem
    return parts


def _view(weight: keras.Variable) -> np.ndarray:
    """Returns the values of a weight without the copy that `numpy()` makes."""
    return np.asarray(memoryview(tf.convert_to_tensor(weight)))


def model_files(path: str | Path) -> list[Path]:
    """Returns the files of a saved model that exist, given its folder or its run's."""
    folder = _model_folder(Path(path))
    return [folder / name for name in FILES if (folder / name).is_file()]


def model_sha256(path: str | Path) -> str:
    """Returns a checksum over the files of a model, given its folder or its run's.

    Raises:
        RunError: It is no model folder.
    """
    read_config(path)
    checksums = "".join(map(sha256_of, model_files(path)))
    return hashlib.sha256(checksums.encode()).hexdigest()


def _model_folder(path: Path) -> Path:
    """Returns the model folder that a folder is, or that the run in it has."""
    if (path / "model" / FILES.config).is_file():
        return path / "model"
    if (path / FILES.config).is_file() and (path / "checkpoints").is_dir():
        raise RunError(
            f"{path} holds no model yet: the run did not come to its end. Go on with --resume."
        )
    return path


def _read_arrays(path: Path) -> dict[str, np.ndarray]:
    # Opened here: np.load leaves a damaged file open.
    with open(path, "rb") as file:
        arrays = np.load(file, allow_pickle=False)
        return {name: arrays[name] for name in arrays}


def read_kind(path: str | Path) -> str:
    """Returns what kind of model a folder holds, such as `"embedder"`; errors as `load_model`."""
    return _kind_of(read_config(path))


def _kind_of(config: dict[str, Any]) -> str:
    return str(config.get("kind", EMBEDDER))


def read_config(path: str | Path) -> dict[str, Any]:
    """Returns the settings of a model, given its folder or its run's; errors as `load_model`."""
    path = _model_folder(Path(path))
    try:
        config = json.loads((path / FILES.config).read_text(encoding="utf-8"))
        version = int(config["format_version"])
    except (FileNotFoundError, NotADirectoryError):
        raise RunError(
            f"{path} is not a model folder: it has no {FILES.config}. Give the folder of a run, "
            "or its `model` folder."
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(f"{path / FILES.config} is damaged: {error!r}.") from error
    if version > FORMAT_VERSION:
        raise RunError(
            f"{path} has format version {version}, written by tf-charagram "
            f"{config.get('tf_charagram')}; this is {__version__}, which reads up to "
            f"{FORMAT_VERSION}. Please upgrade: pip install -U tf-charagram"
        )
    return config
