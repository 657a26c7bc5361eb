"""Compares what a command left after its deaths with what it leaves if nothing happens to it."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from fnmatch import fnmatch
from math import isclose
from pathlib import Path
from typing import Any

import numpy as np

# Depends on the time that something took, or on when it was. The size of a SavedModel does on
# numbers in names of functions, which count what the process has traced before.
_OF_TIME = re.compile(r"seconds|per_second|memory|size_bytes")
# One per process or per moment; what is in them is looked at elsewhere or by people.
_IGNORED = (
    "*/events.out.tfevents.*", "events.out.tfevents.*", "*checkpoints/*", "*/fingerprint.pb",
    "workers/*", "*/workers/*", "*.png",
)  # fmt: skip
_LOSS_TOLERANCE = 1e-4


def files_of(folder: Path) -> dict[str, Path]:
    """Returns the files of a folder by their names in it, also hidden ones."""
    if not folder.is_dir():
        return {}
    return {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if not path.is_dir()
    }


def differences(found: Path, expected: Path, num_kept: int | None = None) -> list[str]:
    """Says what differs in a folder.

    Args:
        found: The folder after deaths and resuming.
        expected: The folder of an undisturbed run.
        num_kept: Of how many numbered folders the last count; their numbers may be larger.
    """
    old, new = files_of(expected), _renumbered(files_of(found), num_kept)
    old = _renumbered(old, num_kept)
    old, new = ({n: p for n, p in files.items() if not _ignored(n)} for files in (old, new))
    problems = [f"{name} is missing" for name in old.keys() - new.keys()]
    problems += [f"{name} is left over" for name in new.keys() - old.keys()]
    problems += [
        f"{name} differs{detail}"
        for name in sorted(old.keys() & new.keys())
        if (detail := _difference(name, new[name], old[name])) is not None
    ]
    return sorted(problems) + _stray_checkpoints(found)


def damage(folder: Path) -> list[str]:
    """Says which files, of those that are under their final names, cannot be read.

    A process may end at any moment, so this holds at any moment.
    """
    problems = []
    for name, path in files_of(folder).items():
        if any(part.startswith(".") for part in name.split("/")):
            continue
        try:
            if path.suffix == ".json":
                json.loads(path.read_text(encoding="utf-8"))
            elif path.suffix in (".npy", ".npz"):
                # Opened here: `np.load` leaves a damaged file open.
                with open(path, "rb") as file:
                    arrays = np.load(file)
                    for array in arrays if path.suffix == ".npz" else ():
                        arrays[array]
        except Exception as error:
            problems.append(f"{name} is damaged: {error!r}")
    return problems


def _ignored(name: str) -> bool:
    return any(fnmatch(name, pattern) for pattern in _IGNORED)


def _renumbered(files: dict[str, Path], num_kept: int | None) -> dict[str, Path]:
    """Names numbered folders by their order, the last 0; more than are kept stay as they are."""
    if num_kept is None:
        return files
    parts = [name.split("/") for name in files]
    numbers = {int(folders[1]) for folders in parts if len(folders) > 2 and folders[1].isdigit()}
    order = {str(number): f"{rank}" for rank, number in enumerate(sorted(numbers, reverse=True))}
    return {
        "/".join([first, *(order.get(part, part) for part in rest[:1]), *rest[1:]]): path
        for (first, *rest), path in zip(parts, files.values(), strict=True)
    }


def _stray_checkpoints(folder: Path) -> list[str]:
    """Says which checkpoints should have been deleted, and which are parts."""
    problems = []
    for checkpoints in folder.rglob("checkpoints"):
        names = [path.name for path in checkpoints.iterdir()]
        whole = {name.split(".")[0] for name in names if name.endswith(".index")}
        if len(whole) > 2:
            problems.append(f"{len(whole)} checkpoints are left")
        problems += [
            f"checkpoints/{name} is left over" for name in names if name.split(".")[0] not in whole
        ]
    return problems


def _difference(name: str, found: Path, expected: Path) -> str | None:
    """Returns what differs in a file, or `None`."""
    new, old = found.read_bytes(), expected.read_bytes()
    if new == old:
        return None
    for pattern, read in _READERS.items():
        if fnmatch(name, pattern):
            try:
                return _deviation(read(new), read(old))
            except ValueError as error:
                return f": {error}"
    return f": {len(new)} bytes, not {len(old)}"


def _deviation(new: Any, old: Any, place: str = "") -> str | None:
    """Returns the first place where two values differ, but for what depends on time."""
    if isinstance(old, dict) and isinstance(new, dict):
        if old.keys() != new.keys():
            return f" at {place}: {sorted(old.keys() ^ new.keys())}"
        pairs = [(key, new[key], old[key]) for key in old if not _OF_TIME.search(str(key))]
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return f" at {place}: {len(new)} entries, not {len(old)}"
        pairs = [(str(i), a, b) for i, (a, b) in enumerate(zip(new, old, strict=True))]
    else:
        # Summed in two parts, where one was summed in one.
        is_loss = place.endswith("/loss") and isinstance(new, float)
        is_same = isclose(new, old, rel_tol=_LOSS_TOLERANCE) if is_loss else new == old
        return None if is_same else f" at {place}: {str(new)[:50]}, not {str(old)[:50]}"
    parts = (_deviation(a, b, f"{place}/{key}") for key, a, b in pairs)
    return next((part for part in parts if part is not None), None)


def _json(raw: bytes) -> Any:
    return json.loads(raw)


def _lines(raw: bytes) -> Any:
    """Returns the values of lines of JSON; their order counts."""
    return [json.loads(line) for line in raw.decode().splitlines()]


def _table(raw: bytes) -> Any:
    return list(csv.DictReader(raw.decode().splitlines()))


def _markdown(raw: bytes) -> Any:
    """Returns the cells of a table but those that say how long something took."""
    rows = [[cell.strip() for cell in line.split("|")] for line in raw.decode().splitlines()]
    timed = {i for row in rows for i, cell in enumerate(row) if _OF_TIME.search(cell)}
    return [[cell for i, cell in enumerate(row) if i not in timed] for row in rows]


def _graph(raw: bytes) -> Any:
    """Returns what a SavedModel computes: names of functions hold counters of the process."""
    from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

    (graph,) = SavedModel.FromString(raw).meta_graphs
    operations: dict[str, int] = {}
    for nodes in (graph.graph_def.node, *(f.node_def for f in graph.graph_def.library.function)):
        for node in nodes:
            operations[node.op] = operations.get(node.op, 0) + 1
    return {"signatures": sorted(graph.signature_def), "operations": operations}


def _ignore(raw: bytes) -> Any:
    return None


#: How to read files that may differ in what depends on time.
_READERS: dict[str, Callable[[bytes], Any]] = {
    "*log.txt": _ignore,
    "oracle/*": _ignore,
    "*.jsonl": _lines,
    "*.json": _json,
    "*.csv": _table,
    "*.md": _markdown,
    "*saved_model.pb": _graph,
}
