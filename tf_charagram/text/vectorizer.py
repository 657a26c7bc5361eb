"""The layer that turns strings into n-gram ids, found by their keys in one of three ways."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Unpack

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.devices import on_cpu
from tf_charagram.errors import ConfigError, check_integers, check_switches
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text.alphabet import UNKNOWN
from tf_charagram.text.base import TextOptions, TextVectorizer, check_growable
from tf_charagram.text.hashing import ROWS_OF_UNKNOWN
from tf_charagram.text.ids import (
    appended,
    hashed_ids,
    known_ids,
    longest_ids,
    unknown_ids,
    without_unknown,
)
from tf_charagram.text.keys import ngram_keys
from tf_charagram.text.normalize import FlatTexts, stacked
from tf_charagram.text.tensors import LookupTable, check_orders, check_shape, string_tensor
from tf_charagram.text.vectors import column, flatnonzero
from tf_charagram.text.vocabulary import NgramVocabulary


class Reading(NamedTuple):
    """A reading of a text.

    Attributes:
        share: Its share in the vector of the text.
        text: The text as it is read, with a space at both ends.
        spans: Start and end of each n-gram that has rows.
        ids: The rows of each.
    """

    share: float
    text: str
    spans: list[tuple[int, int]]
    ids: list[tuple[int, ...]]


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
        lowercase: Whether texts are lowercased, character by character.
        unicode_form: Unicode normalization form, applied first: `"NFC"`, `"NFD"`, `"NFKC"`,
            `"NFKD"` or `None`.
        max_chars: Texts are truncated after this many characters; `None` for no limit.
        longest_only: Whether only the longest n-gram at each position gives its id; see
            `tf_charagram.models.prefix_sums`. Only with a vocabulary with exact keys.
        dictionary: Known words; misspelled and joined words are read as these, see
            `tf_charagram.text._spelling.correction`. Only with `lowercase`.
        fold_characters: Whether texts are brought to one form: full-width letters, ligatures and
            accents that the vocabulary lacks become plain letters. Only with `lowercase` and a
            vocabulary with exact keys, which is counted in texts as they are.
        unknown_rows: Number of rows after those of the vocabulary, to which characters outside its
            alphabet are hashed: each one, and each with the character after it, has two of them.
            These ids come last. If 0, characters outside the alphabet have no row. Only with a
            vocabulary with exact keys.
        **kwargs: `name` and `dtype` of the layer.

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

    @on_cpu
    def _use(self, vocabulary: NgramVocabulary | None, dictionary: Dictionary | None) -> None:
        if vocabulary is not None and self.hash_buckets is not None:
            raise ConfigError("Give only one of `vocabulary` and `hash_buckets`.")
        if dictionary is not None and not self.lowercase:
            raise ConfigError("`dictionary` needs `lowercase`: its words are lowercase.")
        is_exact = self.hash_buckets is None
        if vocabulary is not None:
            is_exact = vocabulary.bits is not None
        for name in ("longest_only", "fold_characters", "unknown_rows"):
            if getattr(self, name) and not is_exact:
                raise ConfigError(
                    f"`{name}` needs a `vocabulary` with exact keys, of not too many characters "
                    "for its orders."
                )
        self.vocabulary = vocabulary
        self.dictionary = dictionary
        alphabet = None
        if vocabulary is not None:
            alphabet = vocabulary.alphabet
            self.orders = vocabulary.orders
            keys = tf.constant(vocabulary.keys)
            rows = tf.range(len(vocabulary), dtype=tf.int64)
            self._table = LookupTable(keys, rows, -1)
        if alphabet is not None and self.unknown_rows:
            self._symbol_codes = tf.constant(alphabet.symbol_codes())
        self.reader = self._make_reader(
            alphabet,
            dictionary,
            fold_characters=self.fold_characters,
            keep_unknown=self.unknown_rows > 0,
        )
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
        """Builds a vectorizer with the n-grams of texts.

        Args:
            texts: The texts, with repetitions; read once, as a stream.
            orders: n-gram orders, 1 to 8 in any combination.
            min_count: Minimum number of occurrences of an n-gram.
            max_per_order: Maximum number of n-grams of each order; the most frequent ones are kept.
            **options: `lowercase`, `unicode_form` and `max_chars` of the vectorizer.

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
        """Replaces the vocabulary by the n-grams of texts; keeps the dictionary.

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

    def embedded(
        self, texts: tf.Tensor, embed: Callable[[tf.RaggedTensor], tf.Tensor]
    ) -> tf.Tensor:
        """Embeds texts; changed texts get the mean of two vectors, as read and as written."""
        if self.dictionary is None or self.dictionary.sureness is None:
            return super().embedded(texts, embed)
        check_shape(texts)
        ids, changed, shares = self._read_and_written(texts)
        vectors = embed(ids)
        num_texts = tf.size(texts)
        read = vectors[:num_texts]
        shares = column(shares)
        mixed = shares * tf.gather(read, changed) + (1 - shares) * vectors[num_texts:]
        return tf.tensor_scatter_nd_update(read, column(changed), mixed)

    @on_cpu
    def _read_and_written(self, texts: tf.Tensor) -> tuple[tf.RaggedTensor, tf.Tensor, tf.Tensor]:
        """Returns the ids of texts as read, then of changed texts as written.

        Also returns the rows of the changed texts, and the shares of their readings.
        """
        readings = self.reader.readings(texts)
        ids = self._ids_of(stacked(readings.read, readings.written))
        return ids, readings.changed, readings.shares

    def _ids(self, texts: tf.Tensor) -> tf.RaggedTensor:
        return self._ids_of(self.reader(texts))

    def _ids_of(self, flat: FlatTexts) -> tf.RaggedTensor:
        vocabulary = self.vocabulary
        if vocabulary is None:
            return hashed_ids(flat, self.orders, self.num_rows, self.rows_per_ngram)
        known = longest_ids if self.longest_only else known_ids
        read = without_unknown(flat) if self.unknown_rows else flat
        ids = known(read, self.orders, vocabulary.bits, self._table.lookup)  # type: ignore[arg-type]
        if not self.unknown_rows:
            return ids

        def with_unknown() -> tf.RaggedTensor:
            rows = unknown_ids(flat, self._symbol_codes, self.unknown_rows)
            return appended(ids, rows + len(vocabulary))

        return tf.cond(tf.reduce_max(flat.symbols) < UNKNOWN, lambda: ids, with_unknown)

    @property
    def resources(self) -> list[Any]:
        """Lookup tables, which a SavedModel must track."""
        own = [] if self.vocabulary is None else [self._table]
        return [*own, *self.reader.resources]

    @on_cpu
    def ngrams(self, text: str) -> list[tuple[str, tuple[int, ...]]]:
        """Returns the n-grams of a text that have rows, in the order of its ids, each with these.

        Raises:
            ConfigError: With `longest_only`, because not every n-gram gives its id.
        """
        reading = self._reading(1.0, self.reader(string_tensor([text])))
        names = [reading.text[start:stop] for start, stop in reading.spans]
        return list(zip(names, reading.ids, strict=True))

    @on_cpu
    def readings(self, text: str) -> list[Reading]:
        """Returns the one or two readings of a text that make its vector; shares sum to 1.

        Raises:
            ConfigError: With `longest_only`, because not every n-gram gives its id.
        """
        readings = self.reader.readings(string_tensor([text]))
        if not len(readings.changed):
            return [self._reading(1.0, readings.read)]
        [share] = readings.shares.numpy().tolist()
        written = self._reading(1 - share, readings.written)
        return [self._reading(share, readings.read), written]

    def _reading(self, share: float, flat: FlatTexts) -> Reading:
        """Returns a reading of the first text of a batch."""
        normalized, spans = self._spans_of(flat)
        ids = self._ids_of(flat)[0].numpy()
        first_unknown = self.num_rows - self.unknown_rows
        known = ids[ids < first_unknown]
        unknown = ids[ids >= first_unknown]
        groups = [
            *known.reshape(-1, self.rows_per_ngram).tolist(),
            *unknown.reshape(-1, ROWS_OF_UNKNOWN).tolist(),
        ]
        return Reading(share, normalized, spans, list(map(tuple, groups)))

    def known_share(self, texts: tf.Tensor) -> tf.Tensor:
        """Returns the share of the visible characters of each text that the alphabet has.

        Args:
            texts: UTF-8 strings `(batch,)`.

        Returns:
            float32 `(batch,)`; 1 for a text without visible characters, or without an alphabet.
        """
        return self.reader.known_share(texts)

    @on_cpu
    def spans(self, text: str) -> tuple[str, list[tuple[int, int]]]:
        """Returns the positions of the n-grams of a text that have rows.

        Returns:
            The text as it is read: normalized, corrected if there is a dictionary, and with a space
            at both ends; and start and end of each n-gram in it, in the order of `ngrams`.

        Raises:
            ConfigError: Only the longest n-gram at each position has an id.
        """
        return self._spans_of(self.reader(string_tensor([text])))

    def _spans_of(self, texts: FlatTexts) -> tuple[str, list[tuple[int, int]]]:
        """Returns the first text of a batch, and the positions of its n-grams that have rows."""
        if self.longest_only:
            raise ConfigError(
                "A folded model (`longest_only`) does not tell n-grams apart. Use the model that "
                "is not folded."
            )
        # Truncated parts follow the space at the end.
        symbols = texts.symbols[: texts.ends[0] + 1]
        codes = self.reader.code_points(symbols).numpy()
        chars = [chr(code) for code in codes.tolist()]
        bits = None if self.vocabulary is None else self.vocabulary.bits
        keys, _ = ngram_keys(without_unknown(texts), self.orders, bits)
        has_row = keys.numpy() > 0
        if self.vocabulary is not None:
            rows = self._table.lookup(keys).numpy()
            has_row &= rows >= 0
        starts, columns = np.nonzero(has_row)
        # The column after those of the orders holds the space after a text, a unigram.
        starts = starts + (columns == len(self.orders))
        orders = np.array([*self.orders, 1])
        stops = starts + orders[columns]
        spans = list(zip(starts.tolist(), stops.tolist(), strict=True))
        # Each unknown character alone, then with the next character.
        for place in flatnonzero(symbols >= UNKNOWN).numpy().tolist():
            spans.append((place, place + 1))
            spans.append((place, place + 2))
        return "".join(chars), spans

    def grown(self, other: NgramVectorizer) -> tuple[NgramVectorizer, np.ndarray]:
        """Adds the n-grams and the words of another vectorizer.

        Returns:
            The vectorizer, and the row in it of each row of this one.
        """
        check_growable(self, other)
        dictionary = other.dictionary
        if self.dictionary is not None:
            dictionary = self.dictionary.merged(dictionary)
        vocabulary = self.vocabulary
        rows = np.arange(self.num_rows)
        if vocabulary is not None and other.vocabulary is not None:
            vocabulary, known_rows = vocabulary.grown(other.vocabulary)
            unknown_rows = len(vocabulary) + np.arange(self.unknown_rows)
            rows = np.append(known_rows, unknown_rows)
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
        """Returns texts as the model reads them: folded and corrected, if it does that."""
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
        arrays: dict[str, np.ndarray] = {}
        if self.vocabulary is not None:
            arrays |= self.vocabulary.to_arrays()
        if self.dictionary is not None:
            arrays |= self.dictionary.to_arrays()
        return arrays


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
