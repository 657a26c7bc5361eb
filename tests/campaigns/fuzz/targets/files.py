"""Targets that read one file, which is written anew for each case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaigns.fuzz.target import RESULT, Run, Target, check


def file_target(
    name: str,
    file_name: str,
    read: Callable[[Path], Any],
    seeds: Sequence[bytes] | Callable[[], Sequence[bytes]],
    tokens: Sequence[bytes] = (),
    *,
    beside: Mapping[str, bytes] | None = None,
    looks: Callable[[Any], None] | None = None,
    **fields: Any,
) -> Target:
    """Returns a target that reads a file.

    Args:
        name: Its name.
        file_name: The file; every error must name it.
        read: Reads it; what it returns is looked at, streams to their ends.
        seeds: Valid files.
        tokens: Pieces that mean something in them.
        beside: Other files that are there, by name.
        looks: Checks what was read. Default: vectors in it are finite.
        **fields: Of `Target`.
    """

    @contextmanager
    def opened(folder: Path) -> Iterator[Run]:
        path = folder / file_name
        path.parent.mkdir(parents=True, exist_ok=True)
        for other, data in (beside or {}).items():
            (folder / other).write_bytes(data)

        def run(case: bytes) -> str:
            path.write_bytes(case)
            value = read(path)
            (looks or check_finite)(value)
            return RESULT

        yield run

    fields = {"in_message": Path(file_name).stem.partition(".")[0], **fields}
    return Target(name, opened, seeds, tokens, **fields)


def check_finite(value: Any) -> None:
    """Checks that no number in a value, or in what it streams, is NaN or infinite."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            check(np.isfinite(value).all(), "a number is not finite")
    elif isinstance(value, float):
        check(np.isfinite(value), "a number is not finite")
    elif isinstance(value, Mapping):
        check_finite(list(value.values()))
    elif hasattr(value, "scores"):
        check_finite(np.asarray(value.scores))
    elif not isinstance(value, str | bytes) and hasattr(value, "__iter__"):
        for part in value:
            check_finite(part)
