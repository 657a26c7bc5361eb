"""SavedModels that take raw strings and need nothing but TensorFlow."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from tf_charagram.errors import RunError
from tf_charagram.files import MAKE_ROOM, partial_folder
from tf_charagram.objectives.similarity import paired_cosine
from tf_charagram.serialization.model_card import write_card
from tf_charagram.serialization.model_folder import Parts
from tf_charagram.serialization.prefix_sums import fold

_TEXTS = tf.TensorSpec([None], tf.string, name="texts")
_TEXTS_A = tf.TensorSpec([None], tf.string, name="texts_a")
_TEXTS_B = tf.TensorSpec([None], tf.string, name="texts_b")


class ServedEmbedder(tf.Module):
    """The signatures of an exported embedder.

    * `serving_default(texts) -> {"embedding": float32 (n, dim)}`
    * `similarity(texts_a, texts_b) -> {"cosine": float32 (n,)}`
    """

    def __init__(self, vectorizer: keras.layers.Layer, encoder: keras.layers.Layer) -> None:
        super().__init__(name="tf_charagram")
        # Only tables and variables are tracked: a Keras layer would bring its own signatures.
        self.resources = [
            *vectorizer.resources,
            *(weight.value for weight in encoder.weights),
        ]
        self._embed_ids = lambda texts: encoder(vectorizer(texts), training=False)

    @tf.function(input_signature=[_TEXTS])
    def embed(self, texts: tf.Tensor) -> dict[str, tf.Tensor]:
        """Embeds texts."""
        return {"embedding": self._embed_ids(texts)}

    @tf.function(input_signature=[_TEXTS_A, _TEXTS_B])
    def similarity(self, texts_a: tf.Tensor, texts_b: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns the cosines of corresponding texts."""
        return {"cosine": paired_cosine(self._embed_ids(texts_a), self._embed_ids(texts_b))}


def export_saved_model(
    vectorizer: keras.layers.Layer, encoder: keras.layers.Layer, path: str | Path
) -> None:
    """Writes a SavedModel with the signatures of `ServedEmbedder`, and `model_card.json` in it.

    The n-grams are folded, see `serialization.prefix_sums`. The folder appears only once it is
    complete. An existing one is replaced.

    Raises:
        RunError: It cannot be written, for instance because the disk is full.
    """
    with replaced_folder(path) as partial:
        write_saved_model(vectorizer, encoder, partial)


@contextmanager
def replaced_folder(path: str | Path) -> Iterator[Path]:
    """Gives a place to write a folder at; once it is complete, it takes the place of the old one.

    Raises:
        RunError: The place cannot be written.
    """
    path = Path(path)
    with partial_folder(path) as partial:
        yield partial
        if path.exists():
            shutil.rmtree(path)
        os.replace(partial, path)


def write_saved_model(
    vectorizer: keras.layers.Layer,
    encoder: keras.layers.Layer,
    path: str | Path,
    about: dict[str, Any] | None = None,
) -> None:
    """Writes the same into a folder that nobody reads yet, file by file.

    Args:
        vectorizer: Of the model.
        encoder: Of the model.
        path: The folder, which does not exist.
        about: What the card says besides.

    Raises:
        RunError: It cannot be written.
    """
    vectorizer, encoder = fold(vectorizer, encoder)
    module = ServedEmbedder(vectorizer, encoder)
    write_module(module, {"serving_default": module.embed, "similarity": module.similarity}, path)
    write_card(Parts(vectorizer, encoder), path, about)


def write_module(module: tf.Module, signatures: dict[str, Any], path: str | Path) -> None:
    """Writes a module as a SavedModel.

    Args:
        module: Tracks all tables and variables that the signatures use.
        signatures: Name -> `tf.function` with an input signature.
        path: The folder, which does not exist.

    Raises:
        RunError: It cannot be written.
    """
    # Gradients of the encoder capture what no SavedModel can hold, and serving needs none.
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    try:
        tf.saved_model.save(module, str(path), signatures=signatures, options=options)
    except tf.errors.OpError as error:
        problem = f"{error.message}. Is the disk full? {MAKE_ROOM}"
        raise RunError(f"Cannot write {path}: {problem}") from error
