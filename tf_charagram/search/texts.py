"""The texts that are searched."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tf_charagram.data.readers.lines import read_lines
from tf_charagram.errors import ConfigError
from tf_charagram.models.locations import WORDS, model_folder, read_config
from tf_charagram.models.model_folder import read_dictionary
from tf_charagram.training.run_folder import RunFolder


def read_vocabulary(path: str | None, model: str, flag: str = "--texts") -> list[str]:
    """Returns the distinct texts of a file, in order; lines of white space are left out.

    Args:
        path: The file, one text per line; `None` for the texts the run was trained on, the words
            that a shipped model comes with, or those of the model's dictionary.
        model: Run folder, model folder, or name of a shipped model.
        flag: What errors say a file is named with.

    Raises:
        ConfigError: No file is given, and the model comes with none.
        DataError: The file cannot be read.
        RunError: No file is given, and there is no such model.
    """
    texts = _own_texts(model, flag) if path is None else _lines(path)
    return list(dict.fromkeys(text for text in texts if text.strip()))


def _own_texts(model: str, flag: str) -> Iterable[str]:
    trained_on = RunFolder(model).texts
    if trained_on.is_file():
        return _lines(trained_on)
    read_config(model)
    words = model_folder(model) / WORDS
    if words.is_file():
        return _lines(words)
    if (dictionary := read_dictionary(model)) is not None:
        return dictionary.words
    raise ConfigError(f"{model} has no {trained_on.name}: name a file with {flag}.")


def _lines(path: str | Path) -> Iterable[str]:
    return (text for _, text in read_lines(path))
