"""The layer that turns strings into word ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Unpack

import keras
import numpy as np
import tensorflow as tf

from tf_charagram._common.devices import on_cpu
from tf_charagram.errors import ConfigError
from tf_charagram.text._algorithm.arguments import texts_of
from tf_charagram.text._algorithm.batches import bounded_batches, check_texts
from tf_charagram.text._algorithm.tensors import LookupTable, check_counting, string_tensor
from tf_charagram.text.base import TextOptions, TextVectorizer, check_growable
from tf_charagram.text.splitting import split_words

UNKNOWN = 0
_CHUNK_TEXTS = 10_000
_CHUNK_CHARS = 2_000_000


@keras.saving.register_keras_serializable(package="tf_charagram")
class WordVectorizer(TextVectorizer):
    """Maps texts to the ids of their words.

    Texts are lowercased and split into words and single punctuation marks. English contractions
    are split as in the Penn Treebank and as pretrained vectors expect: `don't` gives `do n't`,
    `it's` gives `it 's`; text that is already split is unchanged. Other words keep an apostrophe
    inside. `3.14` is one word, `x-ray` three, every Chinese character one. A word that is not in
    the vocabulary has id 0.

    Needs tensorflow-text, also to serve the exported model.

    Args:
        words: The words with ids from 1 on; distinct. Default: the words of the texts given to
            `adapt`.
        lowercase: Whether texts are lowercased.
        unicode_form: Unicode normalization form such as `"NFKC"`, applied first, or `None`.
        max_chars: Texts are truncated after this many characters, unless `None`.
        **kwargs: `name` and `dtype` of the layer.

    Raises:
        ConfigError: An argument is out of range, or a word is a duplicate or not a string.
    """

    def __init__(
        self,
        *,
        words: Sequence[str] | None = None,
        lowercase: bool = True,
        unicode_form: str | None = None,
        max_chars: int | None = 10_000,
        **kwargs: Any,
    ) -> None:
        super().__init__(lowercase, unicode_form, max_chars, **kwargs)
        self._utf8 = np.zeros(0, np.uint8)
        self._offsets = np.zeros(0, np.int64)
        if words is not None:
            self._use(words)

    @on_cpu
    def _use(self, words: Sequence[str]) -> None:
        check_texts(words, "words")
        try:
            encoded = [word.encode() for word in words]
        except (AttributeError, TypeError, UnicodeEncodeError) as error:
            raise ConfigError(f"`words` must be strings without surrogates: {error}") from error
        num_distinct = len(set(encoded))
        if not encoded or num_distinct < len(encoded):
            raise ConfigError(
                f"`words` must hold at least one word, without duplicates. Received "
                f"{len(encoded)} words, {num_distinct} of them distinct."
            )
        # Arrays, because Keras would traverse a list word by word.
        self._utf8 = np.frombuffer(b"".join(encoded), np.uint8)
        lengths = [len(word) for word in encoded]
        self._offsets = np.cumsum([0, *lengths], dtype=np.int64)
        # Row 0 is for unknown words.
        rows = tf.range(1, len(encoded) + 1, dtype=tf.int64)
        self._table = LookupTable(tf.constant(encoded), rows, UNKNOWN)

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        *,
        min_count: int = 1,
        max_words: int | None = None,
        **options: Unpack[TextOptions],
    ) -> WordVectorizer:
        """Builds a vectorizer from the words of texts: most frequent first, then by code point.

        Args:
            texts: The texts, with repetitions; read once, as a stream.
            min_count: Minimum number of occurrences of a word.
            max_words: Maximum number of words; the most frequent ones are kept.
            **options: The arguments `lowercase`, `unicode_form` and `max_chars` of the class.

        Raises:
            ConfigError: An argument is out of range, `texts` is a single string, or no word is
                frequent enough.
        """
        texts = texts_of(texts, "texts")
        check_counting(min_count, max_words=max_words)
        vectorizer = cls(**options)
        counts: Counter[bytes] = Counter()
        for chunk in bounded_batches(texts, _CHUNK_TEXTS, _CHUNK_CHARS):
            words_of_chunk = vectorizer._split(string_tensor(chunk)).values
            counts.update(words_of_chunk.numpy().tolist())
        kept = [(-count, word) for word, count in counts.items() if count >= min_count]
        if not kept:
            raise ConfigError(
                f"The texts have no word that occurs {min_count} times or more. Lower "
                "`min_count` or give more texts."
            )
        # UTF-8 bytes sort by code point.
        words = [word.decode() for _, word in sorted(kept)[:max_words]]
        vectorizer._use(words)
        return vectorizer

    @property
    def is_adapted(self) -> bool:
        """Whether there are words."""
        return len(self._offsets) > 0

    def _take(self, state: dict[str, np.ndarray]) -> None:
        self._use(_words_of(state["utf8"], state["offsets"]))

    @property
    def words(self) -> list[str]:
        """The words; `words[i]` has id `i + 1`."""
        return _words_of(self._utf8, self._offsets)

    def _num_ids(self) -> int:
        # One more than words: id 0 is any other word.
        return len(self._offsets)

    @property
    def resources(self) -> list[Any]:
        """Lookup tables, which a SavedModel must track."""
        return [self._table]

    def _ids(self, texts: tf.Tensor) -> tf.RaggedTensor:
        words = self._split(texts)
        return words.with_values(tf.cast(self._table.lookup(words.values), tf.int32))

    @on_cpu
    def _split(self, texts: tf.Tensor) -> tf.RaggedTensor:
        return split_words(texts, self.lowercase, self.unicode_form, self.max_chars)

    def grown(self, other: WordVectorizer) -> tuple[WordVectorizer, np.ndarray]:
        """Appends the words of another vectorizer."""
        check_growable(self, other)
        words = list(dict.fromkeys([*self.words, *other.words]))
        grown = type(self)(**self.settings(), words=words)
        return grown, np.arange(self.num_rows)

    def state(self) -> dict[str, np.ndarray]:
        """Returns named arrays: all words in UTF-8, and their offsets."""
        return {"utf8": self._utf8, "offsets": self._offsets}


def _words_of(utf8: np.ndarray, offsets: np.ndarray) -> list[str]:
    """Decodes words from their joined bytes.

    Args:
        utf8: The bytes, uint8 `(num_bytes,)`.
        offsets: The first byte of each word and the end of the last, `(num_words + 1,)`.

    Raises:
        ValueError: The arrays do not go together.
    """
    if utf8.ndim != 1 or utf8.dtype != np.uint8 or offsets.ndim != 1:
        raise ValueError("the words must be bytes with a list of offsets")
    offsets = offsets.astype(np.int64, copy=False)
    # Overlapping words would take more memory than their file.
    if (
        len(offsets) < 2
        or offsets[0] != 0
        or offsets[-1] != len(utf8)
        or (np.diff(offsets) < 0).any()
    ):
        raise ValueError("the offsets of the words must ascend from their first byte to their last")
    joined = utf8.tobytes()
    return [joined[start:end].decode() for start, end in pairwise(offsets.tolist())]
