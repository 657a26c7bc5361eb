"""The layer that turns strings into word ids, in training and in the SavedModel alike.

Texts become words in two steps. On code points: lower-case, white space and invisible separators to
single spaces, typographic apostrophes to ASCII ones. On strings: a space around every word and
punctuation mark by a regular expression, then tensorflow-text's `WhitespaceTokenizer`. (Its
`UnicodeScriptTokenizer` leaves "1999," one token, since digits and punctuation have the same
script, and takes "don't" and a letter with a combining accent apart.)
"""

from __future__ import annotations

import functools
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.errors import ConfigError
from tf_charagram.text.batches import bounded_batches, to_bytes
from tf_charagram.text.growing import check_growable
from tf_charagram.text.normalize import SPACE, collapse, decode, normalized_code_points
from tf_charagram.text.unknown_words import UnknownWords, from_state, ngrams_of_words, to_state
from tf_charagram.text.validation import check_text_options
from tf_charagram.text.vocabulary import NgramVocabulary

UNKNOWN = 0
_CHUNK_TEXTS = 10_000
_CHUNK_CHARS = 2_000_000
_APOSTROPHES = (0x2019, 0x02BC, 0xFF07)
# Control characters, marks of text direction, zero-width spaces, the byte order mark.
_SEPARATORS = (
    *range(0x20), *range(0x7F, 0xA0), 0x061C, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F),
    0x2060, *range(0x2066, 0x206A), 0xFEFF,
)  # fmt: skip

# RE2, first match from the left. It has no difference of classes, hence the negated one: letters,
# marks and digits without Chinese characters.
LETTER = r"[^\pP\pS\pZ\p{Cc}\p{Cf}\p{Han}]"
TOKEN = "|".join(
    (
        r"\p{Nd}+(?:[.,]\p{Nd}+)+",  # 3.14 and 1,000
        r"\p{Han}\pM*",  # Chinese is written without spaces: each character is a word
        # Joiners stand inside words of Persian and of India; an apostrophe in o'clock.
        rf"{LETTER}(?:{LETTER}|\p{{Cf}}+{LETTER})*(?:'{LETTER}+)*",
        r"(?i:'(?:s|re|ve|ll|d|m))\b",
        r"\x{FFFD}+",
        r"[\pP\pS](?:[\pM\x{1F3FB}-\x{1F3FF}]|\x{200D}\pS)*",  # an emoji with its parts
    )
)
CONTRACTION = rf"(?i)({LETTER})(n't|'(?:s|re|ve|ll|d|m))\b"


