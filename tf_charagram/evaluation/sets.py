"""Which evaluation sets there are: in a folder, in the download cache, in the package."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tf_charagram.data import starter
from tf_charagram.data.download import cached
from tf_charagram.data.sources import SOURCES
from tf_charagram.data.wordsim import ScoredPairs, find_wordsim, read_wordsim
from tf_charagram.errors import DataError

STARTER = "starter"


def starter_set() -> ScoredPairs:
    """Returns the graded held-out set that ships with the package."""
    left, right, scores = zip(*starter.graded_pairs(), strict=True)
    return ScoredPairs(STARTER, list(left), list(right), np.array(scores, np.float64))


def evaluation_sets(place: str | Path | None) -> list[ScoredPairs]:
    """Returns the word similarity sets to score on.

    Args:
        place: A folder, searched for known file names; a single file; or `None` for the starter
            set and whatever was downloaded before.

    Raises:
        DataError: The folder has no known set, or a file cannot be read.
    """
    if place is None:
        paths = {name: cached(name) for name, source in SOURCES.items() if source.kind == "wordsim"}
        return [
            starter_set(),
            *(read_wordsim(path, name=name) for name, path in paths.items() if path),
        ]
    place = Path(place)
    if place.is_file():
        return [read_wordsim(place)]
    if not place.is_dir():
        raise DataError(place, "no such file or folder to evaluate on")
    found = find_wordsim(place)
    if not found:
        raise DataError(place, "no known word similarity set in this folder, such as SL999, WS353")
    return [read_wordsim(path, name=name) for name, path in found.items()]
