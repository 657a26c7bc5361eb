"""Lists of misspellings: wrong forms and their corrections, in common formats."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tf_charagram.data._tables.lines import BadLines, read_lines
from tf_charagram.errors import DataError

_RIGHT = "$"
# In Wikipedia's list and in codespell's dictionary.
_ARROW = "->"
_HEADERS = {("wrong", "right"), ("misspelling", "correction")}
# Holbrook's list has the count of each wrong form.
_COUNT = re.compile(r"\s+\d+$")


class Misspelling(NamedTuple):
    """A wrong form, and the right forms it may stand for."""

    wrong: str
    right: tuple[str, ...]


def read_misspellings(
    path: str | Path, *, on_bad_line: str | BadLines = "error"
) -> list[Misspelling]:
    """Reads a list of misspellings, whose first non-blank line tells the format.

    * wrong form, tab, right form; a first line `wrong`, tab, `right` is a header;
    * Birkbeck, Holbrook, Aspell: `$right`, then a line for each wrong form, optionally with a
      count; `_` stands for a space;
    * Wikipedia: `wrong->right` or `wrong->right, right`.

    Forms are stripped and otherwise returned as they are; repeated and equal forms are kept.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

    Raises:
        ConfigError: `on_bad_line` is unknown.
        DataError: The file cannot be read, a line is bad, or it has no misspelling.
    """
    bad = BadLines.of(on_bad_line)
    parse: Callable[[str], Misspelling | None] | None = None
    misspellings = []
    for number, text in read_lines(path):
        if not text.strip():
            continue
        if parse is None:
            parse = _parser(text)
            if tuple(text.strip().lower().split("\t")) in _HEADERS:
                continue
        try:
            misspelling = parse(text)
        except ValueError as error:
            bad.report(path, number, str(error))
            continue
        if misspelling is not None:
            misspellings.append(misspelling)
    if not misspellings:
        reason = "the file is empty" if parse is None else bad.summary()
        raise DataError(path, f"no misspellings found: {reason}")
    return misspellings


def _parser(first: str) -> Callable[[str], Misspelling | None]:
    """Returns the parser of a file by its first line; it gives `None` for `$right` lines."""
    if first.startswith(_RIGHT):
        return _BelowRight()
    if "\t" in first or _ARROW not in first:
        return _parse_tsv
    return _parse_arrow


class _BelowRight:
    """Parses `$right` and the wrong forms below it."""

    def __init__(self) -> None:
        self._right = ""

    def __call__(self, text: str) -> Misspelling | None:
        # Birkbeck's list has underscores for spaces.
        text = text.replace("_", " ")
        if text.startswith(_RIGHT):
            self._right = text.removeprefix(_RIGHT).strip()
            return None
        return _misspelling(_COUNT.sub("", text), [self._right])


def _parse_arrow(text: str) -> Misspelling:
    wrong, arrow, right = text.partition(_ARROW)
    if not arrow:
        raise ValueError(f"expected a wrong form, {_ARROW} and right forms, found no {_ARROW}")
    return _misspelling(wrong, right.split(","))


def _parse_tsv(text: str) -> Misspelling:
    forms = text.split("\t")
    if len(forms) != 2:
        raise ValueError(f"expected a wrong and a right form by a tab, found {len(forms)} columns")
    return _misspelling(forms[0], forms[1:])


def _misspelling(wrong: str, right: list[str]) -> Misspelling:
    wrong = wrong.strip()
    forms = [form.strip() for form in right if form.strip()]
    if not wrong:
        raise ValueError("expected two forms, but the wrong one is empty")
    if not forms:
        raise ValueError("expected two forms, but the right one is empty")
    return Misspelling(wrong, tuple(forms))