class WordVectorizer(keras.layers.Layer):
    """Maps texts to the ids of their words.

    Texts are lower-cased and split into words and single punctuation marks. English contractions
    are split as the Penn Treebank does and pretrained vectors expect: `don't` gives `do n't`,
    `it's` gives `it 's`; text already split so stays as it is. Other words keep an apostrophe
    inside. `3.14` is one word, `x-ray` three, every Chinese character one. A word that is not in
    the vocabulary has id 0. With `ngrams`, the ids of its n-grams follow, those of the word with a
    space before and after it; they are above `num_words`.

    All operations run on the CPU and contain no Python; `WhitespaceTokenizer` needs
    tensorflow-text also where the exported model is served.

    Args:
        words: The words that have an id of their own, in the order of ids from 1; distinct.
        ngrams: The n-grams that other words are made of, in the order of ids from `num_words + 1`;
            `None` for one id for all those words.
        lowercase: Lower-case the texts, character by character.
        unicode_form: `None`, or `"NFC"`, `"NFD"`, `"NFKC"`, `"NFKD"`: normalized first.
        max_chars: Texts are cut after so many characters, so that one text cannot exhaust memory.

    Call arguments:
        texts: String tensor `(batch,)`, UTF-8; broken bytes are read as U+FFFD.

    Returns:
        `tf.RaggedTensor` int32 `(batch, None)`, ids in `[0, num_rows)`, in order of position.

    Raises:
        ConfigError: An argument is out of range.
    """

    def __init__(
        self,
        *,
        words: Sequence[str],
        ngrams: NgramVocabulary | None = None,
        lowercase: bool = True,
        unicode_form: str | None = None,
        max_chars: int | None = 10_000,
        **kwargs: Any,
    ) -> None:
        super().__init__(**{"trainable": False, "name": "vectorizer", **kwargs})
        check_text_options(unicode_form, max_chars)
        encoded = [word.encode() for word in words]
        if not encoded or len(set(encoded)) < len(encoded):
            raise ConfigError(
                f"`words` must hold at least one word, and none twice. Received {len(encoded)} "
                f"words, {len(set(encoded))} of them distinct."
            )
        self.lowercase = lowercase
        self.unicode_form = unicode_form
        self.max_chars = max_chars
        # As arrays, because Keras would go through a list of words one by one.
        self._utf8 = np.frombuffer(b"".join(encoded), np.uint8)
        self._offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        self._table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(
                tf.constant(encoded), tf.range(1, len(encoded) + 1, dtype=tf.int64)
            ),
            default_value=UNKNOWN,
        )
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
            ConfigError: An argument is out of range, no word is left, or none is left out to
                teach the n-grams.
        """
        if min_count < 1:
            raise ConfigError(f"`min_count` must be at least 1. Received: min_count={min_count}")
        if max_words is not None and max_words < 1:
            raise ConfigError(f"`max_words` must be at least 1 or None. Received: {max_words}")
        check_text_options(unicode_form, max_chars)
        counts: Counter[bytes] = Counter()
        for chunk in bounded_batches(texts, _CHUNK_TEXTS, _CHUNK_CHARS):
            encoded = tf.constant([to_bytes(text) for text in chunk])
            found = split_words(encoded, lowercase, unicode_form, max_chars)
            counts.update(found.values.numpy().tolist())
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
    def words(self) -> list[str]:
        """The words in the order of their ids; `words[i]` has id `i + 1`."""
        return _words_of(self._utf8, self._offsets)

    @property
    def num_rows(self) -> int:
        """Number of distinct ids, the unknown word among them: the height of the table."""
        return 1 + self.num_words + (0 if self.ngrams is None else len(self.ngrams))

    @property
    def num_words(self) -> int:
        """Number of words with an id of their own."""
        return len(self._offsets) - 1

    @property
    def resources(self) -> list[Any]:
        """What a SavedModel must hold besides the graph: the look-up tables."""
        more = [] if self._unknown_words is None else self._unknown_words.resources
        return [self._table, *more]

    def call(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Returns the ids of the words of each text."""
        with tf.device("CPU:0"):
            words = split_words(texts, self.lowercase, self.unicode_form, self.max_chars)
            ids = tf.cast(self._table.lookup(words.values), tf.int32)
            if self._unknown_words is None:
                return words.with_values(ids)
            return self._unknown_words(words, ids)

    def grown(self, other: WordVectorizer) -> tuple[WordVectorizer, np.ndarray]:
        """Gives the words of another vectorizer ids after those there are, and so its n-grams.

        Args:
            other: A vectorizer with the same settings, built from new texts. It may lack n-grams.

        Returns:
            The grown vectorizer, and the id there of each id of this one, int64 `(num_rows,)`.

        Raises:
            ConfigError: The settings differ.
        """
        check_growable(self, other)
        words = list(dict.fromkeys([*self.words, *other.words]))
        rows, ngrams = np.arange(self.num_words + 1), self.ngrams
        if ngrams is not None:
            places = np.arange(len(ngrams))
            if other.ngrams is not None:
                ngrams, places = ngrams.grown(other.ngrams)
            rows = np.concatenate([rows, places + len(words) + 1])
        elif other.ngrams is not None:
            raise ConfigError(
                "A vectorizer grows by one with the same settings only. Received: "
                "unknown_words='shared' and unknown_words='ngrams'"
            )
        return type(self)(**self.get_config(), words=words, ngrams=ngrams), rows

    def get_config(self) -> dict[str, Any]:
        """Returns the settings without words and n-grams, which are stored as arrays."""
        return {
            **super().get_config(),
            "lowercase": self.lowercase,
            "unicode_form": self.unicode_form,
            "max_chars": self.max_chars,
        }

    def state(self) -> dict[str, np.ndarray]:
        """Returns named arrays: all words in UTF-8, where each one starts, and the n-grams."""
        return {"utf8": self._utf8, "offsets": self._offsets, **to_state(self.ngrams)}

    @classmethod
    def from_state(cls, config: dict[str, Any], state: dict[str, np.ndarray]) -> WordVectorizer:
        """Restores a vectorizer from `get_config()` and `state()`."""
        words = _words_of(state["utf8"], state["offsets"])
        return cls(**config, words=words, ngrams=from_state(state))


