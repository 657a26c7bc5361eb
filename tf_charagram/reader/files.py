"""Reads the parts of a model from its folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tf_charagram._files.arrays import ArrayFile, fingerprint, open_arrays, read_arrays
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.models.locations import ARRAYS, FILES, model_folder, read_config
from tf_charagram.models.stored_tables import SCALES, StoredTable
from tf_charagram.models.vectors import ACTIVATIONS
from tf_charagram.reader.table import Table
from tf_charagram.text import arrays
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text._spelling.kept_words import kept_words
from tf_charagram.text.alphabet import Alphabet
from tf_charagram.text.ids import Ngrams
from tf_charagram.text.symbols import Symbols

_DAMAGES = (KeyError, OSError, TypeError, ValueError, OverflowError)
_ENCODER = "charagram"
_TABLE = "ngrams/table"


class StoredModel(NamedTuple):
    """The parts of a model.

    Attributes:
        symbols: Reads texts as symbols.
        ngrams: Finds the rows of their n-grams.
        table: The rows.
        bias: Added to the sum of rows, float32 `(dim,)`.
        activation: The non-linearity.
        dense: Kernel, float32 `(dim, dim)`, and bias of the second layer, or `None`.
    """

    symbols: Symbols
    ngrams: Ngrams
    table: Table
    bias: NDArray[np.float32]
    activation: Callable[[np.ndarray], np.ndarray]
    dense: tuple[NDArray[np.float32], NDArray[np.float32]] | None


def read_model(
    path: str | Path,
    correct_spelling: bool = True,
    keep_words: str | Path | Iterable[str] | None = None,
) -> StoredModel:
    """Reads a model; of a model that answers, the part that embeds.

    Args:
        path: Model folder, run folder, or name of a shipped model.
        correct_spelling: Whether to use its dictionary, if any.
        keep_words: Correctly spelled words, or a file of them.

    Raises:
        ConfigError: The encoder does not sum n-grams.
        RunError: The folder is not a model, is damaged, or was written by a newer version.
    """
    config = read_config(path)
    folder = model_folder(path)
    kept = kept_words(keep_words)
    try:
        encoder = config["encoder"]
        if encoder["name"] != _ENCODER:
            raise ConfigError(
                f"{folder} has the encoder '{encoder['name']}', which needs TensorFlow. Load it "
                "with TextEmbedder."
            )
        stored = read_arrays(folder / FILES.vocabulary, "iu")
        dictionary = Dictionary.from_arrays(stored) if correct_spelling else None
        if dictionary is not None:
            dictionary = dictionary.merged(kept)
        alphabet = Alphabet.from_array(stored["alphabet"]) if "alphabet" in stored else None
        ngrams = _ngrams(config["vectorizer"], stored, alphabet)
        symbols = _symbols(config["vectorizer"], alphabet, dictionary)
        with open_arrays(folder / FILES.weights) as weights:
            model = _model(symbols, ngrams, encoder["config"], weights)
        if config[ARRAYS] != fingerprint(folder / FILES.vocabulary, folder / FILES.weights):
            raise ValueError("its files belong to different models")
    except ConfigError:
        raise
    except _DAMAGES as problem:
        raise RunError(
            f"{folder} is damaged: {problem}. Train again, or copy it again."
        ) from problem
    return model


def is_readable(path: str | Path) -> bool:
    """Returns whether the encoder of a model sums n-grams.

    Raises:
        RunError: It is not a model folder, is damaged, or was written by a newer version.
    """
    encoder = read_config(path).get("encoder")
    return isinstance(encoder, dict) and encoder.get("name") == _ENCODER


def read_dictionary(path: str | Path) -> Dictionary | None:
    """Returns the dictionary of a model, or `None`.

    Args:
        path: Model folder, run folder, or name of a shipped model.

    Raises:
        RunError: The folder is not a model, or is damaged.
    """
    read_config(path)
    file = model_folder(path) / FILES.vocabulary
    try:
        return Dictionary.from_arrays(read_arrays(file, "iu"))
    except _DAMAGES as problem:
        raise RunError(f"{file} is damaged: {problem}. Train again, or copy it again.") from problem


def _ngrams(
    settings: dict[str, Any], stored: dict[str, np.ndarray], alphabet: Alphabet | None
) -> Ngrams:
    """Finds n-grams by the settings of the vectorizer and the vocabulary."""
    keys = None
    orders = settings["orders"]
    num_rows = settings["hash_buckets"]
    if num_rows is None:
        keys = stored["keys"]
        if keys.ndim != 1 or not len(keys) or keys.min() < 1:
            raise ValueError("the vocabulary must be a list of keys above 0")
        num_rows = len(keys)
        orders = stored["orders"].tolist()
    return Ngrams(
        orders,
        keys,
        alphabet,
        arrays,
        num_rows=num_rows,
        rows_per_ngram=settings["rows_per_ngram"],
        longest_only=settings["longest_only"],
        unknown_rows=settings["unknown_rows"],
    )


def _symbols(
    settings: dict[str, Any], alphabet: Alphabet | None, dictionary: Dictionary | None
) -> Symbols:
    return Symbols(
        alphabet,
        dictionary,
        lowercase=settings["lowercase"],
        unicode_form=settings["unicode_form"],
        max_chars=settings["max_chars"],
        fold_characters=settings["fold_characters"],
        keep_unknown=settings["unknown_rows"] > 0,
    )


def _model(
    symbols: Symbols, ngrams: Ngrams, encoder: dict[str, Any], weights: ArrayFile
) -> StoredModel:
    """Reads the weights of an encoder, and puts the parts together."""
    dim = encoder["dim"]
    num_rows = encoder["num_rows"]
    if num_rows < ngrams.num_rows + ngrams.unknown_rows:
        raise ValueError(f"its table has {num_rows} rows, too few for its n-grams")
    scales = None
    width = dim
    kind = weights.infos[_TABLE].dtype.kind
    if kind in "iu":
        scales = _array(weights, _TABLE + SCALES, num_rows, 1)
        # Two four-bit integers per byte.
        width = dim if kind == "i" else (dim + 1) // 2
    rows = _array(weights, _TABLE, num_rows, width)
    dense = None
    if encoder["num_layers"] == 2:
        dense = (_array(weights, "dense/kernel", dim, dim), _array(weights, "dense/bias", dim))
    return StoredModel(
        symbols,
        ngrams,
        Table(StoredTable(rows, scales), dim),
        # Weights are named by the encoder, whose name can be chosen.
        _array(weights, f"{encoder['name']}/bias", dim),
        ACTIVATIONS[encoder["activation"]],
        dense,
    )


def _array(weights: ArrayFile, name: str, *shape: int) -> np.ndarray:
    """Returns an array of weights.

    Raises:
        KeyError: It is missing.
        ValueError: It has another shape.
    """
    found = weights.infos[name].shape
    if found != shape:
        raise ValueError(f"the array '{name}' is {found}, where {shape} is expected")
    return weights.mapped(name)
