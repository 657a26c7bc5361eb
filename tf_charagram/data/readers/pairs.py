"""Training pairs: two tab-separated texts per line, or the official PPDB format."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tf_charagram.bad_lines import BadLines
from tf_charagram.data.readers.lines import read_lines
from tf_charagram.data.readers.ppdb import SEPARATOR, PpdbFilter, parse_ppdb_line
from tf_charagram.errors import DataError

Pair = tuple[str, str]

_HEADERS = {
    ("text", "paraphrase"),
    ("text1", "text2"),
    ("sentence1", "sentence2"),
    ("phrase", "paraphrase"),
    ("word1", "word2"),
    ("s1", "s2"),
    ("left", "right"),
}


def read_pairs(
    path: str | Path,
    *,
    on_bad_line: str | BadLines = "error",
    min_score: float | None = None,
    entailment: str | Sequence[str] | None = None,
) -> Iterator[Pair]:
    """Streams the pairs of one file; its first line that is not blank tells the format.

    Two tab-separated texts: blank lines are skipped, and a first line of well-known column
    names (such as `text1 text2`) is a header. PPDB 1.0 and 2.0: see `ppdb.py`. Texts are
    as in the file; two equal texts are a pair, and so is a pair with an empty side: whether to
    train on it is for `PairCorpus` to say.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.
        min_score: Smallest `PPDB2.0Score` to keep; PPDB 2.0 only. Defaults to all.
        entailment: Entailment type or types to keep; PPDB 2.0 only. Defaults to all.

    Returns:
        An iterator over `(text, paraphrase)`.

    Raises:
        ConfigError: An argument is wrong; raised by the call itself.
        DataError: While iterating: the file cannot be read, has a bad line, no pair, or
            lacks what a filter needs.
    """
    return _pairs(path, BadLines.of(on_bad_line), PpdbFilter(min_score, entailment))


def _pairs(path: str | Path, bad: BadLines, ppdb_filter: PpdbFilter) -> Iterator[Pair]:
    lines: Iterator[tuple[int, str]]
    lines = ((number, text) for number, text in read_lines(path) if not _is_blank(text))
    first = next(lines, None)
    if first is None:
        raise DataError(path, "no pairs found: the file is empty")
    if _is_ppdb(first[1]):
        parse = _ppdb_parser(path, ppdb_filter)
    else:
        ppdb_filter.check_file(path, None)
        parse = _parse_tsv
    if not _is_header(*first):
        lines = itertools.chain([first], lines)
    num_lines = num_pairs = 0
    for number, text in lines:
        num_lines += 1
        try:
            pair = parse(text)
        except DataError:
            raise
        except ValueError as error:
            bad.report(path, number, str(error))
            continue
        if pair is not None:
            num_pairs += 1
            yield pair
    if not num_pairs:
        counts = f"{num_lines} lines, {bad.summary()}, the others filtered out"
        raise DataError(path, f"no pairs found: {counts}. Check the format and the filters.")


def _is_blank(text: str) -> bool:
    # A tab alone is two empty texts, not a blank line.
    return not text.strip() and "\t" not in text


def _is_ppdb(text: str) -> bool:
    return SEPARATOR in text and "\t" not in text


def _is_header(number: int, text: str) -> bool:
    return number == 1 and tuple(name.strip().lower() for name in text.split("\t")) in _HEADERS


def _parse_tsv(text: str) -> Pair:
    texts = text.split("\t")
    if len(texts) != 2:
        raise ValueError(f"expected 2 tab-separated texts, found {len(texts)}")
    return texts[0], texts[1]


def _ppdb_parser(path: str | Path, ppdb_filter: PpdbFilter) -> Callable[[str], Pair | None]:
    """Returns a parser that gives `None` for what the filter drops, and checks the first entry."""
    is_first = True

    def parse(text: str) -> Pair | None:
        nonlocal is_first
        entry = parse_ppdb_line(text)
        if is_first:
            ppdb_filter.check_file(path, entry)
            is_first = False
        return (entry.phrase, entry.paraphrase) if ppdb_filter.keeps(entry) else None

    return parse
