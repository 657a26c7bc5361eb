"""The identity of a job that may be stopped: its settings and data, compared before it goes on."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from tf_charagram._files.json_files import read_json
from tf_charagram.errors import RunError

# Thousands of files may have changed.
_MAX_SHOWN = 10


def changes_since(
    file: Path, identity: dict[str, Any], may_change: Collection[str] = ()
) -> list[str]:
    """Describes how a job differs from the job that was started.

    Args:
        file: JSON file that was written at the start, with an identity.
        identity: The identity of the job now: `settings`, by name, and `data_files`, a checksum or
            size by path.
        may_change: Names of settings that may differ.

    Returns:
        Up to ten changes, such as `"epochs was 2, is 3"` and `"a.txt has changed"`.

    Raises:
        RunError: The file is damaged.
    """
    # As JSON has them: tuples become lists.
    now = json.loads(json.dumps(identity))
    try:
        before = read_json(file)
        old_settings = dict(before["settings"])
        old_files = dict(before["data_files"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(f"{file} is damaged: {error!r}.") from error
    changes = []
    settings = now["settings"]
    for name in sorted({*old_settings, *settings}.difference(may_change)):
        was = old_settings.get(name)
        value = settings.get(name)
        if was != value:
            changes.append(f"{name} was {_shown(was)}, is {_shown(value)}")
    files = now["data_files"]
    for path in sorted({*old_files, *files}):
        if path not in files:
            changes.append(f"{path} is missing")
        elif path not in old_files:
            changes.append(f"{path} is new")
        elif old_files[path] != files[path]:
            changes.append(f"{path} has changed")
    return changes[:_MAX_SHOWN]


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
