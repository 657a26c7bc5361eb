"""Word vectors in any format: text, binary word2vec, gensim's own, and fastText models."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tf_charagram._common.lazy import extra_module
from tf_charagram.data._tables.lines import BadLines, open_bytes
from tf_charagram.data.readers.words import scan_word_vectors
from tf_charagram.errors import DataError

_FASTTEXT_MAGIC = (793712314).to_bytes(4, "little")
_PICKLE_START = b"\x80"
_BINARY = re.compile(r"\.bin(\.gz)?$")


def scan_vectors(
    path: str | Path, words: Collection[str] | None = None, *, on_bad_line: str | BadLines = "error"
) -> Iterator[tuple[str, np.ndarray | None]]:
    """Streams all words of a file, in its order, with the vectors of some.

    Files other than text are read with gensim. `KeyedVectors.load` unpickles: load only files that
    you trust.

    Args:
        path: Text of word2vec or GloVe; word2vec's binary form, if the name ends in `.bin` or
            `.bin.gz`; or the output of gensim's `KeyedVectors.save`.
        words: The words to return vectors of. Defaults to all.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines`; for text only.

    Yields:
        A word and its vector, float32 `(dim,)`, or `None` for words not in `words`.

    Raises:
        ConfigError: gensim is needed and not installed.
        DataError: The file cannot be read, or is damaged.
    """
    is_pickle = first_bytes(path).startswith(_PICKLE_START)
    if not is_pickle and not _BINARY.search(str(path)):
        scanned = scan_word_vectors(path, words, on_bad_line=on_bad_line)
        yield from ((word, vector) for word, _, vector in scanned)
        return
    keyed_vectors = extra_module("gensim.models", "bench").KeyedVectors
    try:
        if is_pickle:
            loaded = keyed_vectors.load(str(path))
        else:
            loaded = keyed_vectors.load_word2vec_format(str(path), binary=True)
    except Exception as error:  # A damaged file may raise anything.
        raise DataError(path, f"cannot be read as word vectors: {error!r}") from error
    for word, vector in zip(loaded.index_to_key, loaded.vectors, strict=True):
        is_wanted = words is None or word in words
        yield word, np.asarray(vector, np.float32) if is_wanted else None


def first_bytes(path: str | Path) -> bytes:
    """Returns the first bytes of a file, decompressed.

    Raises:
        DataError: It cannot be read.
    """
    try:
        with open_bytes(path) as stream:
            return stream.read(16)
    except (OSError, EOFError) as error:
        raise DataError(path, f"cannot be read: {error}. Check the path.") from error


def is_fasttext_model(path: str | Path) -> bool:
    """Returns whether a file is a model of fastText."""
    return first_bytes(path).startswith(_FASTTEXT_MAGIC)


def load_fasttext(path: str | Path) -> Any:
    """Loads a model of fastText.

    Raises:
        ConfigError: fastText is not installed.
        DataError: The file cannot be read.
    """
    fasttext = extra_module("fasttext", "bench")
    try:
        return fasttext.load_model(str(path))
    except ValueError as error:
        raise DataError(path, f"cannot be read as a model of fastText: {error}") from error
