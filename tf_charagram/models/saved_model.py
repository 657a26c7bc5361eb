"""SavedModels that take raw strings and need nothing but TensorFlow."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tensorflow as tf

from tf_charagram.errors import RunError
from tf_charagram.files.tensorflow_files import tensorflow_writing
from tf_charagram.files.writing import partial_folder
from tf_charagram.models.model_card import write_card
from tf_charagram.models.parts import Parts


class ServedModel(tf.Module):
    """Tracks the tables and variables of a model, and has its signatures as functions.

    Args:
        parts: The model.
        functions: Name of a signature -> `tf.function` with an input signature.
    """

    def __init__(self, parts: Parts, functions: dict[str, Any]) -> None:
        super().__init__(name="tf_charagram")
        # Only tables and variables are tracked: a Keras layer would bring its own signatures.
        self.resources = [
            *parts.vectorizer.resources, *(weight.value for weight in parts.weights),
        ]  # fmt: skip
        self.functions = functions


@contextmanager
def replaced_folder(path: str | Path, holds: str) -> Iterator[Path]:
    """Yields a path to write a folder to; once complete, the folder replaces the old one.

    Args:
        path: The folder, or a link to it.
        holds: Name of a file in it; an old folder without that file is replaced only if empty.

    Raises:
        RunError: The folder cannot be written; or what is there is not such a folder.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_dir():
        raise RunError(f"{path} is a file. Give a folder.")
    if path.is_dir() and any(path.iterdir()) and not (path / holds).is_file():
        raise RunError(
            f"{path} holds other files and no {holds}, so it is not replaced. Give another folder."
        )
    # A process may end between any two of these: half of the old folder must not be found.
    old = path.with_name(f".{path.name}.old")
    with partial_folder(path) as partial:
        yield partial
        shutil.rmtree(old, ignore_errors=True)
        if path.exists():
            os.rename(path, old)
        os.rename(partial, path)
        shutil.rmtree(old, ignore_errors=True)


def write_saved_model(
    parts: Parts, functions: dict[str, Any], path: str | Path, about: dict[str, Any] | None = None
) -> None:
    """Writes a model as a SavedModel, and its card, into a folder that nobody reads yet.

    Args:
        parts: The model.
        functions: Name of a signature -> `tf.function` with an input signature.
        path: The folder, which does not exist.
        about: What the card says besides.

    Raises:
        RunError: It cannot be written.
    """
    # Gradients of the encoder capture what no SavedModel can hold, and serving needs none.
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    module = ServedModel(parts, functions)
    with tensorflow_writing(path):
        tf.saved_model.save(module, str(path), signatures=functions, options=options)
    write_card(parts, path, about)
