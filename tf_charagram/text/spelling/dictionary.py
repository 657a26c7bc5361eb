"""Known words, which misspelled ones are corrected to, and the characters words are made of.

Words consist of letters, digits and combining marks of Unicode 14.0, whatever the version of
Python. `tokens_of` finds them in strings and `marked` in the graph, by one table of characters.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from tf_charagram.errors import ConfigError
from tf_charagram.text.normalize import normalized_code_points
from tf_charagram.text.spelling.word_filter import WordFilter
from tf_charagram.text.tensors import decoded

#: Code points that are classified even outside the alphabet: up to the last emoji.
NUM_MARKED = 0x1FB00

#: Marks of letters and of other parts of words, in bits above the symbol; symbols between words are
#: unmarked.
LETTER = 1 << 24
OTHER = 2 << 24
#: Mask of the bits of the symbol.
SYMBOL = LETTER - 1

# Thai and Lao; Burmese; Khmer; Japanese syllabaries, twice; Chinese characters, four blocks;
# halfwidth Japanese; and the planes of rare Chinese characters.
_UNSPACED = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x31F0, 0x31FF),
    (0x2E80, 0x2FDF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0xFF66, 0xFF9F),
    (0x20000, 0x3FFFF),
)  # fmt: skip

_ASCII_RUN = re.compile(r"[a-z0-9]+")
_SEPARATOR = 0x0A
# Counts are stored as steps of their binary logarithm, one byte each.
_STEPS_PER_BIT = 4
_UTF8 = "dictionary_utf8"
_LOG_COUNTS = "dictionary_log_counts"
_RIGHT_WORDS = "dictionary_right_words"


class Dictionary:
    """Known words, most frequent first, then by code point.

    Words are lowercased like texts, character by character. Words with other characters than
    letters are skipped, because no word is corrected to them.

    Args:
        counts: Count of each word, at least 1. Only ratios matter, to about a tenth.
        right_words: Further correctly spelled words, such as names, which no word is corrected to.

    Attributes:
        words: The words.
        right_words: Further correctly spelled words, or `None`.

    Raises:
        ConfigError: There is no word of letters only.
    """

    def __init__(self, counts: Mapping[str, int], right_words: WordFilter | None = None) -> None:
        summed: Counter[str] = Counter()
        for word, count in counts.items():
            if word.isalpha():
                summed[_lowered(word)] += int(count)
        if not summed:
            raise ConfigError("A dictionary needs at least one word of letters only.")
        words = sorted(summed)
        steps = np.round([_STEPS_PER_BIT * math.log2(summed[word]) for word in words])
        self._use(words, np.minimum(steps, 255).astype(np.uint8), right_words)

    def _use(
        self, words: Sequence[str], steps: NDArray[np.uint8], right_words: WordFilter | None
    ) -> None:
        # Negative bytes would wrap around; a stable sort keeps equal counts by code point.
        order = np.argsort(-steps.astype(np.int16), kind="stable")
        self.words = [words[index] for index in order.tolist()]
        self._steps = steps[order]
        self.right_words = right_words

    def __len__(self) -> int:
        return len(self.words)

    @property
    def log_counts(self) -> NDArray[np.float32]:
        """Binary logarithms of the counts, float32 `(num_words,)`."""
        return (self._steps / _STEPS_PER_BIT).astype(np.float32)

    def with_right_words(self, right_words: WordFilter) -> Dictionary:
        """Returns this dictionary with other right words."""
        return self._of(self.words, self._steps, right_words)

    def respelled(self, spell: Callable[[list[str]], list[str]]) -> Dictionary:
        """Respells words with non-ASCII letters; merges words that become equal, adds their counts.

        Args:
            spell: Returns the spelling of each word.
        """
        words = [word for word in self.words if not word.isascii()]
        spelled = spell(words)
        if spelled == words:
            return self
        spelling = dict(zip(words, spelled, strict=True))
        counts: Counter[str] = Counter()
        for word, log_count in zip(self.words, self.log_counts.tolist(), strict=True):
            counts[spelling.get(word, word)] += round(2**log_count)
        return Dictionary(counts, self.right_words)

    def merged(self, other: Dictionary | None) -> Dictionary:
        """Adds the words of another dictionary; for common words, counts of this one are kept.

        Two filters of right words cannot be merged: the filter of this dictionary is kept, if any.
        """
        if other is None:
            return self
        steps = dict(zip(other.words, other._steps, strict=True))
        steps |= dict(zip(self.words, self._steps, strict=True))
        words = sorted(steps)
        merged_steps = np.array([steps[word] for word in words], np.uint8)
        right_words = self.right_words or other.right_words
        return self._of(words, merged_steps, right_words)

    @classmethod
    def _of(
        cls, words: Sequence[str], steps: NDArray[np.uint8], right_words: WordFilter | None
    ) -> Dictionary:
        dictionary = cls.__new__(cls)
        dictionary._use(words, steps, right_words)
        return dictionary

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Returns the words as named arrays, by code point, which compresses best."""
        order = sorted(range(len(self)), key=self.words.__getitem__)
        joined = "\n".join(self.words[index] for index in order)
        utf8 = np.frombuffer(joined.encode(), np.uint8)
        arrays = {_UTF8: utf8, _LOG_COUNTS: self._steps[order]}
        if self.right_words is not None:
            arrays[_RIGHT_WORDS] = self.right_words.bits
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Dictionary | None:
        """Restores a dictionary from `to_arrays()` among other arrays; `None` without these.

        Raises:
            KeyError: One of the arrays is missing.
            ValueError: The arrays do not go together.
        """
        if not {_UTF8, _LOG_COUNTS} & arrays.keys():
            return None
        utf8 = arrays[_UTF8]
        steps = arrays[_LOG_COUNTS]
        if utf8.ndim != 1 or utf8.dtype != np.uint8 or steps.dtype != np.uint8:
            raise ValueError("the dictionary must be bytes, with a byte for each word")
        if np.count_nonzero(utf8 == _SEPARATOR) + 1 != steps.size or steps.ndim != 1:
            raise ValueError("the dictionary must have as many counts as words")
        words = utf8.tobytes().decode().split("\n")
        if "" in words or not "".join(words).isalpha() or len({*words}) < len(words):
            raise ValueError("the words of the dictionary must be distinct, and of letters only")
        bits = arrays.get(_RIGHT_WORDS)
        if bits is not None and (bits.ndim != 1 or bits.dtype != np.uint8 or not bits.size):
            raise ValueError("the right words of the dictionary must be bytes")
        return cls._of(words, steps, None if bits is None else WordFilter(bits))


