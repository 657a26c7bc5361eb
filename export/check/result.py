"""The outcome of a check."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Result:
    """The outcome of one check.

    Args:
        where: What was checked, for instance `"C++ runtime"`.
        name: The check.
        ok: Whether it passed; `None` if it could not be done, through no fault of the model.
        detail: What was found, for people.
    """

    where: str
    name: str
    ok: bool | None
    detail: str

    def to_dict(self) -> dict[str, Any]:
        """Returns what `--json` prints."""
        return asdict(self)
