"""Files with one JSON value per line, which a process that is killed may leave cut short."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tf_charagram.files import parse_json, writing


def read_json_lines(path: Path) -> Iterator[Any]:
    """Yields the values of the lines of a file, but of those cut short; none if it is not there."""
    if not path.is_file():
        return
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            value = parse_json(line)
        except ValueError:
            continue
        yield value


def append_json_line(path: Path, value: Any) -> None:
    """Adds a line to a file, which is made if it is not there.

    Raises:
        RunError: It cannot be written, for instance because the disk is full.
    """
    with writing(path), open(path, "a", encoding="utf-8", newline="\n") as file:
        file.write(to_json_lines([value]))


def to_json_lines(values: Iterable[Any]) -> str:
    """Returns a line for each value."""
    return "".join(json.dumps(value) + "\n" for value in values)
