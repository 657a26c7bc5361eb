"""Where an exported version lies."""

from __future__ import annotations

from pathlib import Path

from tf_charagram.errors import RunError

_SAVED_MODEL = "saved_model.pb"


def version_folder(path: str | Path) -> Path:
    """Returns the folder of a SavedModel.

    Args:
        path: A version; or the folder of the versions or a run folder, for the last version.

    Raises:
        RunError: There is no SavedModel.
    """
    path = Path(path)
    if (path / _SAVED_MODEL).is_file():
        return path
    files = [*path.glob(f"*/{_SAVED_MODEL}"), *path.glob(f"saved_model/*/{_SAVED_MODEL}")]
    versions = [file.parent for file in files if file.parent.name.isdecimal()]
    if not versions:
        raise RunError(f"{path} has no {_SAVED_MODEL}. Give a version, such as models/NAME/1.")
    return max(versions, key=lambda version: int(version.name))
