"""What a command writes must be on this machine, and none of the files that it reads."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from tf_charagram.errors import ConfigError

_STANDARD = "-"
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def check_local(output: str) -> None:
    """Checks that an output is a path, and no address such as `gs://BUCKET/NAME`.

    Raises:
        ConfigError: It is an address, of which a folder of that name would be made here.
    """
    if _ADDRESS.match(output):
        raise ConfigError(
            f"{output} is not a path on this machine. Write to one, and copy what is there."
        )


def check_not_read(output: str, inputs: Iterable[str]) -> None:
    """Checks that a file to write is none of those to read, under whatever name.

    Args:
        output: The file to write; `-` is standard output.
        inputs: The files to read; `-` is standard input.

    Raises:
        ConfigError: It is one of them, and would be overwritten; or it is no path.
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
