"""The layer that turns strings into n-gram ids, found by their keys in one of three ways."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Unpack

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.errors import ConfigError, check_integers, check_switches
from tf_charagram.text.base import TextOptions, TextVectorizer, check_growable
from tf_charagram.text.dictionary import Dictionary
from tf_charagram.text.keys import OTHER_SYMBOL, UNKNOWN, mix64, ngram_keys, padded_keys
from tf_charagram.text.normalize import FlatTexts, masked, without_few
from tf_charagram.text.tensors import LookupTable, check_orders, string_tensor
from tf_charagram.text.vocabulary import NgramVocabulary

# Maps keys, int64 `(n,)`, to rows, int64 `(n,)`; negative without a row.
_Lookup = Callable[[tf.Tensor], tf.Tensor]

# Rows of each n-gram of unknown characters: those that collide in one differ in the other.
_ROWS_OF_UNKNOWN = 2
_ROW_STEP = 0xD1342543DE82EF95


@keras.saving.register_keras_serializable(package="tf_charagram")
class NgramVectorizer(TextVectorizer):
    """Maps texts to the ids of their character n-grams (Charagram, sections 3 and 4.1.2).

    Texts are lowercased, white space is collapsed, and a space is added at both ends. With a
    vocabulary, n-grams outside it are dropped. With `hash_buckets`, every n-gram has one or more
    rows and no vocabulary is needed, at the price of collisions. Repeated n-grams repeat their id.

    Args:
        orders: n-gram orders, 1 to 8 in any combination.
        vocabulary: The n-grams that have a row. Default: those of the texts given to `adapt`,
            unless `hash_buckets` is given.
        hash_buckets: Number of rows in hash mode.
        rows_per_ngram: Number of rows that each n-gram is hashed to. With several, n-grams that
            collide in one row differ in the others (a Bloom embedding). Hash mode only.
        lowercase: As for `TextVectorizer`, like the call arguments and the result.
        unicode_form: As for `TextVectorizer`.
        max_chars: As for `TextVectorizer`.
        longest_only: Whether only the longest n-gram at each position gives its id; see
            `tf_charagram.models.prefix_sums`. Only with a vocabulary with exact keys.
        dictionary: Known words; other words that are one typo away from one are read as that one,
            see `tf_charagram.text.correction`. Only with `lowercase`.
        fold_characters: Whether texts are brought to one form, see `tf_charagram.text.folding`:
            full-width letters, ligatures and accents that the vocabulary lacks become plain
            letters. Only with `lowercase` and a vocabulary with exact keys, which is counted in
            texts as they are.
        unknown_rows: Number of rows after those of the vocabulary, to which characters outside its
            alphabet are hashed: each one, and each with the character after it, has two of them.
            Their ids follow those of the other n-grams of a text. Without, such characters have no
            row. Only with a vocabulary with exact keys.
        **kwargs: As for `TextVectorizer`.

    Raises:
        ConfigError: An argument is out of range.
    """

    def __init__(
        self,
        *,
        orders: Sequence[int] = (2, 3, 4),
        vocabulary: NgramVocabulary | None = None,
        hash_buckets: int | None = None,
        rows_per_ngram: int = 1,
        lowercase: bool = True,
        unicode_form: str | None = None,
        max_chars: int | None = 10_000,
        longest_only: bool = False,
        dictionary: Dictionary | None = None,
        fold_characters: bool = False,
        unknown_rows: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(lowercase, unicode_form, max_chars, **kwargs)
        _check_rows(hash_buckets, rows_per_ngram, unknown_rows)
        check_switches(longest_only=longest_only, fold_characters=fold_characters)
        if fold_characters and not lowercase:
            raise ConfigError("`fold_characters` needs `lowercase`.")
        self.orders = check_orders(orders)
        self.hash_buckets = hash_buckets
        self.rows_per_ngram = rows_per_ngram
        self.longest_only = longest_only
        self.fold_characters = fold_characters
        self.unknown_rows = unknown_rows
        self._use(vocabulary, dictionary)

    def _use(self, vocabulary: NgramVocabulary | None, dictionary: Dictionary | None) -> None:
        if vocabulary is not None and self.hash_buckets is not None:
            raise ConfigError("Give only one of `vocabulary` and `hash_buckets`.")
        if dictionary is not None and not self.lowercase:
            raise ConfigError("`dictionary` needs `lowercase`: its words are lowercase.")
        for name in ("longest_only", "fold_characters", "unknown_rows"):
            is_exact = self.hash_buckets is None if vocabulary is None else vocabulary.bits
            if getattr(self, name) and not is_exact:
                raise ConfigError(
                    f"`{name}` needs a `vocabulary` with exact keys, of not too many characters "
                    "for its orders."
                )
        self.vocabulary, self.dictionary = vocabulary, dictionary
        if vocabulary is not None:
            self.orders = vocabulary.orders
            rows = tf.range(len(vocabulary), dtype=tf.int64)
            self._table = LookupTable(tf.constant(vocabulary.keys), rows, -1)
        alphabet = None if vocabulary is None else vocabulary.alphabet
        if alphabet is not None:
            self._symbol_codes = tf.constant(alphabet.symbol_codes())
        self.reader = self._make_reader(
            alphabet, dictionary,
            fold_characters=self.fold_characters, keep_unknown=self.unknown_rows > 0,
        )  # fmt: skip
        # The export of a Keras model finds tables only among the attributes of its layers.
        self._tables = self.reader.resources

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        *,
        orders: Sequence[int] = (2, 3, 4),
        min_count: int = 1,
        max_per_order: int | None = None,
        **options: Unpack[TextOptions],
    ) -> NgramVectorizer:
        """Builds a vectorizer with the n-grams of texts; see `NgramVocabulary.from_texts`.

        Args:
            texts: The texts, with repetitions; read once, as a stream.
            orders: n-gram orders, 1 to 8 in any combination.
            min_count: Minimum number of occurrences of an n-gram.
            max_per_order: Maximum number of n-grams of each order; the most frequent ones are kept.
            **options: `lowercase`, `unicode_form` and `max_chars`, as for the class.

        Raises:
            ConfigError: An argument is out of range, or no n-gram is frequent enough.
        """
        vocabulary = NgramVocabulary.from_texts(
            texts, orders=orders, min_count=min_count, max_per_order=max_per_order, **options
        )
        return cls(vocabulary=vocabulary, **options)

    @property
    def is_adapted(self) -> bool:
        """Whether there is a vocabulary, or n-grams are hashed."""
        return self.vocabulary is not None or self.hash_buckets is not None

    def adapt(self, data: Any, **counting: Any) -> None:
        """Replaces the vocabulary, see `TextVectorizer.adapt`; keeps the dictionary.

        Raises:
            ConfigError: As there, or n-grams are hashed.
        """
        if self.hash_buckets is not None:
            raise ConfigError("`adapt` is for vocabularies; `hash_buckets` needs none.")
        dictionary = self.dictionary
        super().adapt(data, **{"orders": self.orders, **counting})
        if dictionary is not None:
            self._use(self.vocabulary, dictionary)

    def _take(self, state: dict[str, np.ndarray]) -> None:
        has_ngrams = any(name in state for name in ("orders", "keys", "counts"))
        vocabulary = NgramVocabulary.from_arrays(state) if has_ngrams else None
        self._use(vocabulary, Dictionary.from_arrays(state))

    def _num_ids(self) -> int:
        return (self.hash_buckets or 0) + len(self.vocabulary or ()) + self.unknown_rows

    def _ids(self, texts: tf.Tensor) -> tf.RaggedTensor:
        flat = self.reader(texts)
        if self.vocabulary is None:
            return _hashed_ids(flat, self.orders, self.num_rows, self.rows_per_ngram)
        if not self.unknown_rows:
            return self._known(flat)
        return tf.cond(
            tf.reduce_max(flat.symbols) < UNKNOWN,
            lambda: self._known(flat),
            lambda: tf.concat([self._known(_without_unknown(flat)), self._unknown(flat)], axis=1),
        )

    def _known(self, flat: FlatTexts) -> tf.RaggedTensor:
        """Returns the ids of the n-grams of the vocabulary."""
        ids = _longest_ids if self.longest_only else _known_ids
        return ids(flat, self.orders, self.vocabulary.bits, self._table.lookup)  # type: ignore[union-attr, arg-type]

    def _unknown(self, flat: FlatTexts) -> tf.RaggedTensor:
        """Returns the ids of unknown characters, and of each with the character after it."""
        symbols, starts, ends = flat
        places = tf.cast(tf.where(symbols >= UNKNOWN)[:, 0], tf.int32)
        texts = tf.searchsorted(starts, places, side="right") - 1
        is_inside = places < tf.gather(ends, texts)  # Others are cut off.
        places, texts = places[is_inside], texts[is_inside]
        chars, following = tf.gather(symbols, places) - UNKNOWN, tf.gather(symbols, places + 1)
        codes = tf.gather(self._symbol_codes, tf.minimum(following, len(self._symbol_codes) - 1))
        codes = tf.where(following < UNKNOWN, codes, following - UNKNOWN)
        # Code points: the vocabulary may give other symbols when it grows.
        pairs = tf.cast(codes + 1, tf.int64) * UNKNOWN + tf.cast(chars, tf.int64)
        keys = tf.reshape(tf.stack([tf.cast(chars, tf.int64), pairs], axis=1), [-1])
        rows = _hashed_rows(keys, self.unknown_rows, _ROWS_OF_UNKNOWN) + len(self.vocabulary or ())
        rows = tf.reshape(rows, [-1, 2 * _ROWS_OF_UNKNOWN])
        splits = tf.searchsorted(texts, tf.range(tf.size(starts) + 1))
        return _ragged(tf.reshape(rows, [-1]), splits * rows.shape[1])

    @property
    def resources(self) -> list[Any]:
        """Lookup tables, which a SavedModel must track."""
        own = [] if self.vocabulary is None else [self._table]
        return [*own, *self.reader.resources]

    def ngrams(self, text: str) -> list[tuple[str, tuple[int, ...]]]:
        """Returns the n-grams of a text that have rows, in the order of its ids, each with these.

        Raises:
            ConfigError: With `longest_only`, because not every n-gram gives its id.
        """
        normalized, spans = self.spans(text)
        texts = string_tensor([text])
        ids = self(texts).values.numpy()
        is_unknown = ids >= self.num_rows - self.unknown_rows
        known = ids[~is_unknown].reshape(-1, self.rows_per_ngram).tolist()
        unknown = ids[is_unknown].reshape(-1, _ROWS_OF_UNKNOWN).tolist()
        return [
            (normalized[start:stop], tuple(rows))
            for (start, stop), rows in zip(spans, [*known, *unknown], strict=True)
        ]

    def known_share(self, texts: tf.Tensor) -> tf.Tensor:
        """Returns the share of the visible characters of each text that the alphabet has.

        Args:
            texts: As for the call.

        Returns:
            float32 `(batch,)`; 1 for a text without visible characters, or without an alphabet.
        """
        with tf.device("CPU:0"):
            return self.reader.known_share(texts)

    def spans(self, text: str) -> tuple[str, list[tuple[int, int]]]:
        """Returns the positions of the n-grams of a text that have rows.

        Returns:
            The text as it is read: normalized, corrected if there is a dictionary, and with a space
            at both ends; and start and end of each n-gram in it, in the order of `ngrams`.

        Raises:
            ConfigError: As for `ngrams`.
        """
        if self.longest_only:
            raise ConfigError(
                "A folded model (`longest_only`) does not tell n-grams apart. Use the model that "
                "is not folded."
            )
        texts = self.reader(string_tensor([text]))
        # Truncated parts follow the space at the end.
        symbols = texts.symbols[: texts.ends[0] + 1].numpy()
        codes = self.reader.code_points(symbols)
        if self.unknown_rows:
            texts = _without_unknown(texts)
        bits = None if self.vocabulary is None else self.vocabulary.bits
        keys, _ = ngram_keys(texts, self.orders, bits)
        starts, columns = np.nonzero(keys.numpy())
        if self.vocabulary is not None:
            has_row = self._table.lookup(keys).numpy()[starts, columns] >= 0
            starts, columns = starts[has_row], columns[has_row]
        # The column after those of the orders holds the space after a text, a unigram.
        starts = starts + (columns == len(self.orders))
        lengths = np.array([*self.orders, 1])[columns]
        spans = [*zip(starts.tolist(), (starts + lengths).tolist(), strict=True)]
        if self.unknown_rows:
            places = np.flatnonzero(symbols >= UNKNOWN).tolist()
            spans += [(place, place + length) for place in places for length in (1, 2)]
        return "".join(map(chr, codes)), spans

    def grown(self, other: NgramVectorizer) -> tuple[NgramVectorizer, np.ndarray]:
        """Adds the n-grams and the words of another vectorizer, see `TextVectorizer.grown`."""
        check_growable(self, other)
        dictionary = other.dictionary
        if self.dictionary is not None:
            dictionary = self.dictionary.merged(dictionary)
        vocabulary, rows = self.vocabulary, np.arange(self.num_rows)
        if vocabulary is not None and other.vocabulary is not None:
            vocabulary, rows = vocabulary.grown(other.vocabulary)
            rows = np.append(rows, len(vocabulary) + np.arange(self.unknown_rows))
        elif dictionary is self.dictionary:
            return self, rows
        return self.with_parts(vocabulary, dictionary), rows

    def with_parts(
        self, vocabulary: NgramVocabulary | None, dictionary: Dictionary | None, **settings: Any
    ) -> NgramVectorizer:
        """Returns a vectorizer with another vocabulary or dictionary, and perhaps settings."""
        settings = {**self.settings(), **settings}
        return type(self)(**settings, vocabulary=vocabulary, dictionary=dictionary)

    def read_as(self, texts: Sequence[str]) -> list[str]:
        """Returns texts folded and corrected, if they are to be; see `TextVectorizer.read_as`."""
        return self.reader.read_as(texts)

    def as_written(self) -> NgramVectorizer:
        """Returns this vectorizer without its dictionary."""
        return self if self.dictionary is None else self.with_parts(self.vocabulary, None)

    def settings(self) -> dict[str, Any]:
        """Returns the constructor's arguments except vocabulary and dictionary."""
        return {
            **super().settings(),
            "orders": list(self.orders),
            "hash_buckets": self.hash_buckets,
            "rows_per_ngram": self.rows_per_ngram,
            "longest_only": self.longest_only,
            "fold_characters": self.fold_characters,
            "unknown_rows": self.unknown_rows,
        }

    def state(self) -> dict[str, np.ndarray]:
        """Returns vocabulary and dictionary as named arrays."""
        arrays = {} if self.vocabulary is None else self.vocabulary.to_arrays()
        return arrays if self.dictionary is None else {**arrays, **self.dictionary.to_arrays()}


