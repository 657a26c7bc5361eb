"""Word vectors trained elsewhere, from which a word encoder starts."""

from __future__ import annotations

import logging

import keras

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.readers.word_vectors import load_word_vectors, word_vectors_dim
from tf_charagram.errors import ConfigError
from tf_charagram.text.words import UNKNOWN, WordVectorizer
from tf_charagram.training.settings import RunConfig

logger = logging.getLogger(__name__)

#: Names that files give the vector of all unknown words: GloVe, word2vec, PARAGRAM.
UNKNOWN_NAMES = ("<unk>", "UNK", "UUUNKKK")
_CHUNK_WORDS = 10_000
_CHUNK_CHARS = 1_000_000


def load_pretrained(
    config: RunConfig,
    vectorizer: WordVectorizer,
    encoder: keras.layers.Layer,
    bad_lines: BadLines | None = None,
) -> int | None:
    """Sets the word vectors of an encoder to those of `config.word_vectors`.

    Words that the file lacks keep their random vector. Unknown words get the vector of the first of
    `UNKNOWN_NAMES` that the file has, otherwise the mean of the vectors of the words found.

    Args:
        config: Settings of the run.
        vectorizer: Gives the words their rows.
        encoder: A word encoder over its ids; not compiled yet, so that `l2_words` pulls to these
            vectors.
        bad_lines: What to do about bad lines, and their count. Default: as `config` says.

    Returns:
        How many of the words the file has; `None` if no file is asked for.

    Raises:
        ConfigError: The vectors have another width than the encoder's.
        DataError: The file cannot be read, or a line is bad.
    """
    path = config.word_vectors
    if path is None:
        return None
    words = vectorizer.words
    names = sorted({*UNKNOWN_NAMES}.difference(words), key=UNKNOWN_NAMES.index)
    loaded = load_word_vectors(path, [*words, *names], on_bad_line=bad_lines or config.on_bad_line)
    table = encoder.word_table.numpy()
    check_width(path, loaded.dim, table.shape[1])
    found, vectors = loaded.is_known[: len(words)], loaded.matrix[: len(words)]
    # Row 0 is that of unknown words; the rows after the words are not of words.
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
    """Returns the width of the vectors in `config.word_vectors`; `None` if there is no such file.

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
    """Raises a `ConfigError` where vectors in a file are not as wide as those of an encoder."""
    if width != own:
        raise ConfigError(
            f"The vectors in {path} have {width} numbers each, those of the encoder {own}. "
            f"Give --{field.replace('_', '-')} {width}, or another file."
        )
