"""From settings to the objects that are trained: vectorizer, encoder, ids."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain
from typing import Any

import keras

from tf_charagram.data.readers.word_counts import WordsOf, read_word_counts
from tf_charagram.encoders import encoder_class, vectorizer_of
from tf_charagram.errors import ConfigError
from tf_charagram.layers.embedding_table import tables_in
from tf_charagram.models.model_folder import read_dictionary
from tf_charagram.text import vectorizer_class
from tf_charagram.text.dictionary import Dictionary, counts_of_entries, normalized_words
from tf_charagram.text.words import WordVectorizer
from tf_charagram.training.own_words import MIN_COUNT, WordCounts
from tf_charagram.training.settings import RunConfig
from tf_charagram.training.word_vectors import check_width, pretrained_width


def check_options(config: RunConfig) -> None:
    """Checks the options of the encoder, before the texts are read.

    Raises:
        ConfigError: An option is out of range.
        DataError: The file of word vectors cannot be read, or its first line is bad.
    """
    make_encoder(config, num_rows=1)


def make_encoder(
    config: RunConfig, num_rows: int, *, num_words: int | None = None
) -> keras.layers.Layer:
    """Builds the encoder that the settings ask for; options left open take its defaults.

    Args:
        config: Settings of the run.
        num_rows: Number of ids.
        num_words: For word encoders, the highest id that is a word; see `WordEncoder`.

    Raises:
        ConfigError: An option is out of range, the pretrained word vectors have another width, or
            `freeze_words` leaves nothing to train.
        DataError: The file of word vectors cannot be read, or its first line is bad.
    """
    options = {"dim": config.dim, "seed": config.seed, **asdict(config.encoder_options)}
    if num_words is not None:
        options["num_words"] = num_words
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


def encoder_for(config: RunConfig, vectorizer: keras.layers.Layer) -> keras.layers.Layer:
    """Builds the encoder that the settings ask for, for the ids of a vectorizer."""
    has_parts = isinstance(vectorizer, WordVectorizer) and vectorizer.ngrams is not None
    num_words = vectorizer.num_words if has_parts else None
    return make_encoder(config, vectorizer.num_rows, num_words=num_words)


def make_vectorizer(
    config: RunConfig,
    texts: Iterable[str],
    mistyped: Iterable[str] = (),
    *,
    lowercase: bool = True,
) -> keras.layers.Layer:
    """Builds the vectorizer of the encoder.

    It knows the words of `dictionary`. If the model of `init` has a dictionary, it also knows those
    words of the texts that this model would read as others; see `own_words`.

    Args:
        config: Settings of the run.
        texts: What it is built from, read once; with `hash_buckets` only if their words are
            counted.
        mistyped: Texts with typing errors that were added: they have n-grams, but no words.
        lowercase: Whether it lower-cases texts.

    Raises:
        ConfigError: The texts have no unit to give a row to, or the dictionary has no words.
        DataError: The file of word vectors or of the dictionary cannot be read, or a line is bad.
        RunError: The model of `init` is missing or damaged.
    """
    if vectorizer_of(config.encoder) == "words":  # A mistyped word is an unknown one.
        mistyped = ()
    words_of = partial(normalized_words, unicode_form=config.unicode_form)
    dictionary = _dictionary(config.dictionary, words_of)
    known = _known_before(config, lowercase)
    if known is None:
        vectorizer = _vectorizer(config, chain(texts, mistyped), lowercase)
    else:
        words = WordCounts(words_of)
        counted = words.of(texts)
        vectorizer = _vectorizer(config, chain(counted, mistyped), lowercase)
        deque(counted, maxlen=0)  # Where n-grams were not to be counted.
        own = words.own_words(known)
        dictionary = own if dictionary is None else dictionary.merged(own)
    if dictionary is None:
        return vectorizer
    return vectorizer.with_parts(vectorizer.vocabulary, dictionary)


def _known_before(config: RunConfig, lowercase: bool) -> Dictionary | None:
    """Returns the dictionary of the model of `init`; `None` if it has none, or it does not fit."""
    if config.init is None or not lowercase or vectorizer_of(config.encoder) != "ngrams":
        return None
    return read_dictionary(config.init)


def _dictionary(paths: Sequence[str], words_of: WordsOf) -> Dictionary | None:
    """Reads the words of files, which must be letters alone; `None` if there are no files."""
    if not paths:
        return None
    entries = sum((read_word_counts(path, words_of, MIN_COUNT) for path in paths), Counter())
    return Dictionary(counts_of_entries(entries, words_of))


def _vectorizer(config: RunConfig, texts: Iterable[str], lowercase: bool) -> Any:
    """Builds the vectorizer without a dictionary; arguments and errors as for `make_vectorizer`."""
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
    if kind == "words" and config.unknown_words == "ngrams":
        options |= {"ngram_orders": config.ngrams}
    return vectorizer_class(kind).from_texts(texts, **options)
