"""The base of the vectorizers: layers that turn strings into ids."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self, TypedDict

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.text.validation import check_text_options


class TextOptions(TypedDict, total=False):
    """The arguments of every vectorizer; `TextVectorizer` says what they mean."""

    lowercase: bool
    unicode_form: str | None
    max_chars: int | None


class TextVectorizer(keras.layers.Layer):
    """Maps texts to ragged ids; the same layer in training, in `encode` and in the SavedModel.

    All operations run on the CPU (strings and tables have no GPU kernels) and contain no Python.

    Args:
        lowercase: Whether texts are lower-cased, character by character.
        unicode_form: `None`, or the form that texts are normalized to first: `"NFC"`, `"NFD"`,
            `"NFKC"` or `"NFKD"`. Needs tensorflow-text also where the exported model is served.
        max_chars: Texts are truncated after this many characters, so that one text cannot exhaust
            memory; `None` for no limit.
        **kwargs: Name and type, as for every layer.

    Call arguments:
        texts: String tensor `(batch,)`, UTF-8; broken bytes are read as U+FFFD.

    Returns:
        `tf.RaggedTensor` int32 `(batch, None)`, ids in `[0, num_rows)`, in order of position.

    Raises:
        ConfigError: An argument is out of range.
    """

    def __init__(
        self, lowercase: bool, unicode_form: str | None, max_chars: int | None, **kwargs: Any
    ) -> None:
        super().__init__(**{"trainable": False, "name": "vectorizer", **kwargs})
        check_text_options(unicode_form, max_chars)
        self.lowercase = lowercase
        self.unicode_form = unicode_form
        self.max_chars = max_chars

    @property
    @abstractmethod
    def num_rows(self) -> int:
        """Number of distinct ids, the height of the embedding table."""

    @property
    def resources(self) -> list[Any]:
        """Resources that a SavedModel holds besides the graph: the look-up tables, if any."""
        return []

    @abstractmethod
    def call(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Returns the ids of each text."""

    @abstractmethod
    def grown(self, other: Self) -> tuple[Self, np.ndarray]:
        """Returns this vectorizer with ids for the units of another that it does not have.

        Args:
            other: A vectorizer with the same settings, built from new texts.

        Returns:
            The grown vectorizer, and the id there of each id of this one, int64 `(num_rows,)`.

        Raises:
            ConfigError: The settings differ.
        """

    def get_config(self) -> dict[str, Any]:
        """Returns the settings without what `state` returns, which is stored as arrays."""
        return {
            **super().get_config(),
            "lowercase": self.lowercase,
            "unicode_form": self.unicode_form,
            "max_chars": self.max_chars,
        }

    @abstractmethod
    def state(self) -> dict[str, np.ndarray]:
        """Returns what the settings leave out, as named arrays."""

    @classmethod
    @abstractmethod
    def from_state(cls, config: dict[str, Any], state: dict[str, np.ndarray]) -> Self:
        """Restores a vectorizer from `get_config()` and `state()`."""
