"""Training pairs: two columns, PPDB's format, or two aligned files."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.readers.columns import PAIR_NAMES, is_csv, read_records
from tf_charagram.data.readers.lines import read_lines
from tf_charagram.data.readers.scored import is_number
from tf_charagram.errors import ConfigError, DataError, unknown_name

Pair = tuple[str, str]

_HEADERS = {
    *PAIR_NAMES,
    ("text", "paraphrase"),
    ("phrase", "paraphrase"),
    ("word1", "word2"),
    ("s1", "s2"),
    ("anchor", "positive"),
    ("query", "answer"),
}
_PPDB_SEPARATOR = " ||| "
_ENTAILMENT_TYPES = (
    "Equivalence",
    "ForwardEntailment",
    "ReverseEntailment",
    "Exclusion",
    "OtherRelated",
    "Independent",
)
_SCORE = "PPDB2.0Score"
_SCORE_VALUE = re.compile(rf"(?:^|\s){re.escape(_SCORE)}=(\S+)")


def read_pairs(
    path: str | Path,
    *,
    on_bad_line: str | BadLines = "error",
    min_score: float | None = None,
    entailment: str | Sequence[str] | None = None,
) -> Iterator[Pair]:
    """Streams the pairs of one file, whose first non-blank line tells the format.

    Two tab-separated texts, or comma-separated ones with quotes if the file name ends in `.csv`:
    blank lines are skipped, and a first line of well-known column names (such as `text1 text2`) is
    a header. The Paraphrase Database (PPDB), version 1.0 (Ganitkevitch et al. 2013) or 2.0 (Pavlick
    et al. 2015): `LHS ||| phrase ||| paraphrase ||| features ||| alignment [||| entailment]`. Texts
    are returned as they are in the file, including equal and empty ones; `PairCorpus` decides which
    pairs to train on.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.
        min_score: Smallest `PPDB2.0Score` to keep; PPDB 2.0 only. Defaults to all.
        entailment: Entailment type or types to keep; PPDB 2.0 only. Defaults to all.

    Returns:
        An iterator over `(text, paraphrase)`.

    Raises:
        ConfigError: An argument is wrong; raised by the call itself.
        DataError: While iterating: the file cannot be read, has a bad line or no pair, or
            lacks a field that a filter needs.
    """
    types = (entailment,) if isinstance(entailment, str) else entailment
    if min_score is not None and not math.isfinite(min_score):
        raise ConfigError(f"`min_score` must be a finite number. Received: min_score={min_score}")
    for name in types or ():
        if name not in _ENTAILMENT_TYPES:
            raise ConfigError(unknown_name("entailment type", name, _ENTAILMENT_TYPES))
    return _pairs(path, BadLines.of(on_bad_line), min_score, types)


def _pairs(
    path: str | Path, bad: BadLines, min_score: float | None, types: Sequence[str] | None
) -> Iterator[Pair]:
    rows = read_records(path)
    first = next(rows, None)
    if first is None:
        raise DataError(path, "no pairs found: the file is empty")
    is_ppdb = len(first[1]) == 1 and _PPDB_SEPARATOR in first[1][0]
    _check_filters(path, first[1][0] if is_ppdb else None, min_score, types)
    parse: Callable[[Sequence[str]], Pair | None]
    if is_ppdb:
        parse = partial(_ppdb_pair, min_score=min_score, types=types)
    else:
        parse = partial(_two_texts, separator="comma" if is_csv(path) else "tab")
    if tuple(cell.strip().lower() for cell in first[1]) not in _HEADERS:
        rows = itertools.chain([first], rows)
    num_lines = num_bad = num_pairs = 0
    for number, cells in rows:
        num_lines += 1
        try:
            pair = parse(cells)
        except ValueError as error:
            num_bad += 1
            bad.report(path, number, str(error))
            continue
        if pair is not None:
            num_pairs += 1
            yield pair
    if not num_pairs:
        others = ", the others filtered out" if num_bad < num_lines else ""
        raise DataError(
            path,
            f"no pairs found: {num_lines} lines, {bad.summary()}{others}. Check the format and the "
            "filters.",
        )


def _two_texts(cells: Sequence[str], separator: str) -> Pair:
    if len(cells) != 2:
        is_hinted = separator == "tab" and "," in cells[0]
        hint = "; commas separate texts only in .csv files" if is_hinted else ""
        raise ValueError(f"expected 2 {separator}-separated texts, found {len(cells)}{hint}")
    return cells[0], cells[1]


def _check_filters(
    path: str | Path, first: str | None, min_score: float | None, types: Sequence[str] | None
) -> None:
    """Checks that a file has the fields of the filters, given its first line if it is PPDB."""
    kind = "a tab-separated file, not PPDB 2.0" if first is None else "a PPDB 1.0 file"
    remedy = "Give a PPDB 2.0 file, or remove this filter."
    if min_score is not None and (first is None or _SCORE not in first):
        raise DataError(path, f"`min_score` needs {_SCORE}, but this is {kind}. {remedy}")
    if types is not None and (first is None or first.count(_PPDB_SEPARATOR) == 4):
        raise DataError(path, f"`entailment` needs its types, but this is {kind}. {remedy}")


def _ppdb_pair(
    cells: Sequence[str], min_score: float | None, types: Sequence[str] | None
) -> Pair | None:
    """Returns the pair of a line of PPDB, or `None` if it is filtered out."""
    fields = "\t".join(cells).split(_PPDB_SEPARATOR)
    if len(fields) not in (5, 6):
        raise ValueError(f"expected 5 or 6 fields separated by '|||', found {len(fields)}")
    _, phrase, paraphrase, features, _, *entailment = fields
    if types is not None:
        if not entailment:
            raise ValueError("expected a 6th field, the entailment type, found 5 fields")
        if entailment[0] not in types:
            return None
    # The score "NA" is NaN, which passes no minimum.
    if min_score is not None and not _ppdb_score(features) >= min_score:
        return None
    return phrase, paraphrase


def _ppdb_score(features: str) -> float:
    match = _SCORE_VALUE.search(features)
    if match is None:
        raise ValueError(f"expected the feature {_SCORE}, but it is missing")
    if match[1] == "NA":
        return math.nan
    if not is_number(match[1]):
        raise ValueError(f"expected a number for feature {_SCORE}, found '{match[1]}'")
    return float(match[1])


def read_aligned(left: str | Path, right: str | Path) -> Iterator[Pair]:
    """Streams the pairs of two files that correspond line by line, such as those of SimpWiki.

    If a line has tabs, as in SimpWiki's second version (article, paragraph, sentence), its last
    cell is the text.

    Args:
        left: File of the first texts, plain or gzip.
        right: File of the second ones.

    Raises:
        DataError: While iterating: a file cannot be read, one has more lines than the other, or
            both are empty.
    """
    num_pairs = 0
    for first, second in itertools.zip_longest(read_lines(left), read_lines(right)):
        if first is None or second is None:
            short, long = (left, right) if first is None else (right, left)
            raise DataError(
                short,
                f"expected as many lines as in {long}, found only {num_pairs:,}. The two files "
                "must correspond line by line; get both again.",
            )
        num_pairs += 1
        yield first[1].rpartition("\t")[2], second[1].rpartition("\t")[2]
    if not num_pairs:
        raise DataError(left, "no pairs found: the file is empty")
