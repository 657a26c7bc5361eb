"""The layer that turns strings into word ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.errors import ConfigError
from tf_charagram.text.base import TextVectorizer
from tf_charagram.text.batches import bounded_batches
from tf_charagram.text.growing import check_growable
from tf_charagram.text.lookup import LookupTable
from tf_charagram.text.splitting import split_words
from tf_charagram.text.tensors import string_tensor, texts_of
from tf_charagram.text.unknown_words import UnknownWords, from_state, ngrams_of_words, to_state
from tf_charagram.text.validation import check_counting, check_text_options, check_texts
from tf_charagram.text.vocabulary import NgramVocabulary, check_vocabulary

UNKNOWN = 0
_CHUNK_TEXTS = 10_000
_CHUNK_CHARS = 2_000_000


@keras.saving.register_keras_serializable(package="tf_charagram")
class WordVectorizer(TextVectorizer):
    """Maps texts to the ids of their words.

    Texts are lower-cased and split into words and single punctuation marks. English contractions
    are split as the Penn Treebank does and pretrained vectors expect: `don't` gives `do n't`,
    `it's` gives `it 's`; text already split so stays as it is. Other words keep an apostrophe
    inside. `3.14` is one word, `x-ray` three, every Chinese character one. A word that is not in
    the vocabulary has id 0. With `ngrams`, the ids of its n-grams follow, those of the word with a
    space before and after it; they are above `num_words`.

    It needs tensorflow-text also where the exported model is served.

    Args:
        words: The words that have an id of their own, in the order of ids from 1; distinct.
            Default: those of the texts given to `adapt`.
        ngrams: The n-grams that other words are made of, in the order of ids from `num_words + 1`;
            `None` for one id for all those words.
        lowercase: As for `TextVectorizer`, and so are the call arguments and the result.
        unicode_form: As for `TextVectorizer`.
        max_chars: As for `TextVectorizer`.
        **kwargs: As for `TextVectorizer`.

    Raises:
        ConfigError: An argument is out of range, a word occurs twice, or one is no text.
    """

    def __init__(
        self,
        *,
        words: Sequence[str] | None = None,
        ngrams: NgramVocabulary | None = None,
        lowercase: bool = True,
        unicode_form: str | None = None,
        max_chars: int | None = 10_000,
        **kwargs: Any,
    ) -> None:
        super().__init__(lowercase, unicode_form, max_chars, **kwargs)
        check_vocabulary(ngrams=ngrams)
        self.ngrams: NgramVocabulary | None = None
        self._utf8, self._offsets = np.zeros(0, np.uint8), np.zeros(0, np.int64)
        if words is not None:
            self._use(words, ngrams)
        elif ngrams is not None:
            raise ConfigError("`ngrams` need `words`.")

    def _use(self, words: Sequence[str], ngrams: NgramVocabulary | None) -> None:
        """Sets words and n-grams, and the tables that follow from them."""
        check_texts(words, "words")
        try:
            encoded = [word.encode() for word in words]
        except (AttributeError, TypeError, UnicodeEncodeError) as error:
            raise ConfigError(f"`words` must be strings without surrogates: {error}") from error
        if not encoded or len(set(encoded)) < len(encoded):
            raise ConfigError(
                f"`words` must hold at least one word, and none twice. Received {len(encoded)} "
                f"words, {len(set(encoded))} of them distinct."
            )
        # As arrays, because Keras would go through a list of words one by one.
        self._utf8 = np.frombuffer(b"".join(encoded), np.uint8)
        self._offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        rows = tf.range(1, len(encoded) + 1, dtype=tf.int64)
        self._table = LookupTable(tf.constant(encoded), rows, UNKNOWN)
        self.ngrams = ngrams
        self._unknown_words = None
        if ngrams is not None:
            self._unknown_words = UnknownWords(ngrams, UNKNOWN, self.num_words + 1)

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        *,
        min_count: int = 1,
        max_words: int | None = None,
        ngram_orders: Sequence[int] | None = None,
        lowercase: bool = True,
        unicode_form: str | None = None,
        max_chars: int | None = 10_000,
    ) -> WordVectorizer:
        """Builds a vectorizer from the words of texts: most frequent first, then by code point.

        Args:
            texts: The texts, each counted as often as it comes; read once, as a stream.
            min_count: Fewest occurrences a word needs.
            max_words: Keep only this many, the most frequent ones.
            ngram_orders: Orders of the n-grams that unknown words are made of; those of the words
                that are not kept have ids. Default: unknown words have one id.
            lowercase: As for the class.
            unicode_form: As for the class.
            max_chars: As for the class.

        Raises:
            ConfigError: An argument is out of range, `texts` is a single string, no word is left,
                or none is left out to teach the n-grams.
        """
        texts = texts_of(texts, "texts")
        check_counting(min_count, max_words=max_words)
        check_text_options(lowercase, unicode_form, max_chars)
        counts: Counter[bytes] = Counter()
        for chunk in bounded_batches(texts, _CHUNK_TEXTS, _CHUNK_CHARS):
            encoded = string_tensor(chunk)
            words_of_texts = split_words(encoded, lowercase, unicode_form, max_chars)
            counts.update(words_of_texts.values.numpy().tolist())
        kept = [(-count, word) for word, count in counts.items() if count >= min_count]
        if not kept:
            raise ConfigError(
                f"The texts have no word that occurs {min_count} times or more. Lower "
                "`min_count` or give more texts."
            )
        # The order of UTF-8 bytes is that of code points.
        words = [word.decode() for _, word in sorted(kept)[:max_words]]
        ngrams = None
        if ngram_orders is not None:
            rare = sorted({word.decode() for word in counts}.difference(words))
            if not rare:
                raise ConfigError(
                    "Rare words teach the n-grams of unknown words, and no word of the texts "
                    f"occurs fewer than {min_count} times. Raise `min_count`, for instance "
                    f"--min-count {min_count + 1}, or give up `unknown_words=ngrams`."
                )
            ngrams = ngrams_of_words(rare, ngram_orders)
        text: dict[str, Any] = {
            "lowercase": lowercase, "unicode_form": unicode_form, "max_chars": max_chars,
        }  # fmt: skip
        return cls(words=words, ngrams=ngrams, **text)

    @property
    def is_adapted(self) -> bool:
        """Whether it has its words."""
        return len(self._offsets) > 0

    def _take(self, state: dict[str, np.ndarray]) -> None:
        """Sets words and n-grams to what `state()` returned."""
        self._use(_words_of(state["utf8"], state["offsets"]), from_state(state))

    @property
    def words(self) -> list[str]:
        """The words in the order of their ids; `words[i]` has id `i + 1`."""
        return _words_of(self._utf8, self._offsets)

    def _num_ids(self) -> int:
        """Returns the number of words, the unknown one among them, and of n-grams."""
        return 1 + self.num_words + (0 if self.ngrams is None else len(self.ngrams))

    @property
    def num_words(self) -> int:
        """Number of words with an id of their own."""
        return len(self._offsets) - 1

    @property
    def resources(self) -> list[Any]:
        """Resources that a SavedModel holds besides the graph: the look-up tables."""
        more = [] if self._unknown_words is None else self._unknown_words.resources
        return [self._table, *more]

    def call(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Returns the ids of the words of each text."""
        self.check_ready(texts)
        with tf.device("CPU:0"):
            words = split_words(texts, self.lowercase, self.unicode_form, self.max_chars)
            ids = tf.cast(self._table.lookup(words.values), tf.int32)
            if self._unknown_words is None:
                return words.with_values(ids)
            return self._unknown_words(words, ids)

    def grown(self, other: WordVectorizer) -> tuple[WordVectorizer, np.ndarray]:
        """Appends the words and the n-grams of another vectorizer.

        As for `TextVectorizer`; `other` may lack n-grams.
        """
        check_growable(self, other)
        words = list(dict.fromkeys([*self.words, *other.words]))
        rows, ngrams = np.arange(self.num_words + 1), self.ngrams
        if ngrams is not None:
            ngram_rows = np.arange(len(ngrams))
            if other.ngrams is not None:
                ngrams, ngram_rows = ngrams.grown(other.ngrams)
            rows = np.concatenate([rows, ngram_rows + len(words) + 1])
        elif other.ngrams is not None:
            raise ConfigError(
                "A vectorizer grows by one with the same settings only. Received: "
                "unknown_words='shared' and unknown_words='ngrams'"
            )
        return type(self)(**self.settings(), words=words, ngrams=ngrams), rows

    def state(self) -> dict[str, np.ndarray]:
        """Returns named arrays: all words in UTF-8, where each one starts, and the n-grams."""
        return {"utf8": self._utf8, "offsets": self._offsets, **to_state(self.ngrams)}

    @classmethod
    def from_state(cls, config: dict[str, Any], state: dict[str, np.ndarray]) -> WordVectorizer:
        """Restores a vectorizer from `settings()` and `state()`."""
        words = _words_of(state["utf8"], state["offsets"])
        return cls(**config, words=words, ngrams=from_state(state))


def _words_of(utf8: np.ndarray, offsets: np.ndarray) -> list[str]:
    if utf8.ndim != 1 or utf8.dtype != np.uint8 or offsets.ndim != 1:
        raise ValueError("the words are no bytes with a list of offsets")
    offsets = offsets.astype(np.int64, copy=False)
    # Words that overlap would take more memory than their file.
    if (
        len(offsets) < 2
        or offsets[0] != 0
        or offsets[-1] != len(utf8)
        or (np.diff(offsets) < 0).any()
    ):
        raise ValueError("the offsets of the words do not go from their first byte to their last")
    joined, ends = utf8.tobytes(), offsets.tolist()
    return [joined[i:j].decode() for i, j in pairwise(ends)]
