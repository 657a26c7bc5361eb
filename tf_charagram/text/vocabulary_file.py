"""A counted n-gram vocabulary as a file, from which vectorizers are made."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tf_charagram.errors import RunError
from tf_charagram.files.arrays import read_arrays
from tf_charagram.files.json_files import parse_json
from tf_charagram.files.writing import whole_file
from tf_charagram.text.assets import DAMAGES
from tf_charagram.text.vectorizer import NgramVectorizer

#: The array of the settings, as UTF-8 of JSON.
_SETTINGS = "settings"
_NAMES = ("lowercase", "unicode_form", "max_chars")


def save_vocabulary(path: str | Path, vectorizer: NgramVectorizer) -> None:
    """Writes the vocabulary of a vectorizer, and how it reads texts, into an `.npz` file.

    Raises:
        RunError: It cannot be written.
    """
    settings = {name: vectorizer.settings()[name] for name in _NAMES}
    encoded = np.frombuffer(json.dumps(settings).encode(), np.uint8)
    with whole_file(path) as file:
        np.savez(file, **{**vectorizer.state(), _SETTINGS: encoded})  # type: ignore[arg-type]


def load_vocabulary(path: str | Path) -> NgramVectorizer:
    """Returns a vectorizer with the vocabulary that a file holds.

    Args:
        path: File that `save_vocabulary` or `charagram vocabulary` wrote.

    Raises:
        RunError: The file is missing, damaged, or holds something else.
    """
    path = Path(path)
    if not path.is_file():
        raise RunError(f"{path}: no such file. Count one with charagram vocabulary --out {path}")
    try:
        arrays = read_arrays(path, "iu")
        settings = parse_json(arrays.pop(_SETTINGS).tobytes())
        return NgramVectorizer.from_state({name: settings[name] for name in _NAMES}, arrays)
    except DAMAGES as problem:
        raise RunError(
            f"{path} is damaged or no vocabulary: {problem!r}. Count it again with charagram "
            "vocabulary, or copy it again."
        ) from problem
