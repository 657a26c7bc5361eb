"""The trees of the Stanford Sentiment Treebank (Socher et al. 2013), one per line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.readers.bracketed import PIECE
from tf_charagram.data.readers.lines import read_lines
from tf_charagram.errors import DataError

#: From very negative to very positive.
FINE_LABELS = ("0", "1", "2", "3", "4")
#: Negative, negative, neutral (left out), positive, positive: as in the binary flat files.
BINARY_LABELS = {"0": "0", "1": "0", "3": "1", "4": "1"}

_TREE = re.compile(r"\s*\(\d\s.*\)\s*")
_ESCAPES = {"-lrb-": "(", "-rrb-": ")", "\\/": "/", "\\*": "*"}
_ESCAPED = re.compile("|".join(map(re.escape, _ESCAPES)), re.IGNORECASE)


def read_trees(
    path: str | Path,
    *,
    phrases: bool = False,
    fine_labels: bool = False,
    on_bad_line: str | BadLines = "error",
) -> list[tuple[str, str]]:
    """Reads the sentences of `train.txt`, `dev.txt` or `test.txt`, or all their phrases.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        phrases: Whether every constituent counts, each text once for each of its labels, instead
            of every sentence as often as it is there.
        fine_labels: Whether the labels are the five of the trees, `"0"` very negative to `"4"` very
            positive, instead of `"0"` negative and `"1"` positive, without the neutral ones.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

    Returns:
        Text and label; the words of a text are separated by one space.

    Raises:
        ConfigError: `on_bad_line` is unknown.
        DataError: The file cannot be read, a line is bad, or there is no text.
    """
    bad = BadLines.of(on_bad_line)
    rows: list[tuple[str, str]] = []
    for number, line in read_lines(path):
        if not line.strip():
            continue
        try:
            texts = constituents(line)
        except ValueError as error:
            bad.report(path, number, str(error))
            continue
        rows += texts if phrases else texts[:1]
    if not fine_labels:
        rows = [(text, BINARY_LABELS[label]) for text, label in rows if label in BINARY_LABELS]
    if not rows:
        raise DataError(path, f"no texts found: {bad.summary()}")
    return list(dict.fromkeys(rows)) if phrases else rows


def is_tree(line: str) -> bool:
    """Returns whether a line looks like a tree of the treebank.

    Example:
        >>> is_tree("(3 (2 It) (4 sings))"), is_tree("It sings")
        (True, False)
    """
    return _TREE.fullmatch(line) is not None


def constituents(line: str) -> list[tuple[str, str]]:
    """Returns text and label of every constituent of a tree, the whole sentence first.

    A `ValueError` says what is wrong with the tree. Its depth does not matter.

    Example:
        >>> constituents("(3 (2 It) (4 sings))")
        [('It sings', '3'), ('sings', '4'), ('It', '2')]
    """
    words: list[str] = []
    opened: list[tuple[str, int]] = []
    closed: list[tuple[int, int, str]] = []
    tokens = iter(PIECE.findall(line))
    for token in tokens:
        if closed and not opened:
            raise ValueError(f"expected one tree, found '{token}' after its end")
        if token == "(":
            opened.append((_label(tokens), len(words)))
        elif not opened:
            raise ValueError(f"expected a tree such as (3 (2 It) (4 sings)), found '{token}'")
        elif token == ")":
            label, start = opened.pop()
            if start == len(words):
                raise ValueError(f"expected a word in each constituent, found none in '({label})'")
            closed.append((start, len(words), label))
        else:
            words.append(unescape(token))
    if opened:
        raise ValueError(f"expected a closed tree, found {len(opened)} open brackets at its end")
    return [(" ".join(words[start:end]), label) for start, end, label in reversed(closed)]


def unescape(text: str) -> str:
    r"""Returns a text with what the Penn Treebank writes for brackets, slash and star undone.

    Example:
        >>> unescape(r"-LRB- a and\/or b -RRB-")
        '( a and/or b )'
    """
    return _ESCAPED.sub(lambda match: _ESCAPES[match.group().lower()], text)


def _label(tokens: Iterable[str]) -> str:
    label = next(iter(tokens), "nothing")
    if label not in FINE_LABELS:
        raise ValueError(f"expected a label from 0 to 4 after '(', found '{label}'")
    return label
