"""Counts the words of texts, and finds the frequent words that a model would misread."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from tf_charagram.errors import ConfigError
from tf_charagram.models._storage.stored_model import read_dictionary
from tf_charagram.text._algorithm.batches import bounded_batches
from tf_charagram.text._algorithm.symbols import Symbols
from tf_charagram.text._algorithm.word_boundaries import words_of
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text._spelling.kept_words import kept_words

#: Minimum occurrences of a word of a dictionary; rarer ones may be typos.
MIN_COUNT = 5
# A word may be a tenth as frequent as the known word it would be read as. With `english` and 1.2
# million words of papers on linguistics, this keeps "chunking" (read as "clunking"), not "tookit".
_MAX_TIMES_RARER = 10
# About 250 MB of counts. Texts without end, such as logs, have words without end.
_MAX_WORDS = 2_000_000


def own_words(model: str | Path, texts: Iterable[str]) -> dict[str, int]:
    """Counts the words of texts that are too frequent to be misspellings of other words.

    Args:
        model: Model folder, run folder, or name of a shipped model.
        texts: The texts.

    Returns:
        The words that the dictionary of the model lacks, with their counts; without a dictionary,
        which would misread them, no words.

    Raises:
        RunError: The folder is not a model, or is damaged.
    """
    known = read_dictionary(model)
    if known is None:
        return {}
    words = WordCounts()
    deque(words.of(texts), maxlen=0)
    return words.own_words(known)


def word_options(
    model: str | Path, texts: Iterable[str], keep_words: str | None, own_weights: bool
) -> dict[str, Any]:
    """Returns options with which `TextReader.load` reads and weighs the words of texts.

    Args:
        model: Model folder, run folder, or name of a shipped model.
        texts: The texts, or the first of them.
        keep_words: File of words that are read as written; `None` for `own_words`.
        own_weights: Whether words are weighed by their rarity in the texts, too.

    Raises:
        ConfigError: `own_weights`, and the model does not weigh words.
        RunError: The folder is not a model, or is damaged.
    """
    words = WordCounts()
    known = read_dictionary(model)
    if own_weights and (known is None or known.weight_steps is None):
        raise ConfigError(f"--own-weights needs a model that weighs words. Received: {model}")
    if own_weights or keep_words is None:
        deque(words.of(texts), maxlen=0)
    options: dict[str, Any] = {"keep_words": keep_words}
    if keep_words is None and known is not None:
        options["keep_words"] = words.own_words(known)
    if own_weights:
        options["word_counts"] = words.counts
    return options


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
        """Yields the texts after their words are counted."""
        for batch in bounded_batches(texts):
            self.counts.update(self._words_of(batch))
            if len(self.counts) > _MAX_WORDS:
                self.counts = Counter(dict(self.counts.most_common(_MAX_WORDS // 2)))
            yield from batch

    def own_words(self, known: Dictionary) -> dict[str, int]:
        """Returns the frequent words that a dictionary lacks, with their counts.

        They occur at least five times, and at least a tenth as often as the word that they would be
        read as, of the dictionary or of the texts, or as the rarest of several; most misspellings
        are rarer.
        """
        own: dict[str, int] = {}
        for words in self._unknown(known):
            # More frequent own words count as known: others may be their misspellings.
            dictionary = known.merged(kept_words(own))
            symbols = Symbols(None, dictionary)
            changed = symbols.corrections(words)
            for word in words:
                count = self.counts[word]
                parts = changed.get(word, word).split()
                if count * _MAX_TIMES_RARER >= min(self.counts[part] for part in parts):
                    own[word] = count
        return own

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
