"""Word vectors in a file of any known format; its first bytes tell which."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.readers.gensim_vectors import is_pickle, scan_gensim_vectors
from tf_charagram.data.readers.lines import open_bytes
from tf_charagram.data.readers.word2vec_binary import is_word2vec_binary, scan_word2vec_binary
from tf_charagram.data.readers.word_vectors import scan_word_vectors
from tf_charagram.errors import DataError

_NUM_PROBED = 1000


def first_bytes(path: str | Path) -> bytes:
    """Returns the first bytes of a file, decompressed.

    Raises:
        DataError: It cannot be read.
    """
    try:
        with open_bytes(path) as stream:
            return stream.read(_NUM_PROBED)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(path, f"cannot be read: {error}. Check the path.") from error


def scan_vectors(
    path: str | Path, words: Collection[str] | None = None, *, on_bad_line: str | BadLines = "error"
) -> Iterator[tuple[str, np.ndarray | None]]:
    """Streams all words of a file, in its order, with the vectors of some.

    Args:
        path: Text or binary of word2vec, text of GloVe, each plain or gzip; or what gensim's
            `KeyedVectors.save` wrote.
        words: Those whose vectors are wanted. Defaults to all.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards; of
            text only.

    Yields:
        A word and its vector, float32 `(dim,)`; `None` where it is not wanted.

    Raises:
        DataError: The file cannot be read, or is damaged.
    """
    start = first_bytes(path)
    if is_pickle(start):
        return scan_gensim_vectors(path, words)
    if is_word2vec_binary(start):
        return scan_word2vec_binary(path, words)
    return scan_word_vectors(path, words, on_bad_line=on_bad_line)
