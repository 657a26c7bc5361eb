"""What a command writes must be none of the files that it reads."""

from __future__ import annotations

import os
from collections.abc import Iterable

from tf_charagram.errors import ConfigError
from tf_charagram.files.writing import check_local

_STANDARD = "-"


def check_not_read(output: str, inputs: Iterable[str]) -> None:
    """Checks that a file to write is none of those to read, under whatever name.

    Args:
        output: The file to write; `-` is standard output.
        inputs: The files to read; `-` is standard input.

    Raises:
        ConfigError: It is one of them, and would be overwritten; or it is not a path.
    """
    check_local(output)
    if output == _STANDARD:
        return
    real_path = os.path.realpath(output)
    for path in inputs:
        if path != _STANDARD and os.path.realpath(path) == real_path:
            raise ConfigError(
                f"{output} is read as well, and would be overwritten. Write to another file."
            )
