"""Reads the texts to search."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tf_charagram.data._tables.lines import read_lines
from tf_charagram.errors import ConfigError
from tf_charagram.models._storage.locations import RUN_TEXTS, WORDS, model_folder, read_config
from tf_charagram.models._storage.stored_model import read_dictionary

#: Number of known words that are offered as neighbors. Rarer words, often names, come near
#: anything.
NUM_OFFERED = 30_000


def read_vocabulary(
    path: str | None, model: str, flag: str = "--texts", num_words: int | None = NUM_OFFERED
) -> list[str]:
    """Returns the distinct texts of a file, in order, without blank lines.

    Args:
        path: The file, one text per line; `None` for the training texts of the run or the most
            frequent words of the model.
        model: Run folder, model folder or name of a model.
        flag: Flag of the file, for error messages.
        num_words: Maximum number of words of the dictionary of a model, or `None` for all.

    Raises:
        ConfigError: No file is given, and the model has no texts.
        DataError: The file cannot be read.
        RunError: No file is given, and the model cannot be loaded.
    """
    if path is None:
        texts = _own_texts(model, flag, num_words)
    else:
        texts = _lines(path)
    return list(dict.fromkeys(text for text in texts if text.strip()))


def _own_texts(model: str, flag: str, num_words: int | None) -> Iterable[str]:
    """Returns the training texts of a run, or the known words of a model."""
    training_texts = Path(model) / RUN_TEXTS
    if training_texts.is_file():
        return _lines(training_texts)
    # The error for a folder that is not a model.
    read_config(model)
    words = model_folder(model) / WORDS
    if words.is_file():
        return _lines(words)
    dictionary = read_dictionary(model)
    if dictionary is not None:
        return dictionary.words[:num_words]
    raise ConfigError(f"{model} has no {RUN_TEXTS}: name a file with {flag}.")


def _lines(path: str | Path) -> Iterable[str]:
    return (text for _, text in read_lines(path))