def _check_rows(hash_buckets: int | None, rows_per_ngram: int, unknown_rows: int) -> None:
    check_integers(
        hash_buckets=hash_buckets, rows_per_ngram=rows_per_ngram, unknown_rows=unknown_rows
    )
    if not 0 <= unknown_rows < 2**30:
        raise ConfigError(f"`unknown_rows` must be in [0, 2^30). Received: {unknown_rows}")
    if hash_buckets is not None and not 1 <= hash_buckets < 2**31:
        raise ConfigError(f"`hash_buckets` must be in [1, 2^31). Received: {hash_buckets}")
    if rows_per_ngram < 1 or (rows_per_ngram > 1 and hash_buckets is None):
        raise ConfigError(
            "`rows_per_ngram` must be at least 1, and above 1 only together with `hash_buckets`. "
            f"Received: rows_per_ngram={rows_per_ngram}"
        )


def _known_ids(
    texts: FlatTexts, orders: Sequence[int], bits: int | None, lookup: _Lookup
) -> tf.RaggedTensor:
    """Returns the ids of all n-grams that have a row, int32 `(batch, None)`."""
    keys, splits = ngram_keys(texts, orders, bits)
    num_columns = keys.shape[1]
    # The table does not contain key 0, "no n-gram".
    rows = tf.cast(lookup(tf.reshape(keys, [-1])), tf.int32)
    return _ragged(*masked(rows, rows >= 0, splits * num_columns))


