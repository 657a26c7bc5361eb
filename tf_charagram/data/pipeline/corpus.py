"""Training pairs from one or several sources, read again at every pass, so that none are kept."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.pipeline.typos import add_typos
from tf_charagram.data.readers.pairs import Pair
from tf_charagram.errors import ConfigError, DataError

logger = logging.getLogger(__name__)

_MOST_TYPOS = 3
_NUM_LISTED = 100_000


class PairSource(NamedTuple):
    """A source of pairs.

    Attributes:
        read: Starts to read them; its argument says what to do about bad lines.
        weight: How often each counts: 2 is every pair twice, 0.5 a random half of them.
    """

    read: Callable[[BadLines], Iterator[Pair]]
    weight: float = 1.0


class Example(NamedTuple):
    """A pair to train on.

    Attributes:
        left: First text.
        right: Second text.
        original: The texts without the typing errors that were added: what tells whether two texts
            are the same.
    """

    left: str
    right: str
    original: Pair

    @property
    def is_mistyped(self) -> bool:
        """Whether typing errors were added."""
        return (self.left, self.right) != self.original


class PairCorpus:
    """Paraphrase pairs to iterate over, in the order of the sources and of their lines.

    Every pass reads the sources again and gives the same examples. Memory does not depend on their
    number. Pairs with a side that is empty or only white space are left out and counted.

    Args:
        sources: The sources.
        on_bad_line: What to do about bad lines, which are counted in the pass of `survey`.
        whole_vocabulary: Whether `survey` also yields the texts of pairs that a weight below 1
            leaves out.
        augment_typos: Share of the pairs that are added once more with 1 to 3 typing errors in one
            side, at random.
        seed: Seed of all random choices.

    Attributes:
        num_pairs: Examples of a pass; known after `survey`, as are the others.
        num_chars: Characters in all texts of a pass.
        num_empty: Pairs left out because one side has no visible character.
        listed: The first distinct texts, up to 100,000 of them.

    Raises:
        ConfigError: The share of typing errors is out of range.
    """

    def __init__(
        self,
        sources: Sequence[PairSource],
        *,
        on_bad_line: BadLines,
        whole_vocabulary: bool = False,
        augment_typos: float = 0.0,
        seed: int = 0,
    ) -> None:
        if not 0.0 <= augment_typos <= 1.0:
            raise ConfigError(f"`augment_typos` must be in [0, 1]. Received: {augment_typos}")
        self._sources = tuple(sources)
        self._bad_lines = on_bad_line
        self._whole_vocabulary = whole_vocabulary
        self._augment_typos = augment_typos
        self._seed = seed
        self.num_pairs = 0
        self.num_chars = 0
        self.num_empty = 0
        self.listed: list[str] = []

    def survey(self) -> Iterator[str]:
        """Reads all sources once; counts and yields every text, those of heavier pairs once too.

        Pairs with added typing errors are counted; their texts are those of `mistyped`.

        Raises:
            ConfigError: At the end: fewer than two pairs are left, so that none has a negative.
        """
        self.num_pairs = self.num_chars = self.num_empty = 0
        listed: dict[str, None] = {}
        for example, copies in self._examples(self._bad_lines):
            self.num_pairs += copies
            self.num_chars += copies * (len(example.left) + len(example.right))
            for text in () if example.is_mistyped else example[:2]:
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

    def mistyped(self) -> Iterator[str]:
        """Reads all sources once, if errors are added, and yields the texts of such pairs."""
        if self._augment_typos:
            for example, _ in self._examples(BadLines(self._bad_lines.on_bad_line)):
                if example.is_mistyped:
                    yield from example[:2]

    def texts(self) -> Iterator[str]:
        """Reads all sources once and yields every text, as `survey` does without counting."""
        for example, _ in self._examples(self._bad_lines):
            yield from example[:2]

    def __iter__(self) -> Iterator[Example]:
        """Yields the examples.

        Raises:
            DataError: They are not those that `survey` saw: a file was changed meanwhile.
        """
        num_pairs = num_chars = 0
        for example, copies in self._examples(BadLines(self._bad_lines.on_bad_line)):
            num_pairs += copies
            num_chars += copies * (len(example.left) + len(example.right))
            if num_pairs > self.num_pairs:
                break
            for _ in range(copies):
                yield example
        if (num_pairs, num_chars) != (self.num_pairs, self.num_chars):
            raise DataError(
                "training pairs",
                "a file was changed between the first time it was read and the second. Start again "
                "with --resume or --overwrite.",
            )

    def _examples(self, bad_lines: BadLines) -> Iterator[tuple[Example, int]]:
        """Yields examples and how often each counts, 0 where only its texts do."""
        random = np.random.default_rng(self._seed)
        num_empty = 0
        for source in self._sources:
            whole, fraction = divmod(source.weight, 1.0)
            for pair in source.read(bad_lines):
                if not (pair[0].strip() and pair[1].strip()):
                    num_empty += 1
                    continue
                copies = int(whole) + (fraction > 0.0 and random.random() < fraction)
                if copies or self._whole_vocabulary:
                    yield Example(*pair, pair), copies
                if copies and self._augment_typos and random.random() < self._augment_typos:
                    edited = _with_typos(pair, random)
                    if edited is not None:
                        yield edited, 1
        self.num_empty = num_empty


def _with_typos(pair: Pair, random: np.random.Generator) -> Example | None:
    """Returns a pair with errors in one side; `None` if neither has a word to make one in."""
    first, number = int(random.integers(2)), int(random.integers(1, _MOST_TYPOS + 1))
    for side in (first, 1 - first):
        edited = add_typos(pair[side], number, random)
        if edited != pair[side]:
            return Example(*((edited, pair[1]) if side == 0 else (pair[0], edited)), pair)
    return None
