"""Reads the texts to search."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tf_charagram.data.readers.lines import read_lines
from tf_charagram.errors import ConfigError
from tf_charagram.models.locations import RUN_TEXTS, WORDS, model_folder, read_config
from tf_charagram.models.model_folder import read_dictionary


def read_vocabulary(path: str | None, model: str, flag: str = "--texts") -> list[str]:
    """Returns the distinct texts of a file, in order, without blank lines.

    Args:
        path: The file, one text per line; `None` for the training texts of the run or the words of
            the model.
        model: Run folder, model folder or name of a model.
        flag: Flag of the file, for error messages.

    Raises:
        ConfigError: No file is given, and the model has no texts.
        DataError: The file cannot be read.
        RunError: No file is given, and the model cannot be loaded.
    """
    texts = _own_texts(model, flag) if path is None else _lines(path)
    return list(dict.fromkeys(text for text in texts if text.strip()))


def _own_texts(model: str, flag: str) -> Iterable[str]:
    training_texts = Path(model) / RUN_TEXTS
    if training_texts.is_file():
        return _lines(training_texts)
    read_config(model)
    words = model_folder(model) / WORDS
    if words.is_file():
        return _lines(words)
    if (dictionary := read_dictionary(model)) is not None:
        return dictionary.words
    raise ConfigError(f"{model} has no {RUN_TEXTS}: name a file with {flag}.")


def _lines(path: str | Path) -> Iterable[str]:
    return (text for _, text in read_lines(path))