def _longest_ids(
    texts: FlatTexts, orders: Sequence[int], bits: int, lookup: _Lookup
) -> tf.RaggedTensor:
    """Returns the id of the longest n-gram with a row at each position, int32 `(batch, None)`."""
    max_order = orders[-1]
    keys, splits = padded_keys(texts, max_order, bits)
    positions = tf.range(tf.size(keys))
    places, found = [], []
    for order in orders[::-1]:
        shift = np.int64(bits * (max_order - order))
        rows = lookup(tf.bitwise.right_shift(keys, shift))
        places.append(positions)
        found.append(rows)
        unknown = tf.where(rows < 0)[:, 0]
        keys, positions = tf.gather(keys, unknown), tf.gather(positions, unknown)
    # The last row for a position wins. Scattered updates take twice as long.
    rows = tf.cast(tf.dynamic_stitch(places, found), tf.int32)
    if 1 in orders:
        last_spaces = ngram_keys(texts, (1,), bits)[0][:, 1]
        rows = tf.stack([rows, tf.cast(lookup(last_spaces), tf.int32)], axis=1)
        rows, splits = tf.reshape(rows, [-1]), 2 * splits
        return _ragged(*masked(rows, rows >= 0, splits))
    # Most positions have a row, so few are dropped.
    return _ragged(*without_few(rows, rows < 0, splits))


