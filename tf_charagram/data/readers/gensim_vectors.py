"""Word vectors as gensim saves them (`KeyedVectors.save`), read without gensim.

Such a file is a pickle, and a pickle may run any code when it is loaded. Here it may name nothing
but NumPy's arrays and the classes of gensim that hold vectors, which are replaced by one that keeps
attributes and does nothing. A file that names anything else is refused, unread.
"""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tf_charagram.errors import DataError

_REMEDY = (
    "Where you trust it, convert it: KeyedVectors.load(FILE).save_word2vec_format('vectors.txt')."
)
_GENSIM_CLASSES = frozenset(
    {"KeyedVectors", "Word2VecKeyedVectors", "WordEmbeddingsKeyedVectors", "EuclideanKeyedVectors",
     "Vocab", "CompatVocab"}
)  # fmt: skip
_PROBE = np.zeros(1, np.float32)
#: What NumPy's arrays and numbers are rebuilt by, under the name that old and new versions give.
_NUMPY = {
    "_reconstruct": _PROBE.__reduce__()[0],
    "_frombuffer": _PROBE.__reduce_ex__(5)[0],
    "scalar": np.float32(0).__reduce__()[0],
    "ndarray": np.ndarray,
    "dtype": np.dtype,
}


def _latin1(text: str, encoding: str) -> bytes:
    """Stands for `_codecs.encode`, by which pickles of protocol 2 hold bytes."""
    return text.encode("latin-1")


class _Attributes:
    """Stands for an object of gensim: its attributes, and none of its code."""


class _ForbiddenName(Exception):
    """A pickle names something that vectors do not need."""


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("gensim.models.") and name in _GENSIM_CLASSES:
            return _Attributes
        if module.partition(".")[0] == "numpy" and name in _NUMPY:
            return _NUMPY[name]
        if (module, name) == ("_codecs", "encode"):
            return _latin1
        raise _ForbiddenName(f"{module}.{name}")


def is_pickle(start: bytes) -> bool:
    """Returns whether the first bytes of a file are those of a pickle of protocol 2 or later."""
    return len(start) > 1 and start[0] == 0x80 and 2 <= start[1] <= pickle.HIGHEST_PROTOCOL


def scan_gensim_vectors(
    path: str | Path, words: Collection[str] | None = None
) -> Iterator[tuple[str, np.ndarray | None]]:
    """Streams all words of a file that `KeyedVectors.save` wrote, with the vectors of some.

    Args:
        path: The file. Large arrays are in files beside it, such as `FILE.vectors.npy`.
        words: Those whose vectors are wanted. Defaults to all.

    Yields:
        A word and its vector, float32 `(dim,)`; `None` where it is not wanted.

    Raises:
        DataError: A file is missing or damaged, holds other objects, or names code to run.
    """
    path = Path(path)
    attributes = vars(_unpickled(path))
    names = attributes.get("index_to_key", attributes.get("index2word"))
    vectors = attributes.get("vectors")
    if vectors is None:
        vectors = _array_beside(path, attributes)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DataError(path, f"expected a list of words in it, found none. {_REMEDY}")
    if np.ndim(vectors) != 2 or vectors.dtype.kind != "f" or len(vectors) != len(names):
        raise DataError(
            path,
            f"expected a vector for each of its {len(names):,} words, found an array "
            f"{np.shape(vectors)}. Get the files again.",
        )
    for name, vector in zip(names, vectors, strict=True):
        wanted = words is None or name in words
        yield name, np.array(vector, np.float32) if wanted else None


def _unpickled(path: Path) -> _Attributes:
    try:
        with open(path, "rb") as file:
            loaded = _Unpickler(file).load()
    except _ForbiddenName as error:
        raise DataError(
            path, f"is a pickle that names {error}, which word vectors do not need. {_REMEDY}"
        ) from error
    except Exception as error:  # A damaged pickle may raise anything.
        raise DataError(path, f"cannot be read as KeyedVectors of gensim: {error!r}") from error
    if not isinstance(loaded, _Attributes):
        kind = type(loaded).__name__
        raise DataError(path, f"holds an object of the type {kind}, no KeyedVectors. {_REMEDY}")
    return loaded


def _array_beside(path: Path, attributes: dict[str, Any]) -> Any:
    """Returns the vectors that were too large for the file itself."""
    beside = path.with_name(f"{path.name}.vectors.npy")
    if "vectors" not in attributes.get("__numpys", ()):
        raise DataError(path, f"has no vectors in it. {_REMEDY}")
    try:
        return np.load(beside, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(beside, f"the vectors of {path.name} cannot be read: {error}") from error
