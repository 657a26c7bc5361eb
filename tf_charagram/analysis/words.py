"""The words of texts, and how often they occur."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

from tf_charagram.text.splitting import split_words
from tf_charagram.text.tensors import string_tensor

_BATCH = 10_000
_MAX_CHARS = 10_000


def words_of(texts: Sequence[str]) -> list[list[str]]:
    """Returns the words and punctuation marks of each text, lower-cased, as word encoders do."""
    words: list[list[str]] = []
    for start in range(0, len(texts), _BATCH):
        batch = string_tensor(texts[start : start + _BATCH])
        ragged = split_words(batch, True, None, _MAX_CHARS)
        words += [[word.decode() for word in row] for row in ragged.to_list()]
    return words


def seen_in(queries: Sequence[str], texts: Iterable[str]) -> set[str]:
    """Returns the queries whose words follow each other in one of some texts, in any case.

    A query may have several words, and `words_of` divides some that are written as one.
    """
    wanted = {
        query: f" {' '.join(words)} "
        for query, words in zip(queries, words_of(queries), strict=True)
    }
    seen: set[str] = set()
    texts = iter(texts)
    while batch := list(islice(texts, _BATCH)):
        lines = "\n".join(f" {' '.join(words)} " for words in words_of(batch))
        seen.update(query for query, words in wanted.items() if words in lines)
    return seen


def count_words(texts: Iterable[str]) -> Counter[str]:
    """Returns how often each word occurs in some texts, which are read as a stream."""
    counts: Counter[str] = Counter()
    texts = iter(texts)
    while batch := list(islice(texts, _BATCH)):
        for words in words_of(batch):
            counts.update(words)
    return counts
