"""Training pairs from files, the starter set or downloads, read again in every pass, not kept."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from tf_charagram._files.writing import check_is_file
from tf_charagram.data._tables.lines import BadLines
from tf_charagram.data.download import SOURCES, fetch
from tf_charagram.data.readers.pairs import Pair, read_aligned, read_pairs
from tf_charagram.data.starter import STARTER, train_pairs
from tf_charagram.data.typos import add_typos_to_a_side
from tf_charagram.errors import ConfigError, DataError, unknown_name

logger = logging.getLogger(__name__)

#: Separates the names of two aligned files.
FILES_SEPARATOR = "::"
_NUM_LISTED = 100_000
# A value with such a suffix is meant as a file, so an error names no data sets.
_SUFFIXES = (".tsv", ".txt", ".gz", ".csv", ".jsonl", ".parquet")

#: Reads pairs, given the policy for bad lines.
ReadPairs: TypeAlias = Callable[[BadLines], Iterator[Pair]]


class Example(NamedTuple):
    """A pair to train on.

    Attributes:
        left: First text.
        right: Second text.
        original: The texts before typos were added, for comparing texts.
    """

    left: str
    right: str
    original: Pair

    @property
    def has_typos(self) -> bool:
        """Whether typos were added."""
        return (self.left, self.right) != self.original


class PairCorpus:
    """Paraphrase pairs to iterate over, in the order of the sources and of their lines.

    Every pass reads the sources again and gives the same examples, so memory does not depend on
    their number. Pairs with a blank side are left out and counted.

    Args:
        sources: The readers of the sources.
        bad_lines: Policy for bad lines, which are counted in the pass of `survey`.
        weights: How often the pairs of each source count: 2 is every pair twice, 0.5 a random half
            of them. Default: 1.
        typos: Share of the pairs, chosen at random, to add a second time with 1 to 3 typos
            in one side.
        seed: Seed of all random choices.

    Attributes:
        num_pairs: Examples of a pass. `survey` sets this attribute and the following ones.
        num_chars: Characters in all texts of a pass.
        num_empty: Pairs left out because a side is blank.
        listed: The first distinct texts, up to 100,000.

    Raises:
        ConfigError: `typos` is out of range.
    """

    def __init__(
        self,
        sources: Sequence[ReadPairs],
        bad_lines: BadLines,
        *,
        weights: Sequence[float] = (),
        typos: float = 0.0,
        seed: int = 0,
    ) -> None:
        if not 0.0 <= typos <= 1.0:
            raise ConfigError(f"`typos` must be in [0, 1]. Received: {typos}")
        self._sources = list(zip(sources, weights or [1.0] * len(sources), strict=True))
        self._bad_lines = bad_lines
        self._typos = typos
        self._seed = seed
        self.num_pairs = 0
        self.num_chars = 0
        self.num_empty = 0
        self.listed: list[str] = []

    def survey(self) -> Iterator[str]:
        """Reads all sources once; counts the examples and yields each text once per pair.

        This includes pairs that a weight below 1 leaves out. Pairs with typos are counted, but
        their texts are only yielded by `texts_with_typos`.

        Raises:
            ConfigError: At the end: fewer than two pairs are left, so there are no negatives.
        """
        self.num_pairs = self.num_chars = self.num_empty = 0
        listed: dict[str, None] = {}
        for example, copies in self._examples(self._bad_lines):
            self.num_pairs += copies
            self.num_chars += copies * (len(example.left) + len(example.right))
            if example.has_typos:
                continue
            for text in (example.left, example.right):
                if copies and len(listed) < _NUM_LISTED:
                    listed[text] = None
                yield text
        self.listed = list(listed)
        if self.num_empty:
            logger.warning("left out %d pairs with an empty text", self.num_empty)
        if self.num_pairs < 2:
            raise ConfigError(
                f"Training needs at least 2 pairs, because the negatives of a pair come from the "
                f"others. Found: {self.num_pairs}"
            )

    def texts_with_typos(self) -> Iterator[str]:
        """Reads all sources once, if typos are added, and yields the texts of such pairs."""
        if self._typos:
            for example, _ in self._examples(BadLines(self._bad_lines.on_bad_line)):
                if example.has_typos:
                    yield from example[:2]

    def __iter__(self) -> Iterator[Example]:
        """Yields the examples.

        Raises:
            DataError: They differ from the examples of `survey`: a file has changed meanwhile.
        """
        num_pairs = num_chars = 0
        for example, copies in self._examples(BadLines(self._bad_lines.on_bad_line)):
            num_pairs += copies
            num_chars += copies * (len(example.left) + len(example.right))
            if num_pairs > self.num_pairs:
                break
            for _ in range(copies):
                yield example
        # Streams, steps and the vocabulary were made for the numbers of the survey.
        if (num_pairs, num_chars) != (self.num_pairs, self.num_chars):
            raise DataError(
                "training pairs",
                "a file has changed since it was first read. Start again with --resume or "
                "--overwrite.",
            )

    def _examples(self, bad_lines: BadLines) -> Iterator[tuple[Example, int]]:
        """Yields examples and how often each counts, 0 if only its texts do."""
        random = np.random.default_rng(self._seed)
        num_empty = 0
        for read, weight in self._sources:
            whole, fraction = divmod(weight, 1.0)
            for pair in read(bad_lines):
                if not (pair[0].strip() and pair[1].strip()):
                    num_empty += 1
                    continue
                # The fraction of a weight is the probability of one more copy.
                copies = int(whole) + (fraction > 0.0 and random.random() < fraction)
                yield Example(*pair, pair), copies
                if copies and self._typos and random.random() < self._typos:
                    edited = add_typos_to_a_side(pair, random)
                    if edited is not None:
                        yield Example(*edited, pair), 1
        self.num_empty = num_empty


def pairs_reader(name: str, *, columns: Sequence[str] = (), header: bool = True) -> ReadPairs:
    """Returns the reader of a `--data` value of pairs.

    Args:
        name: A file, two aligned files `A::B`, `starter`, or the name of a data set.
        columns: Names or numbers of the columns of the two texts; for tables only.
        header: Whether the first line of CSV and TSV has the names of the columns.

    Raises:
        ConfigError: There is no such file and no such name.
        DataError: There is no such file, or a download failed.
    """
    return partial(_read_pairs, pairs_files(name), columns, header)


def _read_pairs(
    files: Sequence[Path], columns: Sequence[str], header: bool, bad_lines: BadLines
) -> Iterator[Pair]:
    if not files:
        return train_pairs()
    if len(files) == 2:
        return read_aligned(*files)
    return read_pairs(files[0], columns=columns, header=header, on_bad_line=bad_lines)


def pairs_files(name: str) -> tuple[Path, ...]:
    """Returns the files of a `--data` value of pairs: two for `A::B`, no file for the starter set.

    Raises:
        ConfigError: There is no such file and no such name.
        DataError: There is no such file, or a download failed.
    """
    left, separator, right = name.partition(FILES_SEPARATOR)
    if separator:
        files = Path(left), Path(right)
        for path in files:
            check_is_file(path, f"; {name} means two files that correspond line by line")
        return files
    return () if name == STARTER else (_pairs_file(name),)


def _pairs_file(name: str) -> Path:
    """Resolves a path or data set name to a file; downloads it if needed."""
    path = Path(name)
    if path.is_file():
        return path
    source = SOURCES.get(name)
    if source is not None and source.kind == "pairs":
        return fetch(name)
    if path.is_dir() or path.parent != Path(".") or path.suffix in _SUFFIXES:
        check_is_file(path)
    names = [STARTER, *(key for key, value in SOURCES.items() if value.kind == "pairs")]
    raise ConfigError(unknown_name("file or data set", name, names))
