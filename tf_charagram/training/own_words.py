"""Words of new texts that the model of `init` does not know and would read as others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby

from tf_charagram.data.readers.word_counts import WordsOf
from tf_charagram.text.dictionary import Dictionary, words_of
from tf_charagram.text.reading import TextReader
from tf_charagram.text.tensors import string_tensor

#: Minimum occurrences of a word: a rarer one may be a typing error.
MIN_COUNT = 5
# Nor is a word known if it is so much rarer than the one it is read as: of `english` and 1.2
# million words of papers on language, "chunking", read as "clunking", is, and "tookit" is not.
_TIMES_RARER = 10
# About 250 MB of counts. Texts without end, such as logs, have words without end.
_MAX_WORDS = 2_000_000


class WordCounts:
    """Counts the words of texts while they are read for something else.

    Beyond two million words the rarest are forgotten, and counted from zero when they come again.

    Args:
        words_of: Returns the words of texts.

    Attributes:
        counts: How often each word has occurred so far.
    """

    def __init__(self, words_of: WordsOf = words_of) -> None:
        self._words_of = words_of
        self.counts: Counter[str] = Counter()

    def of(self, texts: Iterable[str]) -> Iterator[str]:
        """Yields the texts unchanged, and counts their words."""
        for text in texts:
            self.counts.update(self._words_of((text,)))
            if len(self.counts) > _MAX_WORDS:
                self.counts = Counter(dict(self.counts.most_common(_MAX_WORDS // 2)))
            yield text

    def own_words(self, known: Dictionary) -> Dictionary | None:
        """Returns the words that are to be known besides those of a dictionary; `None` if none.

        They occur five times or more, and at least a tenth as often as the word that they would be
        read as, of the dictionary or of the texts; most misspellings do not.
        """
        own: dict[str, int] = {}
        for words in self._unknown(known):
            before = known.merged(Dictionary(own)) if own else known
            for word, other in zip(words, _corrected(words, before), strict=True):
                if word == other or self.counts[word] * _TIMES_RARER >= self.counts[other]:
                    own[word] = self.counts[word]
        return Dictionary(own) if own else None

    def _unknown(self, known: Dictionary) -> Iterator[list[str]]:
        """Yields frequent words that are not known, the most frequent ones first.

        Those that come together are about as frequent, so that none is a misspelling of another.
        """
        frequent = {word for word, count in self.counts.items() if count >= MIN_COUNT}
        unknown = sorted(frequent - set(known.words), key=lambda word: (-self.counts[word], word))
        for _, words in groupby(
            unknown, lambda word: int(math.log(self.counts[word] / MIN_COUNT, _TIMES_RARER))
        ):
            yield list(words)


def _corrected(words: list[str], known: Dictionary) -> list[str]:
    """Returns what words are read as with a dictionary."""
    reader = TextReader(None, known, lowercase=True, unicode_form=None, max_chars=None)
    codes = reader(string_tensor([" ".join(words)])).symbols.numpy()
    return "".join(map(chr, codes.tolist())).split()
