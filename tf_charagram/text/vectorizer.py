"""The layer that turns strings into n-gram ids, found by their keys in one of three ways."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Unpack

import keras
import numpy as np
import tensorflow as tf

from tf_charagram._common.devices import on_cpu
from tf_charagram._common.weights import MAX_WEIGHTED_ROWS
from tf_charagram.errors import ConfigError, check_integers, check_switches
from tf_charagram.text._algorithm import graph
from tf_charagram.text._algorithm.flat import Batch, stacked
from tf_charagram.text._algorithm.ids import Ngrams
from tf_charagram.text._algorithm.tensors import check_orders, check_shape, ragged
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text.base import TextOptions, TextVectorizer, check_growable
from tf_charagram.text.vocabulary import NgramVocabulary


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
            `tf_charagram.models._encoding.prefix_sums`. Only with a vocabulary with exact keys.
        dictionary: Known words; misspelled and joined words are read as these, see
            `tf_charagram.text._spelling.correction`. Only with `lowercase`.
        fold_characters: Whether texts are brought to one form: full-width letters, ligatures and
            accents that the vocabulary lacks become plain letters. Only with `lowercase` and a
            vocabulary with exact keys, which is counted in texts as they are.
        unknown_rows: Number of rows after those of the vocabulary, to which characters outside its
            alphabet are hashed: each one, and each with the character after it, has two of them.
            These ids come last. If 0, characters outside the alphabet have no row. Only with a
            vocabulary with exact keys.
        hash_signs: Whether two characters, one of them a sign, where no n-gram with a row starts,
            have one of the `unknown_rows`. So `c++` and `c#` differ.
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
        hash_signs: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(lowercase, unicode_form, max_chars, **kwargs)
        _check_rows(hash_buckets, rows_per_ngram, unknown_rows)
        check_switches(
            longest_only=longest_only, fold_characters=fold_characters, hash_signs=hash_signs
        )
        if hash_signs and not unknown_rows:
            raise ConfigError("`hash_signs` needs `unknown_rows`. Received: 0")
        if fold_characters and not lowercase:
            raise ConfigError("`fold_characters` needs `lowercase`.")
        self.orders = check_orders(orders)
        self.hash_buckets = hash_buckets
        self.rows_per_ngram = rows_per_ngram
        self.longest_only = longest_only
        self.fold_characters = fold_characters
        self.unknown_rows = unknown_rows
        self.hash_signs = hash_signs
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
        # Hashed and mixed keys have neither prefixes nor an alphabet.
        for name in ("longest_only", "fold_characters", "unknown_rows"):
            if getattr(self, name) and not is_exact:
                raise ConfigError(
                    f"`{name}` needs a `vocabulary` with exact keys, of not too many characters "
                    "for its orders."
                )
        self.vocabulary = vocabulary
        self.dictionary = dictionary
        alphabet = keys = None
        if vocabulary is not None:
            alphabet = vocabulary.alphabet
            keys = vocabulary.keys
            self.orders = vocabulary.orders
        self.ngram_ids = Ngrams(
            self.orders,
            keys,
            alphabet,
            graph,
            num_rows=self._num_ids() - self.unknown_rows,
            rows_per_ngram=self.rows_per_ngram,
            longest_only=self.longest_only,
            unknown_rows=self.unknown_rows,
            hash_signs=self.hash_signs,
        )
        # An id and the weight of its position share 32 bits.
        if self.has_weights and self._num_ids() > MAX_WEIGHTED_ROWS:
            raise ConfigError(
                f"Weights of words need at most {MAX_WEIGHTED_ROWS:,} rows. Received: "
                f"{self._num_ids():,}"
            )
        self.reader = self._make_reader(
            alphabet,
            dictionary,
            fold_characters=self.fold_characters,
            keep_unknown=self.unknown_rows > 0,
        )
        # The export of a Keras model finds tables only among the attributes of its layers.
        self._tables = self.resources

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
        # Adapting replaces the whole state, and texts have no dictionary.
        dictionary = self.dictionary
        super().adapt(data, **{"orders": self.orders, **counting})
        if dictionary is not None:
            self._use(self.vocabulary, dictionary)

    def _take(self, state: dict[str, np.ndarray], dictionary: Dictionary | None = None) -> None:
        has_ngrams = any(name in state for name in ("orders", "keys", "counts"))
        vocabulary = NgramVocabulary.from_arrays(state) if has_ngrams else None
        self._use(vocabulary, dictionary or Dictionary.from_arrays(state))

    def _num_ids(self) -> int:
        # There is one of the two, or neither before `adapt`.
        num_ngrams = self.hash_buckets or len(self.vocabulary or ())
        return num_ngrams + self.unknown_rows

    @property
    def has_weights(self) -> bool:
        """Whether words count differently."""
        return self.dictionary is not None and self.dictionary.weight_steps is not None

    def embedded(self, texts: tf.Tensor, embed: Callable[..., tf.Tensor]) -> tf.Tensor:
        """Embeds texts; changed texts get the mean of two vectors, as read and as written."""
        has_shares = self.dictionary is not None and self.dictionary.sureness is not None
        if not (has_shares or self.has_weights):
            return super().embedded(texts, embed)
        check_shape(texts)
        ids, weights, changed, shares = self._read_and_written(texts)
        vectors = embed(ids, weights)
        if not has_shares:
            return vectors
        num_texts = tf.size(texts)
        # A text that is read differently is in the batch twice.
        read = vectors[:num_texts]
        written = vectors[num_texts:]
        shares = shares[:, tf.newaxis]
        mixed = shares * tf.gather(read, changed) + (1 - shares) * written
        return graph.put(read, changed, mixed)

    @on_cpu
    def _read_and_written(
        self, texts: tf.Tensor
    ) -> tuple[tf.RaggedTensor, tf.Tensor | None, tf.Tensor, tf.Tensor]:
        """Returns the ids of texts as read, then of changed texts as written.

        Also returns the weights of the ids, or `None`; the rows of the changed texts; and the
        shares of their readings.
        """
        readings = self.reader.readings(texts)
        both = stacked(graph, readings.read, readings.written)
        ids, weights = self.ngram_ids.weighted(both)
        return ragged(*ids), weights, readings.changed, readings.shares

    @on_cpu
    def training_ids(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Returns the ids of each text, int32, with the weights of words in the highest bits."""
        self._check_adapted()
        return ragged(*self.ngram_ids.packed(self.reader(texts), self.longest_only))

    def _ids(self, texts: tf.Tensor) -> tf.RaggedTensor:
        return self._ids_of(self.reader(texts))

    def _ids_of(self, batch: Batch) -> tf.RaggedTensor:
        return ragged(*self.ngram_ids(batch))

    @property
    def resources(self) -> list[Any]:
        """Lookup tables, which a SavedModel must track."""
        return [*self.ngram_ids.resources, *self.reader.resources]

    @on_cpu
    def ngrams(self, text: str) -> list[tuple[str, tuple[int, ...]]]:
        """Returns the n-grams of a text that have rows, in the order of its ids, each with these.

        Raises:
            ConfigError: With `longest_only`, because not every n-gram gives its id.
        """
        batch = self.reader([text])
        read = self.reader.string(batch)
        spans, ids, _ = self.ngram_ids.spans(batch)
        names = [read[start:stop] for start, stop in spans]
        return list(zip(names, ids, strict=True))

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
        batch = self.reader([text])
        spans, *_ = self.ngram_ids.spans(batch)
        return self.reader.string(batch), spans

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
            # The rows of unknown characters stay the last ones.
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
            "hash_signs": self.hash_signs,
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
