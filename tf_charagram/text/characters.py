"""The layer that turns strings into character ids."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

import keras
import numpy as np
import tensorflow as tf

from tf_charagram._common.devices import on_cpu
from tf_charagram._common.flat import between
from tf_charagram.errors import ConfigError
from tf_charagram.text._algorithm.arguments import texts_of
from tf_charagram.text._algorithm.batches import bounded_batches
from tf_charagram.text._algorithm.flat import Batch
from tf_charagram.text._algorithm.tensors import string_tensor
from tf_charagram.text.alphabet import Alphabet
from tf_charagram.text.base import TextOptions, TextVectorizer, check_growable

_CHUNK_TEXTS, _CHUNK_CHARS = 1_000, 2_000_000


@keras.saving.register_keras_serializable(package="tf_charagram")
class CharacterVectorizer(TextVectorizer):
    """Maps texts to the ids of their characters (Charagram, sections 3 and 4.1.2).

    Texts are normalized like those of n-grams. Id 0 is unused, 1 is the space, 2 any character
    outside the alphabet, and the alphabet starts at 3. A text that normalizes to nothing has no
    ids.

    Args:
        alphabet: The characters that have their own id. Default: those of the texts given to
            `adapt`.
        lowercase: Whether texts are lowercased, character by character.
        unicode_form: Unicode normalization form, applied first: `"NFC"`, `"NFD"`, `"NFKC"`,
            `"NFKD"` or `None`.
        max_chars: Texts are truncated after this many characters; `None` for no limit. Lower than
            that of n-grams by default, because batches are padded to their longest text.
        **kwargs: `name` and `dtype` of the layer.

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
        # `None` before `adapt`.
        self.alphabet: Alphabet = alphabet  # type: ignore[assignment]
        if alphabet is not None:
            self._reader = self._make_reader(alphabet)

    @property
    def is_adapted(self) -> bool:
        """Whether there is an alphabet."""
        return self.alphabet is not None

    def _take(self, state: dict[str, np.ndarray]) -> None:
        self._use(Alphabet.from_array(state["alphabet"]))

    @classmethod
    def from_texts(
        cls, texts: Iterable[str], **options: Unpack[TextOptions]
    ) -> CharacterVectorizer:
        """Builds a vectorizer from the characters in texts, sorted by code point.

        Args:
            texts: The texts, read once, as a stream.
            **options: `lowercase`, `unicode_form` and `max_chars` of the vectorizer.

        Raises:
            ConfigError: An argument is out of range, `texts` is a single string, or the texts are
                empty.
        """
        texts = texts_of(texts, "texts")
        alphabet = Alphabet()
        vectorizer = cls(**options)
        read = vectorizer._make_reader(None)
        for chunk in bounded_batches(texts, _CHUNK_TEXTS, _CHUNK_CHARS):
            characters = _rows(read(string_tensor(chunk))).values.numpy()
            alphabet = alphabet.extended(np.unique(characters))
        if not len(alphabet):
            raise ConfigError("The texts have no character to make an alphabet of.")
        vectorizer._use(alphabet.sorted()[0])
        return vectorizer

    def _num_ids(self) -> int:
        return 3 + len(self.alphabet)

    def _ids(self, texts: tf.Tensor) -> tf.RaggedTensor:
        return _rows(self._reader(texts))

    def grown(self, other: CharacterVectorizer) -> tuple[CharacterVectorizer, np.ndarray]:
        """Merges in the characters of another vectorizer, by code point."""
        check_growable(self, other)
        alphabet, rows = self.alphabet.extended(other.alphabet.characters).sorted()
        state = {"alphabet": alphabet.characters}
        return self.from_state(self.settings(), state), rows[: self.num_rows]

    def state(self) -> dict[str, np.ndarray]:
        """Returns the alphabet as a named array."""
        return {"alphabet": self.alphabet.characters}


@on_cpu
def _rows(flat: Batch) -> tf.RaggedTensor:
    """Returns the symbols of each text with the spaces at both ends."""
    # An empty text has no spaces.
    is_empty = flat.starts == flat.ends
    stops = tf.where(is_empty, flat.starts, flat.ends + 1)
    return between(flat.symbols, flat.starts, stops)