def without_dictionary(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Drops the arrays of `Dictionary.to_arrays`."""
    own = {_UTF8, _LOG_COUNTS, _RIGHT_WORDS}
    return {name: array for name, array in arrays.items() if name not in own}


def counts_of_entries(
    entries: Mapping[str, int], words_of: Callable[[Iterable[str]], Iterable[str]]
) -> Counter[str]:
    """Counts the words in a word list; "couldn't" is two words, as in texts.

    Args:
        entries: Count of each entry.
        words_of: Splits texts into words.
    """
    counts: Counter[str] = Counter()
    for entry, count in entries.items():
        for word in words_of((entry,)):
            counts[word] += count
    return counts


def normalized_words(texts: Iterable[str], unicode_form: str | None) -> Iterator[str]:
    """Yields the words of texts after Unicode normalization, if `unicode_form` is given."""
    if unicode_form is not None:
        form = cast(Literal["NFC"], unicode_form)
        texts = (unicodedata.normalize(form, text) for text in texts)
    return words_of(texts)


def words_of(texts: Iterable[str | bytes]) -> Iterator[str]:
    """Yields the lowercased words of texts that could be in a dictionary."""
    return filter(str.isalpha, tokens_of(texts))


def tokens_of(texts: Iterable[str | bytes]) -> Iterator[str]:
    """Yields the lowercased words and numbers of texts."""
    for text in map(decoded, texts):
        if text.isascii():
            # Most texts are, and a regular expression is faster than a look at each character.
            yield from _ASCII_RUN.findall(text.lower())
            continue
        for run in _runs(text):
            if is_in_word(run[0]):
                yield _lowered(run)


def replaced_words(text: str, others: Mapping[str, str]) -> str:
    """Replaces words of a text.

    Args:
        text: The text.
        others: Maps lowercase words to their replacements; all other words stay as written.
    """
    return "".join([others.get(_lowered(run), run) for run in _runs(text)])


def _runs(text: str) -> Iterator[str]:
    """Splits a text into words and runs of characters between words, by turns."""
    return ("".join(run) for _, run in groupby(text, is_in_word))


def _lowered(word: str) -> str:
    """Lowercases a word as texts are lowercased in the graph, one character to one."""
    if word.isascii():
        return word.lower()
    table = normalized_code_points()
    codes = [ord(char) for char in word]
    return "".join([chr(table[code] if code < len(table) else code) for code in codes])


@cache
def is_in_word(char: str) -> bool:
    """Returns whether a character belongs to words: a letter, a digit, or a combining mark."""
    return bool(_is_in_ranges("in_word", ord(char)))


def marked(symbols: np.ndarray, code_points: np.ndarray) -> np.ndarray:
    """Marks symbols of code points as letters, other parts of words, or neither; int32.

    Letters of scripts that put no spaces between words are other parts: between two spaces is a
    clause, not a word.

    Args:
        symbols: The symbol of each code point.
        code_points: The code point of each symbol; -1 for symbols of no or several code points.
    """
    is_letter = _is_in_ranges("letters", code_points)
    for first, last in _UNSPACED:
        is_letter &= (code_points < first) | (code_points > last)
    is_other = (code_points < 0) | _is_in_ranges("in_word", code_points)
    marks = np.where(is_letter, LETTER, np.where(is_other, OTHER, 0))
    # The last mark is for symbols past the end.
    marks = np.append(marks, 0).astype(np.int32)
    marks = marks[np.minimum(symbols, len(code_points))]
    # A symbol may stand for several characters, some of them between words.
    is_between = ~_is_in_ranges("in_word", np.arange(min(len(symbols), NUM_MARKED)))
    marks[: len(is_between)][is_between] = 0
    return symbols | marks


def _is_in_ranges(name: str, code_points: np.ndarray | int) -> np.ndarray:
    # Ranges start and end by turns, so inside is after an odd number of edges.
    num_edges = np.searchsorted(unicode_ranges()[name], code_points, side="right")
    return num_edges % 2 == 1


@cache
def unicode_ranges() -> dict[str, np.ndarray]:
    """Returns the code points at which a class of characters starts and ends, by turns.

    `decomposed` characters have another NFKD form; `in_word` are `marks` and alphanumeric ones.
    """
    # Made by `str.isalnum`, `str.isalpha` and `unicodedata` of Python 3.11.
    with np.load(Path(__file__).parents[1] / "unicode_14.npz") as file:
        return dict(file)
