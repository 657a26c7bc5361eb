"""Readers of texts with labels: tables, and trees of the Stanford Sentiment Treebank."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from tf_charagram.data._tables.columns import ColumnOptions, Labelled, read_labelled
from tf_charagram.data._tables.lines import STDIN, BadLines, read_lines
from tf_charagram.data._tables.scored import set_name
from tf_charagram.data._tables.table_reading import format_of
from tf_charagram.errors import ConfigError, DataError

#: Binary labels of the labels from very negative to very positive; neutral texts are left out.
_BINARY = {"0": "0", "1": "0", "3": "1", "4": "1"}
_TREE = re.compile(r"\s*\(\d\s.*\)\s*")
_PIECE = re.compile(r"\((?P<label>[0-4])(?![^()\s])|(?P<end>\))|(?P<word>[^()\s]+)|(?P<other>\()")
# Brackets, slash and star as the Penn Treebank writes them.
_ESCAPES = {"-lrb-": "(", "-rrb-": ")", "\\/": "/", "\\*": "*"}
_ESCAPED = re.compile("|".join(map(re.escape, _ESCAPES)), re.IGNORECASE)


def read_labelled_texts(
    path: str | Path,
    *,
    phrases: bool = False,
    fine_labels: bool = False,
    name: str | None = None,
    **options: Unpack[ColumnOptions],
) -> Labelled:
    """Reads texts with labels from a table, or from trees of the Stanford Sentiment Treebank.

    Penn Treebank escapes such as `-LRB-` become brackets in both, because some tables of the
    treebank have them and others do not.

    Args:
        path: File, plain or gzip. A table may be standard input, `"-"`.
        phrases: Whether to read every distinct constituent of trees instead of the sentences.
        fine_labels: Whether to keep the five labels of trees.
        name: Name of the set. Default: the file name without suffix.
        **options: Options of tables: `columns`, `header`, `split` and `on_bad_line`.

    Raises:
        ConfigError: An argument is wrong or does not fit the file.
        DataError: The file cannot be read, lacks a column, has a bad line or no texts.
    """
    if not options.get("columns") and _has_trees(path):
        on_bad_line = options.get("on_bad_line", "error")
        rows = read_trees(path, phrases=phrases, fine_labels=fine_labels, on_bad_line=on_bad_line)
        texts = [text for text, _ in rows]
        labels = [label for _, label in rows]
        return Labelled(name or set_name(path), (texts,), labels)
    if phrases or fine_labels:
        raise ConfigError(f"The parts of `sst` are for trees. Received a table: {path}")
    table = read_labelled(path, 1, name=name, **options)
    [texts] = table.sides
    return replace(table, sides=([_unescape(text) for text in texts],))


def read_trees(
    path: str | Path,
    *,
    phrases: bool = False,
    fine_labels: bool = False,
    on_bad_line: str | BadLines = "error",
) -> list[tuple[str, str]]:
    """Reads trees, one per line, as in `train.txt` (Socher et al. 2013).

    Args:
        path: File, plain or gzip.
        phrases: Whether to return every distinct constituent instead of the sentences.
        fine_labels: Whether to return labels from `"0"`, very negative, to `"4"`, very positive,
            instead of `"0"`, negative, and `"1"`, positive, without neutral texts.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

    Returns:
        Texts and labels.

    Raises:
        ConfigError: `on_bad_line` is unknown.
        DataError: The file cannot be read, a line is bad, or there are no texts.
    """
    bad = BadLines.of(on_bad_line)
    rows: list[tuple[str, str]] = []
    for number, line in read_lines(path):
        if not line.strip():
            continue
        try:
            found = _constituents(line)
        except ValueError as error:
            bad.report(path, number, str(error))
        else:
            rows += found if phrases else found[:1]
    if not fine_labels:
        rows = [(text, _BINARY[label]) for text, label in rows if label in _BINARY]
    if not rows:
        raise DataError(path, f"no texts found: {bad.summary()}")
    return list(dict.fromkeys(rows)) if phrases else rows


def _constituents(line: str) -> list[tuple[str, str]]:
    """Returns text and label of every constituent of a tree, the whole sentence first.

    Raises:
        ValueError: It is not a tree.

    Examples:
        >>> _constituents("(3 (2 It) (4 sings))")
        [('It sings', '3'), ('sings', '4'), ('It', '2')]
    """
    problem = ValueError("expected a tree such as (3 (2 It) (4 sings)), with labels from 0 to 4")
    words: list[str] = []
    # Open brackets: label and first word. Closed brackets: first word, end and label.
    opened: list[tuple[str, int]] = []
    closed: list[tuple[int, int, str]] = []
    for match in _PIECE.finditer(line):
        if match["other"] or (closed and not opened):
            raise problem
        if match["label"]:
            opened.append((match["label"], len(words)))
        elif not opened:
            raise problem
        elif match["word"]:
            words.append(_unescape(match["word"]))
        else:
            label, start = opened.pop()
            if start == len(words):
                raise problem
            closed.append((start, len(words), label))
    if opened or not closed:
        raise problem
    # The bracket of the sentence is closed last.
    return [(" ".join(words[start:end]), label) for start, end, label in reversed(closed)]


def _unescape(text: str) -> str:
    r"""Replaces Penn Treebank escapes.

    Examples:
        >>> _unescape(r"-LRB- a and\/or b -RRB-")
        '( a and/or b )'
    """
    return _ESCAPED.sub(lambda match: _ESCAPES[match.group().lower()], text)


def _has_trees(path: str | Path) -> bool:
    """Returns whether the first line that is not blank is a tree."""
    # Standard input can be read only once.
    if str(path) == STDIN or format_of(path) == ".parquet":
        return False
    for _, text in itertools.islice(read_lines(path), 100):
        if text.strip():
            return _TREE.fullmatch(text) is not None
    return False
