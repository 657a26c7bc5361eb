"""The layer that turns strings into n-gram ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Unpack

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.errors import ConfigError, check_integers, check_switches
from tf_charagram.text.base import TextOptions, TextVectorizer
from tf_charagram.text.dictionary import Dictionary, check_dictionary
from tf_charagram.text.growing import check_growable
from tf_charagram.text.keys import ngram_keys
from tf_charagram.text.lookup import LookupTable
from tf_charagram.text.ngram_ids import hashed_ids, known_ids, longest_ids
from tf_charagram.text.tensors import string_tensor
from tf_charagram.text.validation import check_orders
from tf_charagram.text.vocabulary import NgramVocabulary, check_vocabulary


@keras.saving.register_keras_serializable(package="tf_charagram")
class NgramVectorizer(TextVectorizer):
    """Maps texts to the ids of their character n-grams (Charagram, sections 3 and 4.1.2).

    Texts are lower-cased, white space collapsed, and one space put at both ends. With a vocabulary,
    n-grams outside it are dropped. With `hash_buckets`, every n-gram has one or more rows and no
    vocabulary is needed, at the price of collisions. An n-gram that occurs twice gives its id
    twice.

    Args:
        orders: n-gram orders, 1 to 8 in any combination.
        vocabulary: The n-grams that have a row. Default: those of the texts given to `adapt`,
            unless `hash_buckets` is given.
        hash_buckets: Number of rows in hash mode.
        rows_per_ngram: Rows each n-gram is hashed to; with several, collisions of one row are
            told apart by the others (a Bloom embedding). Hash mode only.
        lowercase: As for `TextVectorizer`, and so are the call arguments and the result.
        unicode_form: As for `TextVectorizer`.
        max_chars: As for `TextVectorizer`.
        longest_only: Of the n-grams of the vocabulary that start at one position, only the longest
            gives its id; see `tf_charagram.models.prefix_sums`. Only with a vocabulary whose
            keys are exact.
        dictionary: Known words. A word that is not among them and one typing error away from one
            that is, is read as that one; see `tf_charagram.text.correction`. Only with `lowercase`.
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
        **kwargs: Any,
    ) -> None:
        super().__init__(lowercase, unicode_form, max_chars, **kwargs)
        _check_rows(vocabulary, hash_buckets, rows_per_ngram)
        check_dictionary(dictionary)
        if dictionary is not None and not lowercase:
            raise ConfigError("`dictionary` needs `lowercase`: its words are in lower case.")
        check_switches(longest_only=longest_only)
        if longest_only and hash_buckets is not None:
            raise ConfigError("`longest_only` needs a `vocabulary`.")
        self.orders = check_orders(orders)
        self.hash_buckets = hash_buckets
        self.rows_per_ngram = rows_per_ngram
        self.longest_only = longest_only
        self._use(vocabulary, dictionary)

    def _use(self, vocabulary: NgramVocabulary | None, dictionary: Dictionary | None) -> None:
        """Sets the vocabulary and the known words, and the tables that follow from them."""
        if self.longest_only and vocabulary is not None and vocabulary.bits is None:
            raise ConfigError(
                "`longest_only` needs a `vocabulary` with exact keys; this one has too many "
                "characters for its orders."
            )
        self.vocabulary, self.dictionary = vocabulary, dictionary
        if vocabulary is not None:
            self.orders = vocabulary.orders
            rows = tf.range(len(vocabulary), dtype=tf.int64)
            self._table = LookupTable(tf.constant(vocabulary.keys), rows, -1)
        alphabet = None if vocabulary is None else vocabulary.alphabet
        #: Turns texts into symbols.
        self.reader = self._make_reader(alphabet, dictionary)
        # Whoever exports a Keras model with this layer finds tables among its attributes alone.
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
        """Builds a vectorizer whose vocabulary is counted from texts.

        Args:
            texts: The texts, each counted as often as it comes; read once, as a stream.
            orders: n-gram orders, 1 to 8 in any combination.
            min_count: Fewest occurrences an n-gram needs.
            max_per_order: Keep only this many of each order, the most frequent ones.
            **options: `lowercase`, `unicode_form` and `max_chars`, as for the class.

        Raises:
            ConfigError: An argument is out of range, or no n-gram is left.
        """
        vocabulary = NgramVocabulary.from_texts(
            texts, orders=orders, min_count=min_count, max_per_order=max_per_order, **options
        )
        return cls(vocabulary=vocabulary, **options)

    @property
    def is_adapted(self) -> bool:
        """Whether it has its vocabulary, or hashes n-grams."""
        return self.vocabulary is not None or self.hash_buckets is not None

    def adapt(self, data: Any, **counting: Any) -> None:
        """Sets the vocabulary to the n-grams of texts, as `TextVectorizer.adapt`; words stay known.

        Raises:
            ConfigError: As there; or n-grams are hashed, and there is nothing to set.
        """
        if self.hash_buckets is not None:
            raise ConfigError("`adapt` is for vocabularies; `hash_buckets` needs none.")
        dictionary = self.dictionary
        super().adapt(data, **{"orders": self.orders, **counting})
        if dictionary is not None:
            self._use(self.vocabulary, dictionary)

    def _take(self, state: dict[str, np.ndarray]) -> None:
        """Sets vocabulary and known words to what `state()` returned."""
        self._use(*_parts_of(state))

    def _num_ids(self) -> int:
        """Returns the number of n-grams, or of buckets."""
        return self.hash_buckets if self.vocabulary is None else len(self.vocabulary)  # type: ignore[return-value]

    def call(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Returns the ids of the n-grams of each text."""
        self.check_ready(texts)
        with tf.device("CPU:0"):
            flat = self.reader(texts)
            if self.vocabulary is None:
                return hashed_ids(flat, self.orders, self.num_rows, self.rows_per_ngram)
            ids = longest_ids if self.longest_only else known_ids
            return ids(flat, self.orders, self.vocabulary.bits, self._table.lookup)  # type: ignore[arg-type]

    @property
    def resources(self) -> list[Any]:
        """Resources that a SavedModel holds besides the graph: the look-up tables, if any."""
        own = [] if self.vocabulary is None else [self._table]
        return [*own, *self.reader.resources]

    def ngrams(self, text: str) -> list[tuple[str, tuple[int, ...]]]:
        """Returns the n-grams of a text that have rows, in order, each with its ids.

        Raises:
            ConfigError: With `longest_only`, not every n-gram gives its id.
        """
        normalized, spans = self.spans(text)
        texts = string_tensor([text])
        ids = self(texts).values.numpy().reshape(-1, self.rows_per_ngram).tolist()
        return [
            (normalized[start:stop], tuple(rows))
            for (start, stop), rows in zip(spans, ids, strict=True)
        ]

    def spans(self, text: str) -> tuple[str, list[tuple[int, int]]]:
        """Returns where the n-grams of a text are that have rows.

        Args:
            text: Any text.

        Returns:
            The text as it is read, normalized and with a space at both ends, its words corrected if
            there is a dictionary; and the first position of each n-gram in it and the one after its
            last, in the order of `ngrams`.

        Raises:
            ConfigError: With `longest_only`, not every n-gram gives its id.
        """
        if self.longest_only:
            raise ConfigError(
                "The n-grams of a folded model (`longest_only`) cannot be told apart. Use the "
                "model that is not folded."
            )
        texts = self.reader(string_tensor([text]))
        # What was cut off is still there, behind the space at the end.
        codes = self.reader.code_points(texts.symbols[: texts.ends[0] + 1].numpy())
        bits = None if self.vocabulary is None else self.vocabulary.bits
        keys, _ = ngram_keys(texts, self.orders, bits)
        starts, columns = np.nonzero(keys.numpy())
        if self.vocabulary is not None:
            has_row = self._table.lookup(keys).numpy()[starts, columns] >= 0
            starts, columns = starts[has_row], columns[has_row]
        # The column after those of the orders is the unigram of the space after a text.
        starts = starts + (columns == len(self.orders))
        lengths = np.array([*self.orders, 1])[columns]
        spans = zip(starts.tolist(), (starts + lengths).tolist(), strict=True)
        return "".join(map(chr, codes)), list(spans)

    def grown(self, other: NgramVectorizer) -> tuple[NgramVectorizer, np.ndarray]:
        """Adds rows for the n-grams of another vectorizer; in hash mode all have rows already.

        As for `TextVectorizer`. The words that either knows are known.
        """
        check_growable(self, other)
        dictionary = other.dictionary
        if self.dictionary is not None:
            dictionary = self.dictionary.merged(dictionary)
        vocabulary, rows = self.vocabulary, np.arange(self.num_rows)
        if vocabulary is not None and other.vocabulary is not None:
            vocabulary, rows = vocabulary.grown(other.vocabulary)
        elif dictionary is self.dictionary:
            return self, rows
        return self.with_parts(vocabulary, dictionary), rows

    def with_parts(
        self, vocabulary: NgramVocabulary | None, dictionary: Dictionary | None
    ) -> NgramVectorizer:
        """Returns a vectorizer with the same settings, and other n-grams or known words."""
        return type(self)(**self.settings(), vocabulary=vocabulary, dictionary=dictionary)

    def as_written(self) -> NgramVectorizer:
        """Returns this vectorizer without its dictionary, if it has one."""
        return self if self.dictionary is None else self.with_parts(self.vocabulary, None)

    def settings(self) -> dict[str, Any]:
        """Returns the arguments without the vocabulary, which is stored as arrays."""
        return {
            **super().settings(),
            "orders": list(self.orders),
            "hash_buckets": self.hash_buckets,
            "rows_per_ngram": self.rows_per_ngram,
            "longest_only": self.longest_only,
        }

    def state(self) -> dict[str, np.ndarray]:
        """Returns what the settings leave out, as named arrays: the vocabulary, known words."""
        arrays = {} if self.vocabulary is None else self.vocabulary.to_arrays()
        return arrays if self.dictionary is None else {**arrays, **self.dictionary.to_arrays()}

    @classmethod
    def from_state(cls, config: dict[str, Any], state: dict[str, np.ndarray]) -> NgramVectorizer:
        """Restores a vectorizer from `settings()` and `state()`."""
        vocabulary, dictionary = _parts_of(state)
        return cls(**config, vocabulary=vocabulary, dictionary=dictionary)


def _parts_of(state: dict[str, np.ndarray]) -> tuple[NgramVocabulary | None, Dictionary | None]:
    """Returns the vocabulary and the known words that arrays hold."""
    has_ngrams = any(name in state for name in ("orders", "keys", "counts"))
    vocabulary = NgramVocabulary.from_arrays(state) if has_ngrams else None
    return vocabulary, Dictionary.from_arrays(state)


def _check_rows(
    vocabulary: NgramVocabulary | None, hash_buckets: int | None, rows_per_ngram: int
) -> None:
    check_vocabulary(vocabulary=vocabulary)
    if vocabulary is not None and hash_buckets is not None:
        raise ConfigError("Give only one of `vocabulary` and `hash_buckets`.")
    check_integers(hash_buckets=hash_buckets, rows_per_ngram=rows_per_ngram)
    if hash_buckets is not None and not 1 <= hash_buckets < 2**31:
        raise ConfigError(f"`hash_buckets` must be in [1, 2^31). Received: {hash_buckets}")
    if rows_per_ngram < 1 or (rows_per_ngram > 1 and hash_buckets is None):
        raise ConfigError(
            "`rows_per_ngram` must be at least 1, and above 1 only together with `hash_buckets`. "
            f"Received: rows_per_ngram={rows_per_ngram}"
        )
