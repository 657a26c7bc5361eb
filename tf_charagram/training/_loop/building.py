"""Vectorizer and encoder of a run: built from its settings, with the weights they start from."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.data._tables.lines import BadLines
from tf_charagram.data.readers.words import (
    WordsOf,
    load_word_vectors,
    read_word_counts,
    word_vectors_dim,
)
from tf_charagram.encoders import encoder_class, vectorizer_of
from tf_charagram.errors import ConfigError
from tf_charagram.layers.embedding_table import embedding_tables
from tf_charagram.models._storage.own_words import MIN_COUNT, WordCounts
from tf_charagram.models._storage.stored_model import read_dictionary
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text import vectorizer_class
from tf_charagram.text._algorithm.word_boundaries import normalized_words
from tf_charagram.text._spelling.dictionary import Dictionary, counts_of_entries
from tf_charagram.text._spelling.kept_words import kept_words
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.training.settings import RunConfig

logger = logging.getLogger(__name__)

#: Names of the vector of all unknown words in files of GloVe, word2vec and PARAGRAM.
UNKNOWN_NAMES = ("<unk>", "UNK", "UUUNKKK")
# Small, so that texts nearly keep their embeddings; not 0, or texts of new n-grams only would have
# no direction.
_SCALE_OF_NEW_NGRAMS = 0.1


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
            `freeze` leaves nothing to train.
        DataError: The file of word vectors cannot be read, or its first line is bad.
    """
    options = {"dim": config.dim, "seed": config.seed, **asdict(config.encoder_options)}
    width = None if config.word_vectors is None else _pretrained_width(config)
    if width is not None:
        field = "input_dim" if "input_dim" in options else "dim"
        if options.get(field) is None:
            options[field] = width
        _check_width(str(config.word_vectors), width, options[field], field)
    encoder = encoder_class(config.encoder)(num_rows=num_rows, **options)
    if config.freeze == "words":
        encoder.table.trainable = False
    if not encoder.trainable_variables:
        raise ConfigError(
            f"`freeze` words leaves the encoder '{config.encoder}' nothing to train. Leave it out, "
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
    dictionary, the words of the texts that this model would misread.

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
        own = kept_words(words.own_words(known))
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
    entries: Counter[str] = Counter()
    for path in paths:
        entries += read_word_counts(path, words_of, MIN_COUNT)
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


def load_pretrained(
    config: RunConfig,
    vectorizer: keras.layers.Layer,
    encoder: keras.layers.Layer,
    bad_lines: BadLines,
) -> int:
    """Assigns the vectors of `config.word_vectors` to the words of an encoder.

    Words that the file lacks keep their random vector. Unknown words get the vector of the first of
    `UNKNOWN_NAMES` in the file, or else the mean of the vectors found.

    Args:
        config: Settings of the run.
        vectorizer: The `WordVectorizer`, which maps words to rows.
        encoder: A word encoder over its ids; not compiled yet, so that `l2_words` pulls to these
            vectors.
        bad_lines: Handles bad lines.

    Returns:
        The number of words found.

    Raises:
        ConfigError: Vectors and encoder differ in width.
        DataError: The file cannot be read, or a line is bad.
    """
    path = str(config.word_vectors)
    words = vectorizer.words
    num_words = len(words)
    known_words = set(words)
    # The names of unknown words, unless a text has such a word.
    unknown_names = [name for name in UNKNOWN_NAMES if name not in known_words]
    matrix, is_known = load_word_vectors(path, [*words, *unknown_names], on_bad_line=bad_lines)
    table = encoder.word_table.numpy()
    _check_width(path, matrix.shape[1], table.shape[1])
    found = is_known[:num_words]
    vectors = matrix[:num_words]
    # Row 0 is for unknown words; the rows after the words are n-grams.
    table[1 : 1 + num_words][found] = vectors[found]
    found_names = np.flatnonzero(is_known[num_words:])
    if len(found_names):
        table[0] = matrix[num_words + found_names[0]]
    elif found.any():
        table[0] = vectors[found].mean(axis=0)
    encoder.word_table.assign(table)
    number = int(found.sum())
    logger.info("%s has vectors for %d of %d words", path, number, len(words))
    if not number:
        logger.warning(
            "%s has vectors for none of the %d words. The words of the file must be in lower case.",
            path,
            len(words),
        )
    return number


def _pretrained_width(config: RunConfig) -> int | None:
    """Returns the width of the vectors in `config.word_vectors`; `None` without a file.

    Raises:
        ConfigError: Standard input is to be read.
        DataError: The file cannot be read, or its first line is bad.
    """
    if config.word_vectors is None:
        return None
    if config.word_vectors == "-":
        raise ConfigError("`word_vectors` must be a file: it is read more than once. Received: -")
    return word_vectors_dim(config.word_vectors, on_bad_line=config.on_bad_line)


def _check_width(path: str, width: int, own: int, field: str = "dim") -> None:
    """Raises a `ConfigError` if the vectors of a file and of an encoder differ in width."""
    if width != own:
        raise ConfigError(
            f"The vectors in {path} have {width} numbers each, those of the encoder {own}. "
            f"Give --{field.replace('_', '-')} {width}, or another file."
        )


def grow_from(
    path: str | Path,
    vectorizer: keras.layers.Layer,
    make_encoder: Callable[[keras.layers.Layer], keras.layers.Layer],
) -> tuple[keras.layers.Layer, keras.layers.Layer]:
    """Returns the vectorizer and the encoder of a saved model, grown by the units of new texts.

    This is the cumulative training of CSE (section 5.1): first on phrases, then on sentences.

    Known units keep their vectors, and texts of known units their embeddings. New words and
    characters keep their random vectors, new n-grams a tenth of theirs, because most texts have a
    few of them among known ones that already determine the embedding.

    Args:
        path: Run or model folder.
        vectorizer: A vectorizer made from the new texts.
        make_encoder: Returns a new encoder for a vectorizer.

    Raises:
        RunError: The folder holds no model, or a damaged one.
        ConfigError: The model reads texts in another way.
    """
    old = TextEmbedder.load(path)
    grown, rows = old.vectorizer.grown(vectorizer)
    encoder = make_encoder(grown)
    if isinstance(grown, NgramVectorizer):
        new_rows = np.setdiff1d(np.arange(grown.num_rows), rows)
        _scale_rows(encoder, new_rows, _SCALE_OF_NEW_NGRAMS)
    _transfer(old.encoder, encoder, rows)
    return grown, encoder


def _transfer(old: keras.layers.Layer, new: keras.layers.Layer, rows: np.ndarray) -> None:
    """Copies the weights of an encoder to another with the same settings and more units.

    Args:
        old: The encoder to read.
        new: The encoder to change; rows of new units stay as they are.
        rows: Row in the new tables of each row of the old tables, int64 `(old.num_rows,)`.
    """
    tables = {table.path for table in embedding_tables(new)}
    sources = {weight.path: weight for weight in old.weights}
    for weight in new.weights:
        source = sources[weight.path].value
        if weight.path in tables:
            # In place, because a table may take most of the memory.
            weight.value.scatter_update(tf.IndexedSlices(source, tf.constant(rows)))
        else:
            weight.assign(source)


def _scale_rows(encoder: keras.layers.Layer, rows: np.ndarray, scale: float) -> None:
    for table in embedding_tables(encoder):
        table.value.scatter_mul(tf.IndexedSlices(tf.constant(scale), tf.constant(rows)))
