"""The known words, which misspelled ones are corrected to."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tf_charagram._common.weights import STEPS_PER_WEIGHT
from tf_charagram.errors import ConfigError
from tf_charagram.text._algorithm.word_boundaries import lowered
from tf_charagram.text._spelling.sureness import NUM_WEIGHTS
from tf_charagram.text._spelling.word_filter import WordFilter

# Counts are stored as steps of their binary logarithm, one byte each.
_STEPS_PER_BIT = 4
_MAX_STEPS = 255
_UTF8 = "dictionary_utf8"
_LOG_COUNTS = "dictionary_log_counts"
# Files keep the name they were first written with.
_ACCEPTED_WORDS = "dictionary_right_words"
_SURENESS = "dictionary_sureness"
_WEIGHTS = "dictionary_weights"
#: Weights have less than this number of steps, and are stored as bytes.
MAX_WEIGHT_STEPS = 128
#: Weights grow with the bits of information of words to this power, between two limits.
WEIGHT_POWER = 0.3
MIN_BITS, MAX_BITS = 3.0, 24.0
# Chosen on SICK's trial part and headlines of 2013, where 300 and 30,000 are as good.
_PRIOR_WORDS = 3000


class Dictionary:
    """Known words, most frequent first, then by code point.

    Words are lowercased like texts, character by character. Words with other characters than
    letters are skipped, because no word is corrected to them.

    Args:
        counts: Count of each word, at least 1. Only ratios matter, to about a tenth.
        accepted_words: Further correctly spelled words, such as names. They are left as they are
            written, and no word is corrected to them.
        sureness: The weights of `Sureness`, int32 `(NUM_WEIGHTS,)`. Without, all readings are sure.

    Attributes:
        words: The words.
        accepted_words: Further correctly spelled words, or `None`.
        sureness: The weights of `Sureness`, or `None`.
        weight_steps: How much the n-grams of each word count, and last, those of all other words,
            in steps of `1 / STEPS_PER_WEIGHT`, uint8 `(num_words + 1,)`; `None` if all count 1.

    Raises:
        ConfigError: There is no word of letters only.
    """

    def __init__(
        self,
        counts: Mapping[str, int],
        accepted_words: WordFilter | None = None,
        sureness: NDArray[np.int32] | None = None,
    ) -> None:
        summed: Counter[str] = Counter()
        for word, count in counts.items():
            if word.isalpha():
                summed[lowered(word)] += int(count)
        words = sorted(summed)
        steps = np.array([_steps_of(summed[word]) for word in words], np.uint8)
        self._use(words, steps, accepted_words, sureness, None)

    def _use(
        self,
        words: Sequence[str],
        steps: NDArray[np.uint8],
        accepted_words: WordFilter | None,
        sureness: NDArray[np.int32] | None,
        weight_steps: NDArray[np.uint8] | None,
    ) -> None:
        if not words:
            raise ConfigError("A dictionary needs at least one word of letters only.")
        # Negative bytes would wrap around; a stable sort keeps equal counts by code point.
        order = np.argsort(-steps.astype(np.int16), kind="stable")
        self.words = [words[index] for index in order.tolist()]
        self._steps = steps[order]
        self.accepted_words = accepted_words
        self.sureness = sureness
        self.weight_steps = None
        if weight_steps is not None:
            self.weight_steps = weight_steps[np.append(order, len(words))]

    def __len__(self) -> int:
        return len(self.words)

    @property
    def log_counts(self) -> NDArray[np.float32]:
        """Binary logarithms of the counts, float32 `(num_words,)`."""
        log_counts = self._steps / _STEPS_PER_BIT
        return log_counts.astype(np.float32)

    def with_accepted_words(self, accepted_words: WordFilter) -> Dictionary:
        """Returns this dictionary with other accepted words."""
        return self._of(self.words, self._steps, accepted_words, self.sureness, self.weight_steps)

    def with_sureness(self, sureness: NDArray[np.int32]) -> Dictionary:
        """Returns this dictionary with other weights of `Sureness`."""
        return self._of(self.words, self._steps, self.accepted_words, sureness, self.weight_steps)

    def with_weights(self, weights: Mapping[str, float], other: float) -> Dictionary:
        """Returns this dictionary with weights of words.

        Args:
            weights: The weight of each word, above 0 and below 4; words that are missing here
                have the weight `other`.
            other: The weight of all words that are not in the dictionary.
        """
        values = [weights.get(word, other) for word in self.words]
        values.append(other)
        return self._with_weights(np.array(values))

    def _with_weights(self, weights: NDArray[np.float64]) -> Dictionary:
        """Returns this dictionary with the weights of its words, and last, of all other words."""
        steps = np.round(weights * STEPS_PER_WEIGHT)
        steps = np.clip(steps, 1, MAX_WEIGHT_STEPS - 1)
        weight_steps = steps.astype(np.uint8)
        return self._of(self.words, self._steps, self.accepted_words, self.sureness, weight_steps)

    def weighed_by(self, counts: Mapping[str, int]) -> Dictionary:
        """Returns this dictionary with words that count by their rarity in some texts, too.

        The weight of a word is multiplied by (bits in these texts / bits in the dictionary)^0.3,
        where bits are the information of the word. Without weights, this dictionary is returned.

        Args:
            counts: How often words occur in the texts; words that are not in the dictionary are
                skipped.
        """
        if self.weight_steps is None:
            return self
        own_counts = [counts.get(word, 0) for word in self.words]
        own = np.array(own_counts, np.float64)
        usual = np.exp2(self.log_counts.astype(np.float64))
        usual /= usual.sum()
        # Few texts say little about words: they count as much as usual ones of so many words.
        shares = (own + _PRIOR_WORDS * usual) / (own.sum() + _PRIOR_WORDS)
        bits = np.clip(-np.log2(shares), MIN_BITS, MAX_BITS)
        usual_bits = np.clip(-np.log2(usual), MIN_BITS, MAX_BITS)
        weights = self.weight_steps / STEPS_PER_WEIGHT
        weights[:-1] *= (bits / usual_bits) ** WEIGHT_POWER
        return self._with_weights(weights)

    def respelled(self, spell: Callable[[list[str]], list[str]]) -> Dictionary:
        """Respells words with non-ASCII letters; merges words that become equal, adds their counts.

        Args:
            spell: Returns the spelling of each word.
        """
        words = [word for word in self.words if not word.isascii()]
        spelled = spell(words)
        if spelled == words:
            return self
        steps = dict(zip(self.words, self._steps.tolist(), strict=True))
        respelled: Counter[str] = Counter()
        for word, new in zip(words, spelled, strict=True):
            if word != new:
                count = _count_of(steps.pop(word))
                if new.isalpha():
                    respelled[lowered(new)] += count
        for word, count in respelled.items():
            # Of a word that is spelled so already, both counts.
            step = steps.get(word)
            steps[word] = _steps_of(count if step is None else count + _count_of(step))
        words = sorted(steps)
        counts = np.array([steps[word] for word in words], np.uint8)
        weight_steps = self._weight_steps_of(words)
        return self._of(words, counts, self.accepted_words, self.sureness, weight_steps)

    def _weight_steps_of(self, words: Sequence[str]) -> NDArray[np.uint8] | None:
        """Returns the `weight_steps` of other words; new ones have the weight of other words."""
        if self.weight_steps is None:
            return None
        num_words = len(self)
        places = dict(zip(self.words, range(num_words), strict=True))
        rows = [places.get(word, num_words) for word in words]
        return self.weight_steps[[*rows, num_words]]

    def merged(self, other: Dictionary | None) -> Dictionary:
        """Adds the words of another dictionary; for common words, counts of this one are kept.

        Filters of accepted words and weights of sureness cannot be merged: those of this dictionary
        are kept, if any. Words that it lacks have its weight of other words.
        """
        if other is None:
            return self
        known = set(self.words)
        is_new = np.array([word not in known for word in other.words])
        new_steps = other._steps[is_new]
        # Both are sorted, and sorting all words again takes several times as long.
        falling = -self._steps.astype(np.int16)
        new_falling = -new_steps.astype(np.int16)
        starts = falling.searchsorted(new_falling).tolist()
        stops = falling.searchsorted(new_falling, "right").tolist()
        new_words = np.array(other.words, object)[is_new]
        places = list(map(partial(bisect_left, self.words), new_words, starts, stops))
        words = np.insert(np.array(self.words, object), places, new_words).tolist()
        weight_steps = self.weight_steps
        if weight_steps is not None:
            weight_steps = np.insert(weight_steps, places, weight_steps[-1])
        return self._of(
            words,
            np.insert(self._steps, places, new_steps),
            self.accepted_words or other.accepted_words,
            other.sureness if self.sureness is None else self.sureness,
            weight_steps,
        )

    @classmethod
    def _of(cls, *parts: Any) -> Dictionary:
        dictionary = cls.__new__(cls)
        dictionary._use(*parts)
        return dictionary

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Returns the words as named arrays, by code point, which compresses best."""
        order = sorted(range(len(self)), key=self.words.__getitem__)
        words = [self.words[index] for index in order]
        joined = "\n".join(words)
        arrays: dict[str, np.ndarray] = {
            _UTF8: np.frombuffer(joined.encode(), np.uint8),
            _LOG_COUNTS: self._steps[order],
        }
        if self.accepted_words is not None:
            arrays[_ACCEPTED_WORDS] = self.accepted_words.bits
        if self.sureness is not None:
            arrays[_SURENESS] = self.sureness
        if self.weight_steps is not None:
            arrays[_WEIGHTS] = self.weight_steps[[*order, len(self)]]
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
        if not (_is_bytes(utf8) and _is_bytes(steps)):
            raise ValueError("the dictionary must be bytes, with a byte for each word")
        joined = utf8.tobytes().decode()
        words = joined.split("\n")
        if len(words) != len(steps):
            raise ValueError("the dictionary must have as many counts as words")
        is_distinct = len(set(words)) == len(words)
        if "" in words or not is_distinct or not "".join(words).isalpha():
            raise ValueError("the words of the dictionary must be distinct, and of letters only")
        accepted_words = None
        bits = arrays.get(_ACCEPTED_WORDS)
        if bits is not None:
            if not _is_bytes(bits) or not len(bits):
                raise ValueError("the accepted words of the dictionary must be bytes")
            accepted_words = WordFilter(bits)
        sureness = arrays.get(_SURENESS)
        if sureness is not None and sureness.shape != (NUM_WEIGHTS,):
            raise ValueError(f"the sureness of the dictionary must be {NUM_WEIGHTS} weights")
        weight_steps = arrays.get(_WEIGHTS)
        if weight_steps is not None:
            is_whole = _is_bytes(weight_steps) and len(weight_steps) == len(words) + 1
            if not is_whole or weight_steps.max() >= MAX_WEIGHT_STEPS:
                raise ValueError(
                    "the weights of the dictionary must be bytes below "
                    f"{MAX_WEIGHT_STEPS}, for each word and for all others"
                )
        return cls._of(words, steps, accepted_words, sureness, weight_steps)


def _count_of(step: int) -> int:
    """Returns the count that a step stands for."""
    return round(2 ** (step / _STEPS_PER_BIT))


def _steps_of(count: int) -> int:
    return min(round(_STEPS_PER_BIT * math.log2(count)), _MAX_STEPS)


def _is_bytes(array: np.ndarray) -> bool:
    return array.ndim == 1 and array.dtype == np.uint8


def without_dictionary(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Drops the arrays of `Dictionary.to_arrays`."""
    own = {_UTF8, _LOG_COUNTS, _ACCEPTED_WORDS, _SURENESS, _WEIGHTS}
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
