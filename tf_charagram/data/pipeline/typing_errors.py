"""Typing errors that a training run adds to texts: random edits, and real misspellings of words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from tf_charagram.data.pipeline.typos import add_typos

_MOST_EDITS = 3
_WORD = re.compile(r"[^\W\d_](?:['\u2019-]?[^\W\d_])*")


class TypingErrors:
    """Adds 1 to 3 errors to a share of texts.

    Where a text has words with known misspellings, half of the errors put one of these; the others
    are edits of single characters, see `add_typos`.

    Args:
        share: Share of the texts that get errors.
        misspellings: Wrong forms of words in lower case.
    """

    def __init__(
        self, share: float, misspellings: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        self.share = share
        self._misspellings = misspellings or {}

    def add(self, texts: Sequence[str], random: np.random.Generator) -> list[str]:
        """Returns texts, some of which have errors now."""
        if not self.share:
            return list(texts)
        has_errors = random.random(len(texts)) < self.share
        return [
            self._with_errors(text, random) if wrong else text
            for text, wrong in zip(texts, has_errors.tolist(), strict=True)
        ]

    def samples(self, texts: Iterable[str], seed: int) -> Iterator[str]:
        """Yields those texts that get errors, with them, at random."""
        random = np.random.default_rng(seed)
        for text in texts:
            if self.share and random.random() < self.share:
                yield self._with_errors(text, random)

    def _with_errors(self, text: str, random: np.random.Generator) -> str:
        for _ in range(int(random.integers(1, _MOST_EDITS + 1))):
            changed = text
            if self._misspellings and random.random() < 0.5:
                changed = self._misspelled(text, random)
            text = add_typos(text, 1, random) if changed == text else changed
        return text

    def _misspelled(self, text: str, random: np.random.Generator) -> str:
        """Returns a text with one of its words misspelled, if a misspelling of one is known."""
        words = [
            match for match in _WORD.finditer(text) if match.group().lower() in self._misspellings
        ]
        if not words:
            return text
        word = words[int(random.integers(len(words)))]
        forms = self._misspellings[word.group().lower()]
        return text[: word.start()] + forms[int(random.integers(len(forms)))] + text[word.end() :]
