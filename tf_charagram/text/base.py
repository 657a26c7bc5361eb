"""The base class of vectorizers: Keras layers that turn strings into ids."""

from __future__ import annotations

from abc import abstractmethod
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from typing import Any, Self, TypedDict

import keras
import numpy as np
import tensorflow as tf

from tf_charagram._common.devices import on_cpu
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.text._algorithm.arguments import texts_of
from tf_charagram.text._algorithm.reading import SymbolReader
from tf_charagram.text._algorithm.tensors import check_shape, check_text_options, tensor_of
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text.alphabet import Alphabet

#: Exceptions raised by reading a damaged vocabulary, or making tables of it.
DAMAGES = (KeyError, OSError, TypeError, ValueError, OverflowError, tf.errors.OpError)
# Settings of every layer, which change no ids.
_LAYER_SETTINGS = ("name", "trainable", "dtype", "frozen")
# Settings that vectorizers of new texts lack; a model that grows keeps its own.
_OF_MODELS = ("fold_characters", "unknown_rows", "hash_signs")
# Key of the vocabulary in the config of a vectorizer.
_STATE = "vocabulary_arrays"


class TextOptions(TypedDict, total=False):
    """The arguments that all vectorizers share."""

    lowercase: bool
    unicode_form: str | None
    max_chars: int | None


