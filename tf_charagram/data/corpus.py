"""Pairs held compactly: every distinct text once, a pair as two numbers."""

from __future__ import annotations

import logging
from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tf_charagram.errors import ConfigError

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class PairCorpus:
    """Paraphrase pairs over a list of distinct texts.

    Attributes:
        texts: The distinct texts, in order of first appearance.
        left: Index into `texts` of the first side of each pair, int32 `(num_pairs,)`.
        right: Of the second side.
        num_empty: Pairs left out because one side has no visible character.
    """

    texts: list[str]
    left: np.ndarray
    right: np.ndarray
    num_empty: int = 0

    def __len__(self) -> int:
        return len(self.left)

    @classmethod
    def from_pairs(
        cls, pairs: Iterable[tuple[str, str]], max_pairs: int | None = None
    ) -> PairCorpus:
        """Reads a stream of pairs.

        Memory is 8 bytes a pair and one copy of each distinct text. Pairs with a side that is empty
        or only white space are left out and counted. Repeated pairs are kept: they weigh more.

        Raises:
            ConfigError: Fewer than two pairs are left, so that no pair has a negative.
        """
        index: dict[str, int] = {}
        sides = array("i"), array("i")
        num_empty = 0
        for pair in pairs:
            if not all(text.strip() for text in pair):
                num_empty += 1
                continue
            for side, text in zip(sides, pair, strict=True):
                side.append(index.setdefault(text, len(index)))
            if max_pairs is not None and len(sides[0]) >= max_pairs:
                break
        left, right = (np.array(side, np.int32) for side in sides)
        if num_empty:
            logger.warning("left out %d pairs with an empty text", num_empty)
        if len(left) < 2:
            raise ConfigError(
                f"Training needs at least 2 pairs, because the negatives of a pair come from the "
                f"others. Found: {len(left)}"
            )
        return cls(list(index), left, right, num_empty)

    def text_keys(self) -> np.ndarray:
        """Returns a number for each text, equal for texts equal but for case and white space."""
        keys: dict[str, int] = {}
        folded = (" ".join(text.lower().split()) for text in self.texts)
        return np.fromiter((keys.setdefault(text, len(keys)) for text in folded), np.int32)
