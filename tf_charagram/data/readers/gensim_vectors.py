"""Word vectors as gensim saves them (`KeyedVectors.save`), read without gensim.

Such a file is a pickle, and a pickle may run any code when it is loaded. Here it may name nothing
but NumPy's arrays and the classes of gensim that hold vectors, and all of them are replaced: by
classes that keep attributes and do nothing, and by arrays made of no more bytes than the file has.
A file that names anything else is refused, unread.
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
_NUMBERS = "fiub"


class _Attributes:
    """Stands for an object of gensim: its attributes, and none of its code."""


class _Type:
    """Stands for a `numpy.dtype`, whose own state could make it one of objects."""

    def __init__(self, name: str, *_: Any) -> None:
        self.dtype = np.dtype(name)
        if self.dtype.kind not in _NUMBERS:
            raise _ForbiddenNameError(f"arrays of the type {name}")

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.dtype = self.dtype.newbyteorder(state[1])


class _Array:
    """Stands for a `numpy.ndarray`, which would take the memory that its shape announces."""

    def __init__(self, *_: Any) -> None:
        self.array = np.zeros(0)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, kind, is_fortran, data = state
        self.array = _array(data, kind, shape, "F" if is_fortran else "C").array

    @classmethod
    def of(cls, array: np.ndarray) -> _Array:
        """Returns what stands for an array."""
        stands = cls()
        stands.array = array
        return stands


def _array(data: bytes, kind: _Type, shape: tuple[int, ...], order: Any) -> _Array:
    """Stands for what NumPy rebuilds an array of protocol 5 by."""
    return _Array.of(np.frombuffer(data, kind.dtype).reshape(shape, order=order))


def _scalar(kind: _Type, data: bytes) -> Any:
    """Stands for what NumPy rebuilds a number by."""
    return np.frombuffer(data, kind.dtype)[0]


def _latin1(text: str, encoding: str) -> bytes:
    """Stands for `_codecs.encode`, by which pickles of protocol 2 hold bytes."""
    return text.encode("latin-1")


class _ForbiddenNameError(Exception):
    """A pickle names something that vectors do not need."""


# That of Python, because the memory of the one in C follows a number in the file.
class _Unpickler(pickle._Unpickler):
    def __init__(self, file: Any) -> None:
        super().__init__(file)
        # A pickle may change the classes that it names, so each has its own.
        self._attributes = type("_OwnAttributes", (_Attributes,), {})
        array = type("_OwnArray", (_Array,), {})
        self._numpy = {
            "_reconstruct": array,
            "_frombuffer": lambda *state: _array(*state),
            "scalar": lambda *state: _scalar(*state),
            "ndarray": array,
            "dtype": type("_OwnType", (_Type,), {}),
        }

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("gensim.models.") and name in _GENSIM_CLASSES:
            return self._attributes
        # Old and new versions of NumPy give different modules.
        if module.partition(".")[0] == "numpy" and name in self._numpy:
            return self._numpy[name]
        if (module, name) == ("_codecs", "encode"):
            return lambda *arguments: _latin1(*arguments)
        raise _ForbiddenNameError(f"{module}.{name}")


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
    vectors: Any = attributes.get("vectors")
    if vectors is None:
        vectors = _array_beside(path, attributes)
    elif isinstance(vectors, _Array):
        vectors = vectors.array
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DataError(path, f"expected a list of words in it, found none. {_REMEDY}")
    if np.ndim(vectors) != 2 or vectors.dtype.kind != "f" or len(vectors) != len(names):
        raise DataError(
            path,
            f"expected a vector for each of its {len(names):,} words, found an array "
            f"{np.shape(vectors)}. Get the files again.",
        )
    for name, row in zip(names, vectors, strict=True):
        vector = None
        if words is None or name in words:
            with np.errstate(over="ignore"):
                vector = np.array(row, np.float32)
            if not np.isfinite(vector).all():
                raise DataError(path, f"the vector of '{name}' is not finite")
        yield name, vector


def _unpickled(path: Path) -> _Attributes:
    try:
        with open(path, "rb") as file:
            loaded = _Unpickler(file).load()
    except _ForbiddenNameError as error:
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
    except Exception as error:  # A damaged header may raise anything.
        raise DataError(beside, f"the vectors of {path.name} cannot be read: {error}") from error