def split_words(
    texts: tf.Tensor, lowercase: bool, unicode_form: str | None, max_chars: int | None
) -> tf.RaggedTensor:
    """Splits texts into words; see `WordVectorizer`.

    Args:
        texts: String tensor `(batch,)`, UTF-8.
        lowercase: Lower-case the texts.
        unicode_form: `None`, or a normalization form applied first.
        max_chars: Longest text that is kept, in characters, or `None`.

    Returns:
        `tf.RaggedTensor` of strings `(batch, None)`, int64 row splits.
    """
    codes, boundaries = decode(texts, unicode_form)
    flat = collapse(fold(codes, lowercase), boundaries, SPACE, max_chars)
    # Texts may overlap in a space, and what was cut off lies between them.
    inside = tf.ragged.range(flat.starts, flat.ends)
    inside = inside.with_row_splits_dtype(tf.int64)
    return split_folded(inside.with_values(tf.gather(flat.symbols, inside.values)))


def fold(codes: tf.Tensor, lowercase: bool) -> tf.Tensor:
    """Maps code points to those that texts are split by, one to one.

    White space and invisible separators become U+0020, apostrophes ASCII ones.

    Args:
        codes: int32, of any shape.
        lowercase: Lower-case them.
    """
    table = _folded_code_points(lowercase)
    folded = tf.gather(tf.constant(table), tf.minimum(codes, len(table) - 1))
    return tf.where(codes < len(table), folded, codes)


def split_folded(
    codes: tf.RaggedTensor, splits: Sequence[str] = (CONTRACTION,), token: str = TOKEN
) -> tf.RaggedTensor:
    """Splits folded texts; only spaces get lost.

    Args:
        codes: Code points of each text as `fold` gives them, int32 `(batch, None)`.
        splits: Expressions of two groups, which are put apart, applied first and in order.
        token: What is a token, if not all between two spaces.

    Returns:
        `tf.RaggedTensor` of strings `(batch, None)`, int64 row splits.
    """
    clean = tf.strings.unicode_encode(codes, "UTF-8", errors="replace")
    for pattern in splits:
        clean = tf.strings.regex_replace(clean, pattern, r"\1 \2")
    clean = tf.strings.regex_replace(clean, token, r" \0 ")
    return _whitespace_tokenizer().tokenize(clean)


@functools.cache
def _folded_code_points(lowercase: bool) -> np.ndarray:
    table = normalized_code_points(lowercase).copy()
    table[list(_SEPARATORS)] = SPACE
    table[list(_APOSTROPHES)] = ord("'")
    table.setflags(write=False)
    return table


def _words_of(utf8: np.ndarray, offsets: np.ndarray) -> list[str]:
    joined, ends = utf8.tobytes(), offsets.tolist()
    return [joined[i:j].decode() for i, j in pairwise(ends)]


@functools.cache
def _whitespace_tokenizer():  # type: ignore[no-untyped-def]
    if sys.platform == "win32":
        raise ImportError("Word encoders need tensorflow-text, which has no Windows build.")
    import tensorflow_text

    return tensorflow_text.WhitespaceTokenizer()
