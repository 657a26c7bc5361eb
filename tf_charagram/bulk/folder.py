"""A folder of shards: its settings, which shards are done, and whether they are intact."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from tf_charagram.bulk.formats import FORMATS
from tf_charagram.errors import RunError
from tf_charagram.files.json_files import (
    append_json_line,
    read_json,
    read_json_lines,
    to_json_lines,
    write_json,
)
from tf_charagram.files.writing import sha256_of, whole_file, writing

Record = dict[str, Any]
_SHARD = re.compile(rf"part-\d{{5,}}-\d{{5,}}\.({'|'.join(FORMATS)})")
# What a record holds; a damaged one may hold anything.
_FIELDS = {
    "name": str, "input": str, "first_line": int, "num_lines": int, "text_bytes": int,
    "text_sha256": str, "bytes": int, "sha256": str,
}  # fmt: skip


class ShardFolder:
    """The files that bulk embedding writes.

    `manifest.json` has the settings of the folder, and whether it is complete;
    `shards.jsonl` has a line for each shard that is done.

    Args:
        path: The folder.

    Attributes:
        records: The shards that are done, by name without ending.
        damaged: What was wrong with shards that have to be embedded again.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.manifest = self.path / "manifest.json"
        self.shards = self.path / "shards.jsonl"
        self.records: dict[str, Record] = {}
        self.damaged: list[str] = []
        self._is_complete = False

    @classmethod
    def open(
        cls, path: str | Path, settings: dict[str, Any], *, resume: bool, overwrite: bool
    ) -> ShardFolder:
        """Creates a folder, or resumes one.

        Args:
            path: The folder.
            settings: What must be the same when it is resumed; JSON values.
            resume: Keep the shards in the folder, if there are any.
            overwrite: Delete the shards in the folder, and nothing else.

        Raises:
            RunError: The folder has files and neither flag was given, holds no shards, was begun
                with other settings, or cannot be written.
        """
        folder = cls(path)
        if folder.path.exists() and not folder.path.is_dir():
            raise RunError(f"{folder.path} is a file. Give a folder with --output.")
        if folder.path.is_dir() and any(folder.path.iterdir()):
            if not (resume or overwrite):
                raise RunError(
                    f"{folder.path} exists. Add --resume to go on with it, --overwrite to start "
                    "again, or give another --output."
                )
            # Of a process that was killed; others may be writing other files there.
            for name in ("part-", folder.manifest.name, folder.shards.name):
                folder._remove(folder.path.glob(f".{name}*.part"))
            if any(folder.path.iterdir()) and not folder.manifest.is_file():
                raise RunError(
                    f"{folder.path} is not a folder of shards, so nothing is written there."
                )
            if overwrite:
                folder._clear()
        if folder.manifest.is_file():
            folder._go_on(settings)
        else:
            write_json(folder.manifest, {**settings, "is_complete": False})
        return folder

    def add(self, record: Record) -> None:
        """Records that a shard is done; a resumed run will leave it out.

        Raises:
            RunError: It cannot be written, for instance because the disk is full.
        """
        self._reopen()
        self.records[_key(record)] = record
        append_json_line(self.shards, record)

    def complete(self) -> None:
        """Sorts the records in the order of the input, and marks the folder as complete."""
        self._write_records()
        self._mark(True)

    def _mark(self, is_complete: bool) -> None:
        settings = read_json(self.manifest)
        write_json(self.manifest, {**settings, "is_complete": is_complete})
        self._is_complete = is_complete

    def _reopen(self) -> None:
        """Marks a complete folder as incomplete, before anything else in it changes."""
        if self._is_complete:
            self._mark(False)

    def _clear(self) -> None:
        """Deletes the shards and what is said of them."""
        # A damaged manifest does not say that the folder is complete.
        with suppress(OSError, ValueError, KeyError, TypeError):
            self._is_complete = read_json(self.manifest)["is_complete"]
            self._reopen()
        shards = [path for path in self.path.iterdir() if _SHARD.fullmatch(path.name)]
        self._remove([*shards, self.shards, self.manifest])

    def _go_on(self, settings: dict[str, Any]) -> None:
        try:
            old = _flat(read_json(self.manifest))
            self._is_complete = old["is_complete"]
            new = _flat({**settings, "is_complete": old["is_complete"]})
            changed = [
                "the model was another one"
                if name == "model_sha256"
                else f"{name} was {old.get(name)}, is {new.get(name)}"
                for name in {**old, **new}
                if old.get(name) != new.get(name)
            ]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RunError(f"{self.manifest} is damaged: {error!r}.") from error
        if changed:
            raise RunError(
                f"{self.path} was begun with other settings: {', '.join(changed)}. "
                "Resume with the same, start again with --overwrite, or give another --output."
            )
        for record in self._read_records():
            problem = self._problem(record)
            if problem is None:
                self.records[_key(record)] = record
            else:
                self.damaged.append(f"{self.path / record['name']} {problem}")
        if not self.shards.is_file() or self._lines() != self.shards.read_bytes():
            self._reopen()
            self._write_records()

    def _problem(self, record: Record) -> str | None:
        """Returns what is wrong with the file of a shard, or `None`."""
        path = self.path / record["name"]
        if not path.is_file():
            return "is missing"
        size = path.stat().st_size
        if size != record["bytes"]:
            return f"has {size:,} bytes instead of {record['bytes']:,}"
        return None if sha256_of(path) == record["sha256"] else "has another checksum"

    def _read_records(self) -> Iterator[Record]:
        """Yields the records but damaged ones, whose shards are embedded again."""
        for record in read_json_lines(self.shards):
            if isinstance(record, dict) and all(
                isinstance(record.get(name), kind) for name, kind in _FIELDS.items()
            ):
                yield record

    def _write_records(self) -> None:
        with whole_file(self.shards) as file:
            file.write(self._lines())

    def _lines(self) -> bytes:
        """Returns what `shards.jsonl` holds once it is complete."""
        return to_json_lines(self.records[key] for key in sorted(self.records)).encode()

    def _remove(self, paths: Iterable[Path]) -> None:
        with writing(self.path):
            for path in paths:
                path.unlink(missing_ok=True)


def begun_with(path: str | Path, names: Iterable[str]) -> dict[str, Any]:
    """Returns some of the settings that a folder was begun with; none if it was not, or is damaged.

    Args:
        path: The folder.
        names: Which settings.
    """
    try:
        saved = read_json(ShardFolder(path).manifest)
        return {name: saved[name] for name in names}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    """Gives each input an entry of its own, so that a message names only what differs."""
    inputs = {
        f"input {number}": f"{file['path']} of {file['bytes']:,} bytes"
        for number, file in enumerate(settings["inputs"])
    }
    return {**settings, "inputs": None, **inputs}


def _key(record: Record) -> str:
    return Path(record["name"]).stem
