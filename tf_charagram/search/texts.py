"""The texts that are searched."""

from __future__ import annotations

from pathlib import Path

from tf_charagram.data.readers.lines import read_lines
from tf_charagram.errors import ConfigError
from tf_charagram.serialization.locations import WORDS, model_folder, read_config
from tf_charagram.training.run_folder import RunFolder


def read_vocabulary(path: str | None, model: str, flag: str = "--texts") -> list[str]:
    """Returns the distinct texts of a file, in order; lines of white space are left out.

    Args:
        path: The file, one text per line; `None` for the texts the run was trained on, or the
            words that a shipped model comes with.
        model: Run folder, model folder, or name of a shipped model.
        flag: What errors say a file is named with.

    Raises:
        ConfigError: No file is given, and the model comes with none.
        DataError: The file cannot be read.
        RunError: No file is given, and there is no such model.
    """
    file = _own_texts(model, flag) if path is None else path
    return list(dict.fromkeys(text for _, text in read_lines(file) if text.strip()))


def _own_texts(model: str, flag: str) -> Path:
    trained_on = RunFolder(model).texts
    if trained_on.is_file():
        return trained_on
    read_config(model)
    words = model_folder(model) / WORDS
    if not words.is_file():
        raise ConfigError(f"{model} has no {trained_on.name}: name a file with {flag}.")
    return words
