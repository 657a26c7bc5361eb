"""Words of new texts that a model to go on from does not know, but would take for others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from tf_charagram.text.dictionary import Dictionary, words_of
from tf_charagram.text.reading import TextReader
from tf_charagram.text.tensors import string_tensor

#: Fewest occurrences of a word: one that is rarer may be a typing error.
MIN_COUNT = 5
# Nor is a word known that is so much rarer than the one it is read as: of `english` and 1.2 million
# words of papers on language, "chunking", read as "clunking", is, and "tookit" is not.
_TIMES_RARER = 10


class WordCounts:
    """Counts the words of texts while they are read for something else.

    Attributes:
        counts: How often each word has occurred so far.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def of(self, texts: Iterable[str]) -> Iterator[str]:
        """Yields the texts as they are, their words counted."""
        for text in texts:
            self.counts.update(words_of((text,)))
            yield text

    def own_words(self, known: Dictionary) -> Dictionary | None:
        """Returns the words that are to be known besides those of a dictionary; `None` if none.

        They occur five times or more, and at least a tenth as often as the word that the dictionary
        alone has them read as, which most misspellings do not.
        """
        frequent = {word for word, count in self.counts.items() if count >= MIN_COUNT}
        unknown = sorted(frequent - set(known.words))
        read_as = zip(unknown, _corrected(unknown, known), strict=True)
        own = {
            word: self.counts[word]
            for word, other in read_as
            if word == other or self.counts[word] * _TIMES_RARER >= self.counts[other]
        }
        return Dictionary(own) if own else None


def _corrected(words: list[str], known: Dictionary) -> list[str]:
    """Returns what words are read as with a dictionary."""
    if not words:
        return []
    reader = TextReader(None, known, lowercase=True, unicode_form=None, max_chars=None)
    codes = reader(string_tensor([" ".join(words)])).symbols.numpy()
    return "".join(map(chr, codes.tolist())).split()
