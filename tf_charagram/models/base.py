"""What models with a head on top of an encoder share: how they are kept and served."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Self

import keras
import tensorflow as tf

from tf_charagram.serialization.model_card import write_card
from tf_charagram.serialization.model_folder import Parts, load_model, save_model
from tf_charagram.serialization.saved_model import replaced_folder, write_module
from tf_charagram.text.growing import settings_of


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


class HeadedModel(keras.Model):
    """Raw texts in, answers out: a vectorizer, an encoder and a head.

    Attributes:
        kind: What its folder says it is.
        head_class: The class of the head.

    Args:
        vectorizer: Keras layer from strings `(batch,)` to ragged ids.
        encoder: Keras layer from ragged ids to float32 `(batch, dim)`.
        head: Keras layer from vectors to answers.
    """

    kind: ClassVar[str]
    head_class: ClassVar[type[keras.layers.Layer]]

    def __init__(
        self,
        vectorizer: keras.layers.Layer,
        encoder: keras.layers.Layer,
        head: keras.layers.Layer,
        **kwargs: Any,
    ) -> None:
        super().__init__(**{"name": self.kind, **kwargs})
        self.vectorizer = vectorizer
        self.encoder = encoder
        self.head = head
        self.built = True

    @property
    def parts(self) -> Parts:
        """What it is made of."""
        return Parts(self.vectorizer, self.encoder, self.head)

    def signatures(self) -> dict[str, Any]:
        """Returns what an exported model answers: name -> `tf.function` with input signature."""
        raise NotImplementedError

    def save(self, path: str | Path, *args: Any, **kwargs: Any) -> None:
        """Writes the folder that `load` reads: JSON and NumPy arrays, no code."""
        del args, kwargs
        save_model(path, self.parts, self.kind)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Loads what `save` wrote, or the `model` folder of a run folder.

        Raises:
            RunError: The folder is not such a model, is damaged, or is from a newer version.
        """
        return cls(*load_model(path, cls.kind, cls.head_class))

    def export(self, path: str | Path, *args: Any, **kwargs: Any) -> None:
        """Writes a SavedModel with `signatures()`, and `model_card.json` in it.

        The folder appears only once it is complete. An existing one is replaced.

        Raises:
            RunError: It cannot be written, for instance because the disk is full.
        """
        del args, kwargs
        with replaced_folder(path) as partial:
            self.write_saved_model(partial)

    def write_saved_model(self, path: str | Path, about: dict[str, Any] | None = None) -> None:
        """Writes the same into a folder that nobody reads yet, file by file.

        Args:
            path: The folder, which does not exist.
            about: What the card says besides.

        Raises:
            RunError: It cannot be written.
        """
        served = self.as_served()
        functions = served.signatures()
        write_module(ServedModel(served.parts, functions), functions, path)
        write_card(served.parts, path, {**self.card(), **(about or {})})

    def as_served(self) -> Self:
        """Returns the model that is written for serving; to be overridden for a faster one."""
        return self

    def card(self) -> dict[str, Any]:
        """Returns what the card of an exported model says besides the usual."""
        return {"kind": self.kind, "head": settings_of(self.head)}

    def get_config(self) -> dict[str, Any]:
        """Not supported: a vocabulary is no setting. Use `save` and `load`."""
        raise NotImplementedError("Use `save` and `load`.")
