"""The layer that turns strings into character ids."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.errors import ConfigError
from tf_charagram.text.base import TextOptions, TextVectorizer
from tf_charagram.text.batches import bounded_batches
from tf_charagram.text.growing import check_growable
from tf_charagram.text.normalize import FlatTexts
from tf_charagram.text.symbols import Alphabet
from tf_charagram.text.tensors import string_tensor, texts_of

_CHUNK_TEXTS, _CHUNK_CHARS = 1_000, 2_000_000


@keras.saving.register_keras_serializable(package="tf_charagram")
class CharacterVectorizer(TextVectorizer):
    """Maps texts to the ids of their characters (Charagram, sections 3 and 4.1.2).

    Texts are normalized as for n-grams: lower-cased, white space collapsed, one space put at both
    ends. Id 0 names no character, 1 is the space, 2 any character outside the alphabet, and the
    alphabet starts at 3. A text that normalizes to nothing has no ids.

    Args:
        alphabet: The characters that have an id of their own. Default: those of the texts given
            to `adapt`.
        lowercase: As for `TextVectorizer`, and so are the call arguments and the result.
        unicode_form: As for `TextVectorizer`.
        max_chars: As for `TextVectorizer`, without the spaces around. One long text makes a padded
            batch as wide as itself, so the default is lower than for n-grams.
        **kwargs: As for `TextVectorizer`.

    Raises:
        ConfigError: An argument is out of range.
    """

    def __init__(
        self,
        *,
        alphabet: Alphabet | None = None,
        lowercase: bool = True,
        unicode_form: str | None = None,
        max_chars: int | None = 1_000,
        **kwargs: Any,
    ) -> None:
        super().__init__(lowercase, unicode_form, max_chars, **kwargs)
        self._use(alphabet)

    def _use(self, alphabet: Alphabet | None) -> None:
        """Sets the alphabet, and the reader that follows from it."""
        if alphabet is not None and not isinstance(alphabet, Alphabet):
            raise ConfigError(f"`alphabet` must be an `Alphabet`. Received: {alphabet!r}")
        self._alphabet = alphabet
        if alphabet is not None:
            self._reader = self._make_reader(alphabet)

    @property
    def alphabet(self) -> Alphabet:
        """The characters that have an id of their own.

        Raises:
            ConfigError: There is no vocabulary yet.
        """
        self.check_adapted()
        return self._alphabet  # type: ignore[return-value]

    @property
    def is_adapted(self) -> bool:
        """Whether it has its alphabet."""
        return self._alphabet is not None

    def _take(self, state: dict[str, np.ndarray]) -> None:
        """Sets the alphabet to what `state()` returned."""
        self._use(Alphabet.from_array(state["alphabet"]))

    @classmethod
    def from_texts(
        cls, texts: Iterable[str], **options: Unpack[TextOptions]
    ) -> CharacterVectorizer:
        """Builds a vectorizer whose alphabet is every character of the texts, by code point.

        Args:
            texts: The texts, read once, as a stream.
            **options: `lowercase`, `unicode_form` and `max_chars`, as for the class.

        Raises:
            ConfigError: An argument is out of range, `texts` is a single string, or the texts have
                no character.
        """
        texts = texts_of(texts, "texts")
        alphabet = Alphabet()
        read = cls(**options)._make_reader(None)
        for chunk in bounded_batches(texts, _CHUNK_TEXTS, _CHUNK_CHARS):
            characters = _rows(read(string_tensor(chunk))).values.numpy()
            alphabet = alphabet.extended(np.unique(characters))
        if not len(alphabet):
            raise ConfigError("The texts have no character to make an alphabet of.")
        return cls(alphabet=alphabet.sorted()[0], **options)

    def _num_ids(self) -> int:
        """Returns the number of characters, and three."""
        return 3 + len(self._alphabet)  # type: ignore[arg-type]

    def call(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Returns the ids of the characters of each text."""
        self.check_ready(texts)
        with tf.device("CPU:0"):
            return _rows(self._reader(texts))

    def grown(self, other: CharacterVectorizer) -> tuple[CharacterVectorizer, np.ndarray]:
        """Merges in the characters of another vectorizer, in the order of code points.

        As for `TextVectorizer`.
        """
        check_growable(self, other)
        alphabet, rows = self.alphabet.extended(other.alphabet.characters).sorted()
        state = {"alphabet": alphabet.characters}
        return self.from_state(self.settings(), state), rows[: self.num_rows]

    def state(self) -> dict[str, np.ndarray]:
        """Returns what the settings leave out, as named arrays: the alphabet."""
        return {"alphabet": self.alphabet.characters}

    @classmethod
    def from_state(
        cls, config: dict[str, Any], state: dict[str, np.ndarray]
    ) -> CharacterVectorizer:
        """Restores a vectorizer from `settings()` and `state()`."""
        return cls(**config, alphabet=Alphabet.from_array(state["alphabet"]))


def _rows(flat: FlatTexts) -> tf.RaggedTensor:
    """Returns the symbols of each text with its two spaces, of which neighbours may share one."""
    stops = tf.where(flat.starts == flat.ends, flat.starts, flat.ends + 1)
    positions = tf.ragged.range(flat.starts, stops, row_splits_dtype=tf.int64)
    return positions.with_values(tf.gather(flat.symbols, positions.values))
