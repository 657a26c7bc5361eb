"""What the workers of a run compare before they train together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

# Settings in which workers may differ: they change no weights, or name files, which are compared by
# their content.
_MAY_DIFFER = (
    "--out", "--data", "--eval-data", "--init", "--pairs", "--teacher-cache",
    "--checkpoint-every-s", "--max-minutes", "--threads",
)  # fmt: skip
# Files that each worker may have in another folder.
_FILES = (
    "--word-vectors", "--dictionary", "--teacher", "--second-teacher",
    "--misspellings",
)  # fmt: skip
_SAME_VERSIONS = ("tf_charagram", "tensorflow", "keras", "numpy")


def comparable(settings: dict[str, Any], files: Sequence[Path]) -> dict[str, Any]:
    """Returns what must be the same for all workers: not the folder, nor where files are.

    Args:
        settings: What `run_config` returned.
        files: The data files in order; one that was given twice is there twice.
    """
    versions = {key: settings["versions"][key] for key in _SAME_VERSIONS}
    checksums = {
        f"file {number}, {path.name} (sha256)": settings["data_files"][str(path)]
        for number, path in enumerate(files, start=1)
    }
    given = {f"--{k.replace('_', '-')}": v for k, v in settings["settings"].items()}
    given |= {name: _without_folders(given[name]) for name in _FILES if name in given}
    return (
        {name: value for name, value in given.items() if name not in _MAY_DIFFER}
        | {f"{name} (version)": value for name, value in versions.items()}
        | checksums
    )


def _without_folders(value: Any) -> Any:
    """Returns names of files, or of teachers in a folder, without the folders."""
    if isinstance(value, str):
        return Path(value.rpartition(":")[2]).name
    return value and [_without_folders(each) for each in value]
