"""Reads model folders, and checks them; Keras layers and the NumPy reader are made from this."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tf_charagram._files.arrays import ArrayFile, fingerprint, open_arrays, read_arrays
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.models._storage.locations import (
    ARRAYS,
    EMBEDDER,
    FILES,
    model_folder,
    read_config,
)
from tf_charagram.text._spelling.dictionary import Dictionary, without_dictionary
from tf_charagram.text._spelling.kept_words import kept_words

#: The encoder that sums n-grams.
NGRAM_ENCODER = "charagram"
_DAMAGES = (KeyError, OSError, TypeError, ValueError, OverflowError)


class _Vocabulary(NamedTuple):
    """What a vectorizer knows, which nobody changes.

    Attributes:
        arrays: Its arrays, without those of the dictionary.
        dictionary: Its dictionary, or `None`.
    """

    arrays: dict[str, np.ndarray]
    dictionary: Dictionary | None


def _read_vocabulary(path: Path) -> _Vocabulary:
    """Reads the file of a vectorizer.

    Raises:
        OSError: It cannot be read.
        KeyError: An array is missing.
        ValueError: It is damaged.
    """
    status = path.stat()
    return _vocabulary_of(path.absolute(), status.st_ino, status.st_size, status.st_mtime_ns)


# A program may load a model for each list that it matches, and its words take half of that time.
@lru_cache(maxsize=2)
def _vocabulary_of(path: Path, *_status: int) -> _Vocabulary:
    arrays = read_arrays(path, "iu")
    dictionary = Dictionary.from_arrays(arrays)
    own = without_dictionary(arrays)
    for array in own.values():
        array.flags.writeable = False
    return _Vocabulary(own, dictionary)


class StoredModel:
    """The contents of a model folder.

    Args:
        config: Its settings.
        vocabulary: The arrays and the dictionary of the vectorizer.
        weights: The arrays of encoder and head, while the file is open.
        correct_spelling: Whether to use the dictionary, if any.
        kept: Words to add to the dictionary.
        word_counts: How often words occur in texts by which words are weighed.

    Attributes:
        config: Its settings.
        state: The arrays of the vectorizer, without those of the dictionary.
        weights: The arrays of encoder and head.
    """

    def __init__(
        self,
        config: dict[str, Any],
        vocabulary: _Vocabulary,
        weights: ArrayFile,
        correct_spelling: bool,
        kept: Dictionary | None,
        word_counts: Mapping[str, int] | None,
    ) -> None:
        self.config = config
        self.state = vocabulary.arrays
        self.weights = weights
        self._own = vocabulary.dictionary if correct_spelling else None
        self._kept = kept
        self._word_counts = word_counts

    @cached_property
    def dictionary(self) -> Dictionary | None:
        """The words of the model and the kept words; `None` for a model that corrects no words."""
        if self._own is None:
            return None
        dictionary = self._own.merged(self._kept)
        return dictionary.weighed_by(self._word_counts) if self._word_counts else dictionary


@contextmanager
def stored_model(
    path: str | Path,
    kind: str | None = EMBEDDER,
    *,
    correct_spelling: bool = True,
    keep_words: str | Path | Iterable[str] | None = None,
    word_counts: Mapping[str, int] | None = None,
    damages: tuple[type[Exception], ...] = (),
) -> Iterator[StoredModel]:
    """Opens a model folder; what fails while it is open says that the folder is damaged.

    Args:
        path: Model folder, run folder, or name of a shipped model.
        kind: The expected kind; `None` for any.
        correct_spelling: Whether to use its dictionary, if any.
        keep_words: Correctly spelled words, or a file of them.
        word_counts: How often words occur in texts by which words are weighed.
        damages: Further exceptions that a damaged folder causes.

    Raises:
        ConfigError: `keep_words` is neither a path nor a list of texts, or `word_counts` does not
            map words to counts.
        RunError: The folder is not a model of this kind, is damaged, or was written by a newer
            version; or the file of words cannot be read.
    """
    config = read_config(path)
    actual = config.get("kind", EMBEDDER)
    if kind not in (None, actual):
        raise RunError(f"{path} contains a model of the kind '{actual}'. Expected: '{kind}'.")
    kept = kept_words(keep_words)
    _check_counts(word_counts)
    folder = model_folder(path)
    vocabulary = folder / FILES.vocabulary
    table = folder / FILES.weights
    with _damage(folder, damages):
        known = _read_vocabulary(vocabulary)
        with open_arrays(table) as weights:
            yield StoredModel(config, known, weights, correct_spelling, kept, word_counts)
        if config[ARRAYS] != fingerprint(vocabulary, table):
            raise ValueError("its files belong to different models")


def _check_counts(word_counts: Any) -> None:
    """Raises a `ConfigError` for anything but a mapping of words to counts, or `None`."""
    if word_counts is None:
        return
    if isinstance(word_counts, Mapping):
        counts = word_counts.values()
        if all(isinstance(count, int) and count >= 0 for count in counts):
            return
    raise ConfigError(
        f"`word_counts` must map words to how often they occur. Received: {word_counts!r:.80}"
    )


@contextmanager
def _damage(path: Path, damages: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    expected: tuple[type[Exception], ...] = (ConfigError, *_DAMAGES, *damages)
    try:
        yield
    except expected as problem:
        raise RunError(f"{path} is damaged: {problem}. Train again, or copy it again.") from problem


def sums_ngrams(path: str | Path) -> bool:
    """Returns whether the encoder of a model sums n-grams, so that `TextReader` reads it.

    Raises:
        RunError: It is not a model folder, is damaged, or was written by a newer version.
    """
    encoder = read_config(path).get("encoder")
    return isinstance(encoder, dict) and encoder.get("name") == NGRAM_ENCODER


def read_dictionary(path: str | Path) -> Dictionary | None:
    """Returns the dictionary of a model, or `None`.

    Args:
        path: Model folder, run folder, or name of a shipped model.

    Raises:
        RunError: The folder is not a model, or is damaged.
    """
    read_config(path)
    file = model_folder(path) / FILES.vocabulary
    with _damage(file):
        return _read_vocabulary(file).dictionary
