"""The texts that are searched."""

from __future__ import annotations

from tf_charagram.data.readers.lines import read_lines
from tf_charagram.errors import ConfigError
from tf_charagram.training.run_folder import RunFolder


def read_vocabulary(path: str | None, model: str, flag: str = "--texts") -> list[str]:
    """Returns the distinct texts of a file, in order; lines of white space are left out.

    Args:
        path: The file, one text per line; `None` for the texts the run was trained on.
        model: Run folder or model folder.
        flag: What errors say a file is named with.

    Raises:
        ConfigError: No file is given, and the model is in no run that has one.
        DataError: The file cannot be read.
    """
    trained_on = RunFolder(model).texts
    if path is None and not trained_on.is_file():
        raise ConfigError(f"{model} has no {trained_on.name}: name a file with {flag}.")
    return list(dict.fromkeys(text for _, text in read_lines(path or trained_on) if text.strip()))
