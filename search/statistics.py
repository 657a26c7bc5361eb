"""`TextStatistics`: all that is counted in a list of texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tf_charagram._files.writing import check_free, whole_file
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.search._pairs.flat_arrays import NO_IDS, Ids, are_first, places_in
from tf_charagram.search._pairs.word_lists import WordHashes, WordLists, joined_hashes, word_hash
from tf_charagram.text._algorithm.arguments import strings_of

_ARRAYS = ("num_texts", "words", "counts", "hashes", "hash_counts")


@dataclass(frozen=True)
class TextStatistics:
    """Counts of words in a list of texts. A text can be prepared from them alone.

    They are made in one pass, and those of parts of a list can be merged, in any order.

    Attributes:
        num_texts: Number of texts.
        words: Distinct words, sorted.
        counts: Number of texts with each word, int64 `(num_words,)`.
        hashes: Hashes of two and three adjacent words, joined, uint64, ascending `(num_joined,)`.
        hash_counts: How often each occurs, int64 `(num_joined,)`.

    Examples:
        >>> parts = [TextStatistics.of_texts(["wal mart", "cat"]), TextStatistics.of_texts(["cat"])]
        >>> statistics = TextStatistics.merged(parts)
        >>> statistics.num_texts, dict(zip(statistics.words, statistics.counts.tolist()))
        (3, {'cat': 2, 'mart': 1, 'wal': 1})
    """

    num_texts: int
    words: list[str]
    counts: Ids
    hashes: NDArray[np.uint64]
    hash_counts: Ids

    @classmethod
    def of_texts(cls, texts: Iterable[str | bytes]) -> TextStatistics:
        """Counts words in texts.

        Raises:
            ConfigError: `texts` is a single string or contains other values.
        """
        return cls.of_words(WordLists.of_texts(strings_of(texts)))

    @classmethod
    def of_words(
        cls, lists: WordLists, counts: NDArray[np.integer] | None = None
    ) -> TextStatistics:
        """Counts words in texts that are given as their words.

        Args:
            lists: The words of the texts.
            counts: How often each text counts, `(num_texts,)`. Default: once.
        """
        num_texts = len(lists) if counts is None else int(counts.sum())
        hashes = [np.zeros(0, np.uint64)]
        weights: list[NDArray[np.integer]] = [NO_IDS]
        for rows, values in joined_hashes(lists):
            hashes.append(values)
            weights.append(np.ones(len(rows), np.int64) if counts is None else counts[rows])
        joined = _summed(np.concatenate(hashes), np.concatenate(weights))
        return cls(num_texts, *_sorted_words(lists.words, lists.document_counts(counts)), *joined)

    @classmethod
    def merged(cls, parts: Sequence[TextStatistics]) -> TextStatistics:
        """Sums up the counts of parts of a list."""
        totals: dict[str, int] = {}
        for part in parts:
            for word, count in zip(part.words, part.counts.tolist(), strict=True):
                totals[word] = totals.get(word, 0) + count
        joined = _summed(
            np.concatenate([np.zeros(0, np.uint64), *(part.hashes for part in parts)]),
            np.concatenate([NO_IDS, *(part.hash_counts for part in parts)]),
        )
        counts = np.array(list(totals.values()), np.int64)
        num_texts = sum(part.num_texts for part in parts)
        return cls(num_texts, *_sorted_words(list(totals), counts), *joined)

    @cached_property
    def index(self) -> dict[str, int]:
        """The place of each word."""
        return {word: place for place, word in enumerate(self.words)}

    @cached_property
    def word_hashes(self) -> NDArray[np.uint64]:
        """Hashes of the words, ascending, `(num_words,)`."""
        return np.sort(WordHashes.of_words(self.words).values)

    @cached_property
    def spelled_counts(self) -> Ids:
        """Number of texts with each word, also in parts that are joined: `wal mart`, `walmart`."""
        places = places_in(self.hashes, WordHashes.of_words(self.words).values)
        # The last count is of all words that are not joined.
        joined_counts = np.append(self.hash_counts, 0)
        return np.minimum(self.counts + joined_counts[places], self.num_texts)

    def is_joined(self, word: str) -> bool:
        """Tells whether a text has the parts of a word, or of another one by a tiny chance."""
        return bool(places_in(self.hashes, np.array([word_hash(word)]))[0] >= 0)

    @property
    def letter_words(self) -> dict[str, int]:
        """The words of letters only, as dictionaries have them, with their counts."""
        counts = zip(self.words, self.counts.tolist(), strict=True)
        return {word: count for word, count in counts if word.isalpha()}

    @property
    def num_chars(self) -> int:
        """Number of letters of all words."""
        lengths = np.array([len(word) for word in self.words], np.int64)
        return int(lengths @ self.counts)

    def save(self, path: str | Path) -> None:
        """Writes a new file, whole or not at all.

        Raises:
            RunError: The file exists or cannot be written.
        """
        path = Path(path)
        check_free(path)
        with whole_file(path, "wb") as file:
            self.write(file)

    def write(self, file: IO[bytes]) -> None:
        """Writes the arrays of `save` to an open file."""
        letters = "\n".join(self.words).encode("utf-8", "surrogatepass")
        np.savez(
            file,
            num_texts=np.int64(self.num_texts),
            words=np.frombuffer(letters, np.uint8),
            counts=self.counts,
            hashes=self.hashes,
            hash_counts=self.hash_counts,
        )

    @classmethod
    def load(cls, path: str | Path) -> TextStatistics:
        """Loads saved statistics.

        Raises:
            RunError: The file is missing or damaged.
        """
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
                found: dict[str, Any] = {name: arrays[name] for name in _ARRAYS}
            letters = found["words"].tobytes().decode("utf-8", "surrogatepass")
            # Words contain no white space.
            words = letters.split("\n") if letters else []
            if len(words) != len(found["counts"]):
                raise ValueError(f"{len(words):,} words, {len(found['counts']):,} counts")
            if len(found["hashes"]) != len(found["hash_counts"]):
                raise ValueError("hashes and their counts differ in number")
        # A damaged archive may raise nearly anything.
        except Exception as error:
            raise RunError(f"{path} has no statistics of texts: {error}") from error
        others = [found[name] for name in ("counts", "hashes", "hash_counts")]
        return cls(int(found["num_texts"]), words, *others)


def check_statistics(statistics: Any) -> None:
    """Raises a `ConfigError` for anything but statistics."""
    if not isinstance(statistics, TextStatistics):
        raise ConfigError(
            "`statistics` must be TextStatistics, as of `TextStatistics.of_texts(texts)`. "
            f"Received: {type(statistics).__name__}"
        )


def _sorted_words(words: Sequence[str], counts: Ids) -> tuple[list[str], Ids]:
    """Sorts words, so that statistics do not depend on the order of texts and parts."""
    order = sorted(range(len(words)), key=words.__getitem__)
    return [words[place] for place in order], counts[order]


def _summed(values: NDArray[np.uint64], counts: Ids) -> tuple[NDArray[np.uint64], Ids]:
    """Returns distinct values, ascending, and the sums of their counts."""
    order = np.argsort(values)
    values = values[order]
    starts = np.flatnonzero(are_first(values))
    if not len(starts):
        return values, counts
    return values[starts], np.add.reduceat(counts[order], starts)
