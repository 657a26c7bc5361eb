"""The base of the vectorizers: layers that turn strings into ids."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, Self, TypedDict
from weakref import WeakValueDictionary

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.errors import ConfigError, RunError
from tf_charagram.text.assets import (
    DAMAGES,
    checksum,
    damaged,
    read_vocabulary,
    write_vocabulary,
)
from tf_charagram.text.dictionary import Dictionary
from tf_charagram.text.reading import TextReader
from tf_charagram.text.symbols import Alphabet
from tf_charagram.text.tensors import check_shape, texts_of
from tf_charagram.text.validation import check_text_options


class TextOptions(TypedDict, total=False):
    """The arguments of every vectorizer; `TextVectorizer` says what they mean."""

    lowercase: bool
    unicode_form: str | None
    max_chars: int | None


class _Awaited(NamedTuple):
    """The vocabulary, or the known words alone, that is still to be read from an archive."""

    num_ids: int | None
    sha256: str


#: In the config of a vectorizer: what is known of its vocabulary.
_VOCABULARY = "saved_vocabulary"
# Checksum -> a vectorizer with that vocabulary: what clones in this process take it from.
_LIVE: WeakValueDictionary[str, TextVectorizer] = WeakValueDictionary()


class TextVectorizer(keras.layers.Layer):
    """Maps texts to ragged ids; the same layer in training, in `encode` and in the SavedModel.

    All operations run on the CPU (strings and tables have no GPU kernels) and contain no Python.

    A vectorizer gets its vocabulary from `from_texts`, or is made without one and gets it by
    `adapt`, before a model is built with it. A `.keras` archive holds the vocabulary as an asset.

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

    #: Known words, which others are corrected to, if there are any.
    dictionary: Dictionary | None = None

    def __init__(
        self, lowercase: bool, unicode_form: str | None, max_chars: int | None, **kwargs: Any
    ) -> None:
        super().__init__(**{"trainable": False, "name": "vectorizer", **kwargs})
        check_text_options(lowercase, unicode_form, max_chars)
        self.lowercase = lowercase
        self.unicode_form = unicode_form
        self.max_chars = max_chars
        self._awaited: _Awaited | None = None
        # XLA knows neither strings nor tables; with a GPU, Keras would try.
        self.supports_jit = False

    @property
    def compute_dtype(self) -> str:
        """What it takes, which is how a `keras.Sequential` finds out what its input is."""
        return "string"

    @property
    def variable_dtype(self) -> str:
        """The same; there are no variables."""
        return "string"

    @property
    def num_rows(self) -> int:
        """Number of distinct ids, the height of the embedding table.

        Raises:
            ConfigError: There is no vocabulary yet.
        """
        if self._awaited is not None and self._awaited.num_ids is not None:
            return self._awaited.num_ids
        self.check_adapted()
        return self._num_ids()

    @abstractmethod
    def _num_ids(self) -> int:
        """Returns the number of ids of a vectorizer that has its vocabulary."""

    @property
    @abstractmethod
    def is_adapted(self) -> bool:
        """Whether it has its vocabulary, or needs none."""

    def check_adapted(self) -> None:
        """Checks that texts can be vectorized.

        Raises:
            ConfigError: There is no vocabulary yet.
            RunError: The archive that the layer was loaded from has no vocabulary.
        """
        if self._awaited is not None:
            raise RunError(
                f"The archive of the {type(self).__name__} '{self.name}' has no vocabulary. Save "
                "the model again, or copy it again."
            )
        if not self.is_adapted:
            raise ConfigError(
                f"The {type(self).__name__} '{self.name}' has no vocabulary yet. Call "
                f"`adapt(texts)`, or make it with `{type(self).__name__}.from_texts(texts)`."
            )

    def check_ready(self, texts: tf.Tensor) -> None:
        """Checks that some texts can be vectorized; errors as `check_adapted` and `check_shape`."""
        self.check_adapted()
        check_shape(texts)

    def adapt(self, data: Any, **counting: Any) -> None:
        """Sets the vocabulary to that of texts; any earlier one is forgotten.

        To be called before a model is built with the layer, because the number of ids changes.

        Args:
            data: The texts: a list or another iterable, an array or tensor of strings, or a
                `tf.data.Dataset` of strings, in batches or not.
            **counting: What `from_texts` takes besides the arguments of the class, such as
                `min_count`.

        Raises:
            ConfigError: `data` is a single string, or no text has anything to count.
        """
        options: dict[str, Any] = {
            "lowercase": self.lowercase, "unicode_form": self.unicode_form,
            "max_chars": self.max_chars,
        }  # fmt: skip
        from_texts: Callable[..., Self] = type(self).from_texts
        counted = from_texts(texts_of(data), **{**options, **counting})
        self._take(counted.state())
        self._awaited = None

    def compute_output_spec(self, texts: keras.KerasTensor) -> keras.KerasTensor:
        """Returns symbolic ragged ids, int32 `(batch, None)`, for symbolic texts."""
        check_shape(texts)
        ids = keras.KerasTensor((texts.shape[0], None), "int32", ragged=True)
        # Tells the encoder, if it comes next, how many rows it needs.
        ids.num_ids = self.num_rows
        return ids

    def _make_reader(
        self, alphabet: Alphabet | None, dictionary: Dictionary | None = None
    ) -> TextReader:
        """Returns what reads texts by the settings of this vectorizer."""
        return TextReader(
            alphabet,
            dictionary,
            lowercase=self.lowercase,
            unicode_form=self.unicode_form,
            max_chars=self.max_chars,
        )

    def as_written(self) -> TextVectorizer:
        """Returns a vectorizer that gives the same ids, but reads every word as it is written."""
        return self

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

    def settings(self) -> dict[str, Any]:
        """Returns the arguments without what `state` returns, which is stored as arrays."""
        return {
            **super().get_config(),
            "lowercase": self.lowercase,
            "unicode_form": self.unicode_form,
            "max_chars": self.max_chars,
        }

    def get_config(self) -> dict[str, Any]:
        """Returns the settings, and the checksum of the vocabulary or known words, stored apart.

        `from_config` finds the vocabulary by it among the vectorizers of this process, so that
        a clone has it; elsewhere `load_assets` brings it.
        """
        state = self._stored()
        if not state:
            return self.settings()
        num_ids, sha256 = self.num_rows if self.is_adapted else None, checksum(state)
        _LIVE[sha256] = self
        return {**self.settings(), _VOCABULARY: _Awaited(num_ids, sha256)._asdict()}

    def _stored(self) -> dict[str, np.ndarray]:
        """Returns `state()`, or nothing where there is neither a vocabulary nor known words yet."""
        return self.state() if self.is_adapted or self.dictionary is not None else {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Restores a vectorizer from `get_config()`."""
        settings = {name: value for name, value in config.items() if name != _VOCABULARY}
        if config.get(_VOCABULARY) is None:
            return cls(**settings)
        awaited = _Awaited(**config[_VOCABULARY])
        source = _LIVE.get(awaited.sha256)
        # It may have been adapted again since.
        if source is not None and checksum(state := source.state()) == awaited.sha256:
            return cls.from_state(settings, state)
        vectorizer = cls(**settings)
        vectorizer._awaited = awaited
        return vectorizer

    def save_assets(self, folder: str) -> None:
        """Writes the vocabulary into an archive; called by Keras."""
        if state := self._stored():
            write_vocabulary(folder, state)

    def load_assets(self, folder: str | None) -> None:
        """Reads the vocabulary from an archive; called by Keras.

        Raises:
            RunError: It is missing or damaged, or is not the one that the model was saved with.
        """
        if self._awaited is None:
            return
        state = {} if folder is None else read_vocabulary(folder)
        if checksum(state) != self._awaited.sha256:
            raise RunError(
                f"The archive holds another vocabulary than the layer '{self.name}' was saved "
                "with, or none. Save the model again, or copy it again."
            )
        num_ids = self._awaited.num_ids
        try:
            self._take(state)
        except DAMAGES as problem:
            raise damaged(problem) from problem
        if num_ids is not None and self._num_ids() != num_ids:
            raise RunError(
                f"The vocabulary of the layer '{self.name}' has {self._num_ids()} ids, where the "
                f"archive announces {num_ids}. Save the model again, or copy it again."
            )
        # Only now: Keras tries once more after an error, without the assets.
        self._awaited = None

    @abstractmethod
    def _take(self, state: dict[str, np.ndarray]) -> None:
        """Sets the vocabulary to what `state()` returned."""

    @abstractmethod
    def state(self) -> dict[str, np.ndarray]:
        """Returns what the settings leave out, as named arrays."""

    @classmethod
    @abstractmethod
    def from_state(cls, config: dict[str, Any], state: dict[str, np.ndarray]) -> Self:
        """Restores a vectorizer from `settings()` and `state()`."""