class TextVectorizer(keras.layers.Layer):
    """Maps texts to ragged ids; the same layer in training, in `encode` and in the SavedModel.

    All operations run on `CPU:0`, in all device scopes and threads, and contain no Python.

    `from_texts` makes a vectorizer with a vocabulary; `adapt` sets the vocabulary of one that was
    made without, before a model is built with it. The config holds it, and so a `.keras` archive.

    Args:
        lowercase: Whether texts are lowercased, character by character.
        unicode_form: Unicode normalization form, applied first: `"NFC"`, `"NFD"`, `"NFKC"`,
            `"NFKD"` or `None`. Needs tensorflow-text, also to serve the exported model.
        max_chars: Texts are truncated after this many characters, so that one text cannot exhaust
            memory; `None` for no limit.
        **kwargs: `name` and `dtype` of the layer.

    Call arguments:
        texts: String tensor `(batch,)`, UTF-8; broken bytes are read as U+FFFD.

    Returns:
        `tf.RaggedTensor` int32 `(batch, None)`, ids in `[0, num_rows)`, ordered by position.

    Raises:
        ConfigError: An argument is out of range.
    """

    #: The words that misspelled ones are corrected to, or `None`.
    dictionary: Dictionary | None = None

    def __init__(
        self, lowercase: bool, unicode_form: str | None, max_chars: int | None, **kwargs: Any
    ) -> None:
        super().__init__(**{"trainable": False, "name": "vectorizer", **kwargs})
        check_text_options(lowercase, unicode_form, max_chars)
        self.lowercase = lowercase
        self.unicode_form = unicode_form
        self.max_chars = max_chars
        # XLA supports neither strings nor tables; with a GPU, Keras would try it.
        self.supports_jit = False

    @property
    def compute_dtype(self) -> str:
        """The dtype of the input, from which `keras.Sequential` infers that of the model."""
        return "string"

    variable_dtype = compute_dtype

    @property
    def num_rows(self) -> int:
        """Number of ids, and so of rows of the embedding table.

        Raises:
            ConfigError: There is no vocabulary yet.
        """
        self._check_adapted()
        return self._num_ids()

    @property
    def has_weights(self) -> bool:
        """Whether words count differently."""
        return False

    @abstractmethod
    def _num_ids(self) -> int: ...

    @property
    @abstractmethod
    def is_adapted(self) -> bool:
        """Whether there is a vocabulary, if one is needed."""

    def _check_adapted(self) -> None:
        if not self.is_adapted:
            raise ConfigError(
                f"The {type(self).__name__} '{self.name}' has no vocabulary yet. Call "
                f"`adapt(texts)`, or make it with `{type(self).__name__}.from_texts(texts)`."
            )

    @on_cpu
    def __call__(self, texts: Any, *args: Any, **kwargs: Any) -> Any:
        """Calls the layer; not only `call` is on the CPU, because Keras converts arrays before."""
        return super().__call__(tensor_of(texts), *args, **kwargs)

    def call(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Returns the ids of each text."""
        self._check_adapted()
        check_shape(texts)
        return self._ids(texts)

    def embedded(self, texts: tf.Tensor, embed: Callable[..., tf.Tensor]) -> tf.Tensor:
        """Embeds texts, float32 `(batch, dim)`.

        Args:
            texts: String tensor `(batch,)`.
            embed: Returns the vectors of ids, and optionally of the weights of ids.
        """
        return embed(self(texts))

    def training_ids(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Returns the ids that an embedder is trained on, int32 `(batch, None)`."""
        return self(texts)

    @abstractmethod
    def _ids(self, texts: tf.Tensor) -> tf.RaggedTensor: ...

    def adapt(self, data: Any, **counting: Any) -> None:
        """Replaces the vocabulary by that of some texts.

        Call it before a model is built with the layer, because the number of ids changes.

        Args:
            data: The texts: a list or another iterable, an array or tensor of strings, or a
                `tf.data.Dataset` of strings, batched or not.
            **counting: Arguments of `from_texts` that the class does not have, such as `min_count`.

        Raises:
            ConfigError: `data` is a single string, or the texts have nothing to count.
        """
        from_texts: Callable[..., Self] = type(self).from_texts
        counted = from_texts(texts_of(data), **{**self._text_options(), **counting})
        self._take(counted.state())

    def compute_output_spec(self, texts: keras.KerasTensor) -> keras.KerasTensor:
        """Returns symbolic ragged ids, int32 `(batch, None)`."""
        check_shape(texts)
        ids = keras.KerasTensor((texts.shape[0], None), "int32", ragged=True)
        # An encoder that reads them checks that it has as many rows.
        ids.num_ids = self.num_rows
        return ids

    def _make_reader(
        self, alphabet: Alphabet | None, dictionary: Dictionary | None = None, **options: Any
    ) -> SymbolReader:
        return SymbolReader(alphabet, dictionary, **self._text_options(), **options)

    def read_as(self, texts: Sequence[str]) -> list[str]:
        """Returns texts with misspelled words replaced by the words that they are read as."""
        return list(texts)

    def as_written(self) -> TextVectorizer:
        """Returns this vectorizer without correction of misspelled words."""
        return self

    @property
    def resources(self) -> list[Any]:
        """Lookup tables, which a SavedModel must track."""
        return []

    @abstractmethod
    def grown(self, other: Self) -> tuple[Self, np.ndarray]:
        """Adds the units of another vectorizer that this one lacks.

        Args:
            other: A vectorizer with the same settings, built from new texts.

        Returns:
            The grown vectorizer, and its id for each id of this one, int64 `(num_rows,)`.

        Raises:
            ConfigError: The settings differ.
        """

    def settings(self) -> dict[str, Any]:
        """Returns the constructor's arguments, except for those that `state` stores as arrays."""
        return {**super().get_config(), **self._text_options()}

    def _text_options(self) -> TextOptions:
        return {
            "lowercase": self.lowercase,
            "unicode_form": self.unicode_form,
            "max_chars": self.max_chars,
        }

    def get_config(self) -> dict[str, Any]:
        """Returns the settings and, once adapted, the vocabulary; all JSON values."""
        has_state = self.is_adapted or self.dictionary is not None
        state = self.state() if has_state else {}
        config = self.settings()
        arrays = {name: _packed(array) for name, array in state.items()}
        if arrays:
            config[_STATE] = arrays
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Restores a vectorizer from `get_config()`.

        Raises:
            RunError: The vocabulary is damaged.
        """
        settings = {name: value for name, value in config.items() if name != _STATE}
        vectorizer = cls(**settings)
        if _STATE in config:
            try:
                state = {}
                for name, packed in config[_STATE].items():
                    state[name] = _unpacked(*packed)
                vectorizer._take(state)
            except (AttributeError, ConfigError, *DAMAGES) as problem:
                raise RunError(
                    f"The vocabulary of the {cls.__name__} '{vectorizer.name}' is damaged: "
                    f"{problem}. Save the model again, or copy it again."
                ) from problem
        return vectorizer

    @abstractmethod
    def _take(self, state: dict[str, np.ndarray]) -> None:
        """Sets the vocabulary to that of a `state()`."""

    @abstractmethod
    def state(self) -> dict[str, np.ndarray]:
        """Returns the vocabulary as named arrays."""

    @classmethod
    def from_state(cls, config: dict[str, Any], state: dict[str, np.ndarray], **parts: Any) -> Self:
        """Restores a vectorizer from `settings()` and `state()`.

        Args:
            config: The settings.
            state: The arrays.
            **parts: Objects that are already made of their arrays, such as `dictionary`.
        """
        vectorizer = cls(**config)
        vectorizer._take(state, **parts)
        return vectorizer


def _packed(array: np.ndarray) -> list[str]:
    """Returns dtype and bytes, in base64, of an array `(n,)`."""
    encoded = b64encode(array.tobytes())
    return [array.dtype.str, encoded.decode()]


def _unpacked(dtype: str, data: str) -> np.ndarray:
    if np.dtype(dtype).kind not in "iu":
        raise ValueError(f"it holds {dtype}, expected integers")
    raw = b64decode(data, validate=True)
    return np.frombuffer(raw, dtype)


def settings_of(layer: keras.layers.Layer) -> dict[str, Any]:
    """Returns the settings that the class of a layer adds to those of every layer."""
    config = layer.settings() if hasattr(layer, "settings") else layer.get_config()
    return {name: value for name, value in config.items() if name not in _LAYER_SETTINGS}


def check_growable(old: TextVectorizer, other: TextVectorizer) -> None:
    """Checks that two vectorizers read texts in the same way.

    Raises:
        ConfigError: Their classes or settings differ.
    """
    kinds = [(type(layer).__name__, settings_of(layer)) for layer in (old, other)]
    for _, settings in kinds:
        for name in _OF_MODELS:
            settings.pop(name, None)
    if kinds[0] != kinds[1]:
        raise ConfigError(
            "A vectorizer can only grow by one of its own class with the same settings. "
            f"Received: {kinds[0]} and {kinds[1]}"
        )
