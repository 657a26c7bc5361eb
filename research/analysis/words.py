"""Words of texts and their counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from tf_charagram.text._algorithm.batches import bounded_batches
from tf_charagram.text._algorithm.tensors import string_tensor
from tf_charagram.text.splitting import split_words

_BATCH, _BATCH_CHARS = 10_000, 4_000_000
_MAX_CHARS = 10_000


def split_texts(
    texts: Iterable[str | bytes], *, lowercase: bool, max_chars: int | None = None
) -> Iterator[list[str]]:
    """Yields the words of each text of a stream.

    Args:
        texts: The texts.
        lowercase: As for `split_words`.
        max_chars: As for `split_words`.
    """
    for batch in bounded_batches(texts, _BATCH, _BATCH_CHARS):
        for words in split_words(string_tensor(batch), lowercase, None, max_chars).to_list():
            yield [word.decode() for word in words]


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