def _hashed_ids(
    texts: FlatTexts, orders: Sequence[int], num_rows: int, rows_per_ngram: int
) -> tf.RaggedTensor:
    """Returns `rows_per_ngram` ids in `[0, num_rows)` of each n-gram, int32 `(batch, None)`."""
    keys, splits = ngram_keys(texts, orders, None)
    num_columns = keys.shape[1] * rows_per_ngram
    keys = tf.reshape(keys, [-1])
    rows = tf.reshape(_hashed_rows(keys, num_rows, rows_per_ngram), [-1])
    exists = tf.repeat(keys > 0, rows_per_ngram)
    return _ragged(*masked(rows, exists, splits * num_columns))


def _hashed_rows(keys: tf.Tensor, num_rows: int, rows_per_key: int) -> tf.Tensor:
    """Returns `rows_per_key` rows in `[0, num_rows)` of each key, int32 `(num_keys, rows_per_key)`.

    Args:
        keys: int64 `(num_keys,)`.
        num_rows: Number of rows.
        rows_per_key: Number of hash functions.
    """
    unsigned = tf.cast(keys, tf.uint64)
    columns = [
        tf.cast(mix64(unsigned ^ np.uint64(_ROW_STEP * j % 2**64)), tf.int64)
        for j in range(rows_per_key)
    ]
    return tf.cast(tf.math.floormod(tf.stack(columns, axis=1), np.int64(num_rows)), tf.int32)


def _without_unknown(texts: FlatTexts) -> FlatTexts:
    """Replaces unknown characters that are told apart by the symbol of all of them."""
    is_known = texts.symbols < UNKNOWN
    return texts._replace(symbols=tf.where(is_known, texts.symbols, OTHER_SYMBOL))


def _ragged(values: tf.Tensor, splits: tf.Tensor) -> tf.RaggedTensor:
    return tf.RaggedTensor.from_row_splits(values, splits, validate=False)
