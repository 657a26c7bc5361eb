"""Counts the words of texts, and finds the words that a dictionary would misread."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from tf_charagram.text.reading import SymbolReader
from tf_charagram.text.spelling.dictionary import Dictionary
from tf_charagram.text.word_boundaries import words_of

#: Minimum occurrences of a word of a dictionary; rarer ones may be typos.
MIN_COUNT = 5
# A word may be a tenth as frequent as the known word it would be read as. With `english` and 1.2
# million words of papers on linguistics, this keeps "chunking" (read as "clunking"), not "tookit".
_MAX_TIMES_RARER = 10
# About 250 MB of counts. Texts without end, such as logs, have words without end.
_MAX_WORDS = 2_000_000


class WordCounts:
    """Counts the words of texts while another consumer reads them.

    Beyond two million words the rarest are dropped, and counted from zero if they occur again.

    Args:
        words_of: Splits texts into words.

    Attributes:
        counts: Occurrences of each word so far.
    """

    def __init__(self, words_of: Callable[[Iterable[str]], Iterable[str]] = words_of) -> None:
        self._words_of = words_of
        self.counts: Counter[str] = Counter()

    def of(self, texts: Iterable[str]) -> Iterator[str]:
        """Yields the texts, and counts their words."""
        for text in texts:
            self.counts.update(self._words_of((text,)))
            if len(self.counts) > _MAX_WORDS:
                self.counts = Counter(dict(self.counts.most_common(_MAX_WORDS // 2)))
            yield text

    def own_words(self, known: Dictionary) -> Dictionary | None:
        """Returns words that a dictionary lacks and would misread; `None` without any.

        They occur at least five times, and at least a tenth as often as the word that they would be
        read as, of the dictionary or of the texts, or as the rarest of several; most misspellings
        are rarer.
        """
        own: dict[str, int] = {}
        for words in self._unknown(known):
            # More frequent own words count as known: others may be their misspellings.
            dictionary = known.merged(Dictionary(own)) if own else known
            reader = SymbolReader(
                None,
                dictionary,
                lowercase=True,
                unicode_form=None,
                max_chars=None,
            )
            read = reader.read_words(words)
            for word, other in zip(words, read, strict=True):
                count = self.counts[word]
                part_counts = [self.counts[part] for part in other.split()]
                is_frequent = count * _MAX_TIMES_RARER >= min(part_counts)
                if word == other or is_frequent:
                    own[word] = count
        return Dictionary(own) if own else None

    def _unknown(self, known: Dictionary) -> Iterator[list[str]]:
        """Yields frequent unknown words, the most frequent first.

        Words of a list are about equally frequent, so they are not misspellings of one another.
        """
        known_words = set(known.words)
        # In ascending order of both: the most frequent first, then by code point.
        unknown = [
            (-count, word)
            for word, count in self.counts.items()
            if count >= MIN_COUNT and word not in known_words
        ]
        words = [word for _, word in sorted(unknown)]
        for _, group in groupby(words, self._magnitude):
            yield list(group)

    def _magnitude(self, word: str) -> int:
        times_minimum = self.counts[word] / MIN_COUNT
        return int(math.log(times_minimum, _MAX_TIMES_RARER))
