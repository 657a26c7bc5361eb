"""Words of texts and their counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from tf_charagram.text.splitting import split_texts

_BATCH = 10_000
_MAX_CHARS = 10_000


def words_of(texts: Iterable[str]) -> Iterator[list[str]]:
    """Yields the lowercase words and punctuation marks of each text, as word encoders split it."""
    return split_texts(texts, lowercase=True, max_chars=_MAX_CHARS)


def seen_in(queries: Sequence[str], texts: Iterable[str]) -> set[str]:
    """Returns the queries whose words follow each other in one of the texts, ignoring case.

    A query may have several words.
    """
    wanted = dict(zip(queries, map(_spaced, words_of(queries)), strict=True))
    seen: set[str] = set()
    spaced = map(_spaced, words_of(texts))
    while batch := list(islice(spaced, _BATCH)):
        lines = "\n".join(batch)
        seen.update(query for query, words in wanted.items() if words in lines)
    return seen


def _spaced(words: Iterable[str]) -> str:
    return f" {' '.join(words)} "


def count_words(texts: Iterable[str]) -> Counter[str]:
    """Counts the words of a stream of texts."""
    return Counter(chain.from_iterable(words_of(texts)))
