"""Which evaluation sets there are: in a folder, in the download cache, in the package."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tf_charagram.data import starter
from tf_charagram.data.download.fetch import cached
from tf_charagram.data.download.sources import SOURCES
from tf_charagram.data.readers.lines import BadLines, read_lines
from tf_charagram.data.readers.pavlick import (
    find_pavlick,
    is_category,
    is_pavlick_file,
    read_pavlick,
)
from tf_charagram.data.readers.scored import ScoredPairs, is_number
from tf_charagram.data.readers.sick import find_sick, is_sick_file, is_sick_header, read_sick
from tf_charagram.data.readers.sts import find_sts, read_sts, sts_name
from tf_charagram.data.readers.twitter import (
    find_twitter,
    is_twitter_file,
    is_twitter_row,
    read_twitter,
)
from tf_charagram.data.readers.wordsim import find_wordsim, read_wordsim
from tf_charagram.data.starter import STARTER
from tf_charagram.errors import ConfigError, DataError, unknown_name


@dataclass(frozen=True)
class _Format:
    """One kind of files: how they are found in a folder, told by their name, and read."""

    kind: str
    find: Callable[[Path], dict[str, Path]]
    read: Callable[..., ScoredPairs]
    is_named: Callable[[Path], bool]


_WORDSIM = _Format("wordsim", find_wordsim, read_wordsim, lambda path: False)
_STS = _Format("sts", find_sts, read_sts, lambda path: sts_name(path)[0] is not None)
_SICK = _Format("sts", find_sick, read_sick, is_sick_file)
_TWITTER = _Format("sts", find_twitter, read_twitter, is_twitter_file)
_PAVLICK = _Format("phrases", find_pavlick, read_pavlick, is_pavlick_file)
_FORMATS = (_WORDSIM, _STS, _SICK, _TWITTER, _PAVLICK)

#: Kind of sets, and what a message calls them.
KINDS = {
    "wordsim": "word similarity set, such as SL999, WS353",
    "sts": "sentence similarity set, such as STS.input.OnWN.txt, SICK.txt, test.data",
    "phrases": "phrase similarity set, such as ppdb-sample.tsv",
}


def starter_set() -> ScoredPairs:
    """Returns the graded held-out set that ships with the package."""
    left, right, scores = zip(*starter.graded_pairs(), strict=True)
    return ScoredPairs(STARTER, list(left), list(right), np.array(scores, np.float64))


def evaluation_sets(
    place: str | Path | None,
    kinds: Iterable[str] | None = None,
    *,
    on_bad_line: str | BadLines = "error",
) -> list[ScoredPairs]:
    """Returns the sets to score on.

    Args:
        place: A folder, searched for known names at any depth; a single file, whose name or first
            line tells what it is; or `None` for the starter set and whatever was downloaded
            before, which are words whatever `kinds` says.
        kinds: Those of `"wordsim"`, `"sts"` (STS, SICK and Twitter) and `"phrases"` to return.
            Defaults to all that are found. Of SICK and Twitter, not the training part.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

    Raises:
        ConfigError: A kind or `on_bad_line` is unknown.
        DataError: The folder has no known set, the file is of another kind, or a file cannot be
            read.
    """
    chosen = _check_kinds(kinds)
    bad = BadLines.of(on_bad_line)
    if place is None:
        paths = {name: cached(name) for name, source in SOURCES.items() if source.kind == "wordsim"}
        return [
            starter_set(),
            *(
                read_wordsim(path, name=name, on_bad_line=bad)
                for name, path in paths.items()
                if path
            ),
        ]
    place = Path(place)
    if place.is_file():
        return [_read_file(place, chosen, bad)]
    if not place.is_dir():
        raise DataError(place, "no such file or folder to evaluate on")
    sets = [
        _read(form, path, name, bad)
        for form in _FORMATS
        if form.kind in chosen
        for name, path in sorted(form.find(place).items())
    ]
    if not sets:
        known = " or ".join(KINDS[kind] for kind in chosen)
        raise DataError(place, f"no known {known} in this folder")
    return sets


def _check_kinds(kinds: Iterable[str] | None) -> tuple[str, ...]:
    chosen = tuple(KINDS if kinds is None else kinds)
    for kind in chosen:
        if kind not in KINDS:
            raise ConfigError(unknown_name("kind of evaluation sets", kind, KINDS))
    return chosen


def _read(form: _Format, path: Path, name: str, bad: BadLines) -> ScoredPairs:
    if form is _SICK:
        return read_sick(path, split=name.partition(".")[2], on_bad_line=bad)
    return form.read(path, name=name, on_bad_line=bad)


def _read_file(path: Path, kinds: tuple[str, ...], bad: BadLines) -> ScoredPairs:
    named = next((form for form in _FORMATS if form.is_named(path)), None)
    form = named or _detect(path)
    if form.kind not in kinds:
        found, wanted = KINDS[form.kind], " or ".join(KINDS[kind] for kind in kinds)
        raise DataError(path, f"expected a {wanted}; this looks like a {found}")
    return form.read(path, on_bad_line=bad)


def _detect(path: Path) -> _Format:
    """Finds what a file is from its first line that is not blank."""
    cells = next((text.split("\t") for _, text in read_lines(path) if text.strip()), [])
    if is_sick_header(cells):
        return _SICK
    if is_twitter_row(cells):
        return _TWITTER
    if len(cells) < 3 or not is_number(cells[0]):
        return _WORDSIM
    if is_category(cells[1]) or (len(cells) > 3 and is_category(cells[3])):
        return _PAVLICK
    if len(cells) > 3 and cells[3].strip() in ("ENTAILMENT", "NEUTRAL", "CONTRADICTION"):
        return _SICK
    return _WORDSIM if is_number(cells[2]) else _STS
