"""Files of word vectors in the formats they come in."""

from __future__ import annotations

import gzip
import pickle
import sys
from types import ModuleType

import numpy as np

WORDS = ["the", "cat", "Ann", "dog"]
VECTORS = np.array([[1, 0.25, 0], [0, 1, -0.5], [0.5, 0, 3], [-1, 2, 0.125]], np.float32)


def text():
    lines = (" ".join([word, *map(str, row)]) for word, row in zip(WORDS, VECTORS, strict=True))
    return "\n".join(["4 3", *lines, ""]).encode()


def binary(words=WORDS, vectors=VECTORS, end=b"\n"):
    rows = (w.encode() + b" " + v.tobytes() + end for w, v in zip(words, vectors, strict=True))
    return f"{len(words)} {vectors.shape[1]}\n".encode() + b"".join(rows)


def gensim(protocol=4, **attributes):
    """Returns a pickle as `KeyedVectors.save` writes it, made without gensim."""
    name = "gensim.models.keyedvectors"
    module, keyed_vectors = ModuleType(name), type("KeyedVectors", (), {"__module__": name})
    module.KeyedVectors = keyed_vectors
    names = ("gensim", "gensim.models", name)
    before = {key: sys.modules.get(key) for key in names}
    sys.modules.update(dict.fromkeys(names, module))
    try:
        instance = keyed_vectors()
        instance.__dict__.update(
            {"vectors": VECTORS, "index_to_key": WORDS, "__numpys": [], **attributes}
        )
        return pickle.dumps(instance, protocol)
    finally:
        for key, value in before.items():
            sys.modules.pop(key) if value is None else sys.modules.update({key: value})


FORMATS = {
    "text": text,
    "text.gz": lambda: gzip.compress(text()),
    "binary": binary,
    "binary of gensim": lambda: binary(end=b""),
    "binary.gz": lambda: gzip.compress(binary()),
    "kv": gensim,
    "kv, protocol 2": lambda: gensim(protocol=2),
    "kv, protocol 5": lambda: gensim(protocol=5),
}
