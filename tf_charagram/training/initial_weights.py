"""Weights that an encoder starts from: pretrained word vectors, or those of a saved model."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from tf_charagram.data.readers.lines import BadLines
from tf_charagram.data.readers.words import load_word_vectors, word_vectors_dim
from tf_charagram.errors import ConfigError
from tf_charagram.layers.embedding_table import embedding_tables
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.words import UNKNOWN, WordVectorizer
from tf_charagram.training.settings import RunConfig

logger = logging.getLogger(__name__)

#: Names of the vector of all unknown words in files of GloVe, word2vec and PARAGRAM.
UNKNOWN_NAMES = ("<unk>", "UNK", "UUUNKKK")
# Small, so that texts nearly keep their embeddings; not 0, or texts of new n-grams only would have
# no direction.
_SCALE_OF_NEW_NGRAMS = 0.1


def load_pretrained(
    config: RunConfig,
    vectorizer: WordVectorizer,
    encoder: keras.layers.Layer,
    bad_lines: BadLines | None = None,
) -> int | None:
    """Assigns the vectors of `config.word_vectors` to the words of an encoder.

    Words that the file lacks keep their random vector. Unknown words get the vector of the first of
    `UNKNOWN_NAMES` in the file, or else the mean of the vectors found.

    Args:
        config: Settings of the run.
        vectorizer: The vectorizer, which maps words to rows.
        encoder: A word encoder over its ids; not compiled yet, so that `l2_words` pulls to these
            vectors.
        bad_lines: Handles bad lines. Default: as `config.on_bad_line`.

    Returns:
        The number of words found; `None` without a file.

    Raises:
        ConfigError: The width of the vectors is not that of the encoder.
        DataError: The file cannot be read, or a line is bad.
    """
    path = config.word_vectors
    if path is None:
        return None
    words = vectorizer.words
    names = sorted({*UNKNOWN_NAMES}.difference(words), key=UNKNOWN_NAMES.index)
    loaded = load_word_vectors(path, [*words, *names], on_bad_line=bad_lines or config.on_bad_line)
    table = encoder.word_table.numpy()
    check_width(path, loaded.matrix.shape[1], table.shape[1])
    found, vectors = loaded.is_known[: len(words)], loaded.matrix[: len(words)]
    # Row 0 is that of unknown words; the rows after the words are n-grams.
    table[1 : 1 + len(words)][found] = vectors[found]
    if loaded.is_known[len(words) :].any():
        table[UNKNOWN] = loaded.matrix[len(words) + loaded.is_known[len(words) :].argmax()]
    elif found.any():
        table[UNKNOWN] = vectors[found].mean(axis=0)
    encoder.word_table.assign(table)
    number = int(found.sum())
    logger.info("%s has vectors for %d of %d words", path, number, len(words))
    if not number:
        logger.warning(
            "%s has vectors for none of the %d words. The words of the file must be in lower case.",
            path, len(words),
        )  # fmt: skip
    return number


def pretrained_width(config: RunConfig) -> int | None:
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


def check_width(path: str, width: int, own: int, field: str = "dim") -> None:
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
        ConfigError: The model reads texts in another way, or its encoder has other weights.
    """
    old = TextEmbedder.load(path)
    grown, rows = old.vectorizer.grown(vectorizer)
    encoder = make_encoder(grown)
    if isinstance(grown, NgramVectorizer):
        _scale_rows(encoder, np.setdiff1d(np.arange(grown.num_rows), rows), _SCALE_OF_NEW_NGRAMS)
    transfer(old.encoder, encoder, rows)
    return grown, encoder


def transfer(old: keras.layers.Layer, new: keras.layers.Layer, rows: np.ndarray) -> None:
    """Copies the weights of an encoder to another with the same settings and more units.

    Args:
        old: The encoder to read.
        new: The encoder to change; rows of new units stay as they are.
        rows: Row in the new tables of each row of the old ones, int64 `(old.num_rows,)`.

    Raises:
        ConfigError: The two do not have the same weights.
    """
    old_tables, new_tables = (
        {table.path for table in embedding_tables(encoder)} for encoder in (old, new)
    )
    shapes, new_shapes = _shapes(old, old_tables), _shapes(new, new_tables)
    if shapes != new_shapes or (old.num_rows,) != rows.shape:
        raise ConfigError(
            "Both encoders must have the same weights, and `rows` one row for each of "
            f"{old.num_rows}. Received: {shapes}, {new_shapes}, rows of shape {rows.shape}"
        )
    sources = {weight.path: weight for weight in old.weights}
    for weight in new.weights:
        source = sources[weight.path].value
        if weight.path in new_tables:
            # In place, because a table may take most of the memory.
            source = tf.cast(source, weight.dtype)
            weight.value.scatter_update(tf.IndexedSlices(source, tf.constant(rows)))
        else:
            weight.assign(source)


def _scale_rows(encoder: keras.layers.Layer, rows: np.ndarray, scale: float) -> None:
    for table in embedding_tables(encoder):
        table.value.scatter_mul(tf.IndexedSlices(tf.cast(scale, table.dtype), tf.constant(rows)))


def _shapes(encoder: keras.layers.Layer, tables: set[str]) -> dict[str, tuple[int | None, ...]]:
    """Returns path -> shape of the weights, without the number of rows of tables."""
    return {
        weight.path: (None, *weight.shape[1:]) if weight.path in tables else tuple(weight.shape)
        for weight in encoder.weights
    }
