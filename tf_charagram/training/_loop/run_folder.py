"""The run folder: settings, progress and results of a training run."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from tf_charagram._files.identity import changes_since
from tf_charagram._files.json_files import (
    append_json_line,
    read_json_lines,
    to_json_lines,
    write_json,
)
from tf_charagram._files.writing import (
    FolderLock,
    check_local,
    remove,
    sha256_of,
    whole_file,
    writing,
)
from tf_charagram._version import __version__
from tf_charagram.errors import DataError, RunError
from tf_charagram.models._storage.locations import is_run_file

# Settings that a resumed run may change, because they change no weights. A run folder may be moved.
_MAY_CHANGE_ON_RESUME = ("output", "checkpoint_every_s", "max_minutes")
# Files that may be in a run folder before the run starts: the log of a trial.
_BEFORE_A_RUN = ("log.txt",)


class RunFolder:
    """The files of a training run.

    Args:
        path: The folder.

    Attributes:
        own_names: Names of the files and folders of a run, which overwriting deletes.
    """

    own_names: ClassVar[tuple[str, ...]] = (
        "config.json",
        "checkpoints",
        "history.jsonl",
        "metrics.json",
        "model",
        "saved_model",
        "tensorboard",
        "texts.txt",
        "problem.txt",
        "log.txt",
    )

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.config = self.path / "config.json"
        self.checkpoints = self.path / "checkpoints"
        self.history = self.path / "history.jsonl"
        self.metrics = self.path / "metrics.json"
        self.model = self.path / "model"
        self.saved_model = self.path / "saved_model" / "1"
        self.tensorboard = self.path / "tensorboard"
        self.texts = self.path / "texts.txt"
        self.problem = self.path / "problem.txt"
        self.lock = FolderLock(self.path)
        self._replaces = False

    @classmethod
    def open(
        cls, path: str | Path | None, default_name: str, *, resume: bool, overwrite: bool
    ) -> RunFolder:
        """Returns the folder of a new or a resumed run; nothing is written yet.

        Args:
            path: The folder, or `None` for `runs/<default_name>-<N>` with the next free N.
            default_name: First part of the name of a new folder in `runs`.
            resume: Resume the run in the folder; a folder without a run starts a new one.
            overwrite: Let `begin` delete the run in the folder.

        Raises:
            RunError: Both flags were given; or the folder has files and neither was given, or is
                not a run folder; or another process writes to it.
        """
        if resume and overwrite:
            raise RunError(
                "--resume continues the run in --output, and --overwrite replaces it. Give one of "
                "the two."
            )
        if path is None:
            if resume:
                raise RunError("--resume needs --output, the folder of the run to go on with.")
            number = 1
            while (Path("runs") / f"{default_name}-{number}").exists():
                number += 1
            path = Path("runs") / f"{default_name}-{number}"
        check_local(str(path))
        folder = cls(path)
        if folder.path.exists() and not folder.path.is_dir():
            raise RunError(f"{folder.path} is a file. Give a folder with --output.")
        if folder.path.is_dir() and any(folder.path.iterdir()) and not resume:
            if not overwrite:
                raise RunError(
                    f"{folder.path} exists. Add --resume to go on with it, --overwrite to start "
                    "again, or give another --output."
                )
            if not is_run_file(folder.config):
                raise RunError(f"{folder.path} is not a run folder, so it is not overwritten.")
            folder._replaces = True
        if resume and not folder.config.is_file() and folder._holds_other_files():
            raise RunError(f"{folder.path} is not a run folder, so there is no run to resume.")
        if folder.path.is_dir():
            # Fail early if another process holds the lock: reading and building may take long.
            with folder.lock:
                pass
        return folder

    def _is_own(self, name: str) -> bool:
        """Returns whether a file or folder is of a run, whole or half written."""
        if name in self.own_names:
            return True
        # A killed process leaves files such as `.model.part`.
        is_half = name.startswith(".") and name.endswith(".part")
        whole = name.removeprefix(".").split(".part")[0]
        return is_half and whole.startswith(self.own_names)

    def _holds_other_files(self) -> bool:
        """Returns whether the folder has a visible file that was not there before the run."""
        if not self.path.is_dir():
            return False
        visible = [path.name for path in self.path.glob("[!.]*")]
        return any(name not in _BEFORE_A_RUN for name in visible)

    def check_config(self, identity: dict[str, Any]) -> None:
        """Compares the identity of a resumed run with the identity in the folder, if any.

        Args:
            identity: As returned by `run_config`.

        Raises:
            RunError: The folder holds a run with other settings or other data.
        """
        if self._replaces or not self.config.is_file():
            return
        changed = changes_since(self.config, identity, _MAY_CHANGE_ON_RESUME)
        if changed:
            longer = any(change.startswith("epochs ") for change in changed)
            hint = f" To train on, begin another run with --init {self.path}." if longer else ""
            raise RunError(
                f"{self.path} was started with other settings: {', '.join(changed)}. "
                f"Resume with the same, or give another --output.{hint}"
            )

    def begin(self, identity: dict[str, Any]) -> None:
        """Makes the folder and writes `config.json`; a run to be overwritten is deleted.

        Other files in the folder stay. Other processes are kept out until `lock` is released.

        Raises:
            RunError: The folder cannot be written, or another process writes to it.
        """
        with writing(self.path):
            self.lock.acquire()
            if self._replaces:
                own = [path for path in self.path.iterdir() if self._is_own(path.name)]
                # The settings last, because a folder without them is not a run folder.
                for path in sorted(own, key=lambda path: path == self.config):
                    remove(path)
        self._replaces = False
        if not self.config.is_file():
            write_json(self.config, identity)

    def note_problem(self, problem: object) -> None:
        """Writes down why training cannot go on."""
        with whole_file(self.problem, "w") as file:
            file.write(f"{problem}\n")

    def append_history(self, record: dict[str, Any]) -> None:
        """Adds a line to the history.

        Raises:
            RunError: It cannot be written, for instance because the disk is full.
        """
        append_json_line(self.history, record)

    def read_history(self) -> list[dict[str, Any]]:
        """Returns the records of the history; a truncated line is left out."""
        return [
            record
            for record in read_json_lines(self.history)
            if isinstance(record, dict) and isinstance(record.get("step"), int)
        ]

    def trim_history(self, step: int) -> None:
        """Drops the records after `step`."""
        records = [record for record in self.read_history() if record["step"] <= step]
        with whole_file(self.history, "w") as file:
            file.write(to_json_lines(records))


def run_config(settings: dict[str, Any], data_files: Iterable[Path]) -> dict[str, Any]:
    """Returns the identity of a run: settings, versions, and the checksums of its data.

    Args:
        settings: The settings, as plain values.
        data_files: The files that the weights depend on.

    Raises:
        DataError: A data file cannot be read.
    """
    # `keras` may have been installed as `keras-nightly`.
    modules = [import_module(name) for name in ("tensorflow", "keras", "numpy")]
    packages = {module.__name__: module.__version__ for module in modules}
    return {
        "settings": settings,
        "versions": {
            "tf_charagram": __version__,
            "python": platform.python_version(),
            **packages,
            "platform": platform.platform(),
            "cpus": str(os.cpu_count()),
        },
        "data_files": _checksums(data_files),
    }


def _checksums(files: Iterable[Path]) -> dict[str, str]:
    """Returns path -> checksum.

    Raises:
        DataError: A file cannot be read.
    """
    sums = {}
    for path in files:
        try:
            sums[str(path)] = sha256_of(path)
        except OSError as error:
            raise DataError(path, f"cannot be read: {error.strerror or error}") from error
    return sums
