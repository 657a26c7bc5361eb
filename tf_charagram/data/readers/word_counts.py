"""Counts of words, from a list or from texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import chain, islice
from pathlib import Path

from tf_charagram.data.readers.lines import read_lines
from tf_charagram.errors import DataError

#: Splits texts into words.
WordsOf = Callable[[Iterable[str]], Iterable[str]]

# Python does not convert thousands of digits.
_COUNT = re.compile(r"(\S.*?)[ \t]+(\d{1,18})")
_NUM_PROBED = 20


def read_word_counts(path: str | Path, words_of: WordsOf, min_count: int = 1) -> Counter[str]:
    """Reads a list of counts, or counts the words of a corpus.

    Args:
        path: File, plain or gzip: `word count` per line, separated by spaces or a tab. If one of
            the first 20 non-blank lines differs, every line is a text.
        words_of: Splits texts into words.
        min_count: Rarer words of texts are left out; lists are read whole.

    Raises:
        DataError: The file cannot be read, or a line of a list has no count.
    """
    rest = ((number, text) for number, text in read_lines(path) if text.strip())
    probed = list(islice(rest, _NUM_PROBED))
    lines = chain(probed, rest)
    if all(_COUNT.fullmatch(text.strip()) for _, text in probed):
        return _listed(path, lines)
    counts = Counter(words_of(text for _, text in lines))
    return Counter({word: count for word, count in counts.items() if count >= min_count})


def _listed(path: str | Path, lines: Iterable[tuple[int, str]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for number, text in lines:
        match = _COUNT.fullmatch(text.strip())
        if match is None:
            raise DataError(path, "expected a word and its count", line=number)
        counts[match[1]] += int(match[2])
    return counts
