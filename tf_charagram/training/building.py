"""Vectorizer and encoder of a run, built from its settings."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain, groupby
from typing import Any

import keras

from tf_charagram.data.readers.words import WordsOf, read_word_counts
from tf_charagram.encoders import encoder_class, vectorizer_of
from tf_charagram.errors import ConfigError
from tf_charagram.layers.embedding_table import tables_in
from tf_charagram.models.model_folder import read_dictionary
from tf_charagram.text import vectorizer_class
from tf_charagram.text.dictionary import (
    Dictionary,
    counts_of_entries,
    normalized_words,
    words_of,
)
from tf_charagram.text.reading import TextReader
from tf_charagram.text.tensors import string_tensor
from tf_charagram.training.initial_weights import check_width, pretrained_width
from tf_charagram.training.settings import RunConfig

# Minimum occurrences of a word of a dictionary; rarer ones may be typos.
_MIN_COUNT = 5
# A word may be a tenth as frequent as the known word it would be read as. With `english` and 1.2
# million words of papers on linguistics, this keeps "chunking" (read as "clunking"), not "tookit".
_MAX_TIMES_RARER = 10
# About 250 MB of counts. Texts without end, such as logs, have words without end.
_MAX_WORDS = 2_000_000


def check_options(config: RunConfig) -> None:
    """Checks the options of the encoder, before the texts are read.

    Raises:
        ConfigError: An option is out of range.
        DataError: The file of word vectors cannot be read, or its first line is bad.
    """
    make_encoder(config, num_rows=1)


def make_encoder(config: RunConfig, num_rows: int) -> keras.layers.Layer:
    """Builds the encoder of a run.

    Args:
        config: Settings of the run.
        num_rows: Number of ids.

    Raises:
        ConfigError: An option is out of range, pretrained word vectors have another width, or
            `freeze_words` leaves nothing to train.
        DataError: The file of word vectors cannot be read, or its first line is bad.
    """
    options = {"dim": config.dim, "seed": config.seed, **asdict(config.encoder_options)}
    width = None if config.word_vectors is None else pretrained_width(config)
    if width is not None:
        field = "word_dim" if "word_dim" in options else "dim"
        if options.get(field) is None:
            options[field] = width
        check_width(str(config.word_vectors), width, options[field], field)
    with tables_in(config.dtype):
        encoder = encoder_class(config.encoder)(num_rows=num_rows, **options)
    if config.freeze_words:
        encoder.table.trainable = False
    if not encoder.trainable_variables:
        raise ConfigError(
            f"`freeze_words` leaves the encoder '{config.encoder}' nothing to train. Leave it out, "
            "or choose another encoder."
        )
    return encoder


def make_vectorizer(
    config: RunConfig,
    texts: Iterable[str],
    mistyped: Iterable[str] = (),
    *,
    lowercase: bool = True,
) -> keras.layers.Layer:
    """Builds the vectorizer of a run.

    Its dictionary has the words of `config.dictionary`, and, if the model of `config.init` has a
    dictionary, the words of the texts that this model would misread; see `WordCounts.own_words`.

    Args:
        config: Settings of the run.
        texts: The texts of the run, read at most once.
        mistyped: Their copies with typos, which add n-grams but no words.
        lowercase: Whether it lowercases texts.

    Raises:
        ConfigError: The texts have no units, or the dictionary has no words.
        DataError: The file of word vectors or of the dictionary cannot be read, or a line is bad.
        RunError: The model of `init` is missing or damaged.
    """
    if vectorizer_of(config.encoder) == "words":  # A word with a typo is an unknown word.
        mistyped = ()
    normalized = partial(normalized_words, unicode_form=config.unicode_form)
    dictionary = _dictionary(config.dictionary, normalized)
    known = _known_before(config, lowercase)
    if known is None:
        vectorizer = _vectorizer(config, chain(texts, mistyped), lowercase)
    else:
        words = WordCounts(normalized)
        counted = words.of(texts)
        vectorizer = _vectorizer(config, chain(counted, mistyped), lowercase)
        deque(counted, maxlen=0)  # A hashing vectorizer reads no texts.
        own = words.own_words(known)
        dictionary = own if dictionary is None else dictionary.merged(own)
    if dictionary is None:
        return vectorizer
    return vectorizer.with_parts(vectorizer.vocabulary, dictionary)


def _known_before(config: RunConfig, lowercase: bool) -> Dictionary | None:
    """Returns the dictionary of the model of `init`, if there is one that fits."""
    if config.init is None or not lowercase or vectorizer_of(config.encoder) != "ngrams":
        return None
    return read_dictionary(config.init)


def _dictionary(paths: Sequence[str], words_of: WordsOf) -> Dictionary | None:
    """Reads the words of files, of letters only; returns `None` without files."""
    if not paths:
        return None
    entries = sum((read_word_counts(path, words_of, _MIN_COUNT) for path in paths), Counter())
    return Dictionary(counts_of_entries(entries, words_of))


def _vectorizer(config: RunConfig, texts: Iterable[str], lowercase: bool) -> Any:
    """Builds the vectorizer without a dictionary."""
    kind = vectorizer_of(config.encoder)
    options: dict[str, Any] = {"unicode_form": config.unicode_form, "lowercase": lowercase}
    if config.max_chars is not None:
        options["max_chars"] = config.max_chars
    if config.hash_buckets is not None:
        return vectorizer_class(kind)(
            orders=config.ngrams,
            hash_buckets=config.hash_buckets,
            rows_per_ngram=config.rows_per_ngram,
            **options,
        )
    if kind == "ngrams":
        options |= {"orders": config.ngrams, "max_per_order": config.max_per_order}
    if kind != "characters":
        options |= {"min_count": config.min_count}
    return vectorizer_class(kind).from_texts(texts, **options)


class WordCounts:
    """Counts the words of texts while another consumer reads them.

    Beyond two million words the rarest are dropped, and counted from zero if they occur again.

    Args:
        words_of: Returns the words of texts.

    Attributes:
        counts: Occurrences of each word so far.
    """

    def __init__(self, words_of: WordsOf = words_of) -> None:
        self._words_of = words_of
        self.counts: Counter[str] = Counter()

    def of(self, texts: Iterable[str]) -> Iterator[str]:
        """Yields the texts, and counts their words."""
        for text in texts:
            self.counts.update(self._words_of((text,)))
            if len(self.counts) > _MAX_WORDS:
                self.counts = Counter(dict(self.counts.most_common(_MAX_WORDS // 2)))
            yield text

    def own_words(self, known: Dictionary) -> Dictionary | None:
        """Returns words that a dictionary lacks and would misread; `None` without any.

        They occur at least five times, and at least a tenth as often as the word that they would be
        read as, of the dictionary or of the texts; most misspellings are rarer.
        """
        own: dict[str, int] = {}
        for words in self._unknown(known):
            before = known.merged(Dictionary(own)) if own else known
            for word, other in zip(words, _corrected(words, before), strict=True):
                if word == other or self.counts[word] * _MAX_TIMES_RARER >= self.counts[other]:
                    own[word] = self.counts[word]
        return Dictionary(own) if own else None

    def _unknown(self, known: Dictionary) -> Iterator[list[str]]:
        """Yields frequent unknown words, the most frequent first.

        Words of one list are about equally frequent, so none is a misspelling of another.
        """
        frequent = {word for word, count in self.counts.items() if count >= _MIN_COUNT}
        unknown = sorted(frequent - set(known.words), key=lambda word: (-self.counts[word], word))
        for _, words in groupby(
            unknown, lambda word: int(math.log(self.counts[word] / _MIN_COUNT, _MAX_TIMES_RARER))
        ):
            yield list(words)


def _corrected(words: list[str], known: Dictionary) -> list[str]:
    """Returns the words as read with a dictionary."""
    reader = TextReader(None, known, lowercase=True, unicode_form=None, max_chars=None)
    codes = reader(string_tensor([" ".join(words)])).symbols.numpy()
    return "".join(map(chr, codes.tolist())).split()
