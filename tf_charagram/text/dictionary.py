"""A list of known words and how often they occur, which misspelled words are compared with."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from tf_charagram.errors import ConfigError
from tf_charagram.text.normalize import normalized_code_points
from tf_charagram.text.tensors import decoded, texts_of
from tf_charagram.text.validation import check_counting
from tf_charagram.text.word_characters import is_in_word

_ASCII_RUN = re.compile(r"[a-z0-9]+")
_SEPARATOR = 0x0A
# Counts are kept as steps of their binary logarithm, so that a byte holds them.
_STEPS_PER_BIT = 4
_UTF8, _LOG_COUNTS = "dictionary_utf8", "dictionary_log_counts"


class Dictionary:
    """Known words, most frequent first; of equally frequent ones the first by code point.

    Words are lower-cased as texts are, character by character. What is not made of letters alone
    is left out, for no word is corrected to it.

    Args:
        counts: How often each word occurs, at least once. Only ratios matter, and these to a tenth.

    Attributes:
        words: The words.
        log_counts: Binary logarithms of their counts, float32 `(num_words,)`.

    Raises:
        ConfigError: There is no word of letters alone, or a count is no integer above 0.
    """

    def __init__(self, counts: Mapping[str, int]) -> None:
        summed: Counter[str] = Counter()
        for word, count in counts.items():
            if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
                raise ConfigError(
                    f"The count of a word must be an integer above 0. Received: {word!r}: {count!r}"
                )
            if word.isalpha():
                summed[_lowered(word)] += int(count)
        if not summed:
            raise ConfigError("A dictionary needs at least one word of letters alone.")
        words = sorted(summed)
        steps = np.round([_STEPS_PER_BIT * math.log2(summed[word]) for word in words])
        self._use(words, np.minimum(steps, 255).astype(np.uint8))

    def _use(self, words: Sequence[str], steps: NDArray[np.uint8]) -> None:
        """Takes words by code point, and the steps of their logarithms."""
        order = np.argsort(-steps.astype(np.int16), kind="stable")
        self.words = [words[index] for index in order.tolist()]
        self._steps = steps[order]

    @classmethod
    def from_texts(
        cls, texts: Iterable[str], *, min_count: int = 1, max_words: int | None = None
    ) -> Dictionary:
        """Counts the words of texts.

        Args:
            texts: The texts, read once, as a stream.
            min_count: Fewest occurrences a word needs. One that occurs once may be a typing error.
            max_words: Keep only this many, the most frequent ones.

        Raises:
            ConfigError: An argument is out of range, or no word is left.
        """
        check_counting(min_count, max_words=max_words)
        counts = Counter(words_of(texts_of(texts, "texts")))
        frequent = [(-count, word) for word, count in counts.items() if count >= min_count]
        return cls({word: -count for count, word in sorted(frequent)[:max_words]})

    def __len__(self) -> int:
        return len(self.words)

    @property
    def log_counts(self) -> NDArray[np.float32]:
        """Binary logarithms of the counts, float32 `(num_words,)`."""
        return (self._steps / _STEPS_PER_BIT).astype(np.float32)

    def merged(self, other: Dictionary | None) -> Dictionary:
        """Returns the words of both; a word that both have is as frequent as in this one."""
        if other is None:
            return self
        steps = dict(zip(other.words, other._steps, strict=True))
        steps |= dict(zip(self.words, self._steps, strict=True))
        words = sorted(steps)
        return self._of(words, np.array([steps[word] for word in words], np.uint8))

    @classmethod
    def _of(cls, words: Sequence[str], steps: NDArray[np.uint8]) -> Dictionary:
        dictionary = cls.__new__(cls)
        dictionary._use(words, steps)
        return dictionary

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Returns the words as named arrays, by code point, in which they compress best."""
        order = sorted(range(len(self)), key=self.words.__getitem__)
        joined = "\n".join(self.words[index] for index in order)
        return {_UTF8: np.frombuffer(joined.encode(), np.uint8), _LOG_COUNTS: self._steps[order]}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Dictionary | None:
        """Restores what `to_arrays` returned from these and other arrays; `None` if there is none.

        Raises:
            KeyError: One of the arrays is missing.
            ValueError: The arrays do not go together.
        """
        if not {_UTF8, _LOG_COUNTS} & arrays.keys():
            return None
        utf8, steps = arrays[_UTF8], arrays[_LOG_COUNTS]
        if utf8.ndim != 1 or utf8.dtype != np.uint8 or steps.dtype != np.uint8:
            raise ValueError("the dictionary is no bytes with a byte for each word")
        if np.count_nonzero(utf8 == _SEPARATOR) + 1 != steps.size or steps.ndim != 1:
            raise ValueError("the dictionary has not as many counts as words")
        words = utf8.tobytes().decode().split("\n")
        if "" in words or not "".join(words).isalpha() or len({*words}) < len(words):
            raise ValueError("the words of the dictionary are not of letters, or not distinct")
        return cls._of(words, steps)


def without_dictionary(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Returns some arrays without those of a dictionary, which `Dictionary.to_arrays` names."""
    return {name: array for name, array in arrays.items() if name not in (_UTF8, _LOG_COUNTS)}


def counts_of_entries(
    entries: Mapping[str, int], words_of: Callable[[Iterable[str]], Iterable[str]]
) -> Counter[str]:
    """Returns the counts of the words of a list, whose entry "couldn't" is two, as in texts."""
    counts: Counter[str] = Counter()
    for entry, count in entries.items():
        for word in words_of((entry,)):
            counts[word] += count
    return counts


def normalized_words(texts: Iterable[str], unicode_form: str | None) -> Iterator[str]:
    """Yields the words of texts in a form of normalization; `None` leaves them as they are."""
    if unicode_form is not None:
        form = cast(Literal["NFC"], unicode_form)
        texts = (unicodedata.normalize(form, text) for text in texts)
    return words_of(texts)


def words_of(texts: Iterable[str | bytes]) -> Iterator[str]:
    """Yields the words of texts that could be in a dictionary, lower-cased."""
    for text in map(decoded, texts):
        if text.isascii():
            yield from filter(str.isalpha, _ASCII_RUN.findall(text.lower()))
            continue
        runs = "".join(char if is_in_word(char) else " " for char in text).split(" ")
        yield from (_lowered(run) for run in runs if run.isalpha())


def check_dictionary(dictionary: Any) -> None:
    """Checks that a value is a dictionary or `None`.

    Raises:
        ConfigError: It is neither.
    """
    if dictionary is not None and not isinstance(dictionary, Dictionary):
        raise ConfigError(
            "`dictionary` must be a `Dictionary`, such as `Dictionary.from_texts(texts)`. "
            f"Received: {type(dictionary).__name__}"
        )


def _lowered(word: str) -> str:
    if word.isascii():
        return word.lower()
    table = normalized_code_points()
    return "".join(chr(table[ord(char)]) if ord(char) < len(table) else char for char in word)
