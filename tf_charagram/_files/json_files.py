"""JSON files, with one value or one per line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tf_charagram._files.writing import regular_size, whole_file, writing


def parse_json(text: str | bytes) -> Any:
    """Returns a JSON value.

    Raises:
        ValueError: The text is not JSON, or is nested too deep.
    """
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


def read_json(path: str | Path) -> Any:
    """Returns the value of a JSON file.

    Raises:
        OSError: It cannot be read, or is not a regular file.
        ValueError: It is not JSON, or is nested too deep.
    """
    regular_size(path)
    return parse_json(Path(path).read_text(encoding="utf-8"))


def write_json(path: str | Path, value: Any) -> None:
    """Writes a value as indented JSON, whole or not at all."""
    with whole_file(path, "w") as file:
        file.write(to_json(value))


def to_json(value: Any) -> str:
    """Returns a value as indented JSON with a line end."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    """Converts NumPy numbers to Python numbers, and other objects to strings."""
    return value.item() if hasattr(value, "item") else str(value)


def read_json_lines(path: Path) -> Iterator[Any]:
    """Yields the value of each line, skipping truncated ones; nothing if there is no file."""
    if not path.is_file():
        return
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            value = parse_json(line)
        except ValueError:
            continue
        yield value


def append_json_line(path: Path, value: Any) -> None:
    """Appends a line to a file, which is created if necessary.

    Raises:
        RunError: It cannot be written.
    """
    with writing(path), open(path, "a", encoding="utf-8", newline="\n") as file:
        file.write(to_json_lines([value]))


def to_json_lines(values: Iterable[Any]) -> str:
    """Returns one line of JSON per value."""
    return "".join(json.dumps(value) + "\n" for value in values)
