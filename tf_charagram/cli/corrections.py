"""Reports the words of texts that a model reads as other words."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tf_charagram.models.base import TextModel

_NUM_EXAMPLES = 3


def add_corrections_flag(parser: ArgumentParser) -> None:
    """Adds `--show-corrections`."""
    parser.add_argument(
        "--show-corrections", action="store_true",
        help="list the words that were read as others, on standard error",
    )  # fmt: skip


class Corrections:
    """Counts the words of texts that a model reads as others.

    Args:
        model: The model. Without a dictionary it reads all words as they are written.
    """

    def __init__(self, model: TextModel) -> None:
        self._model = model
        self._as_written = model.vectorizer.as_written()
        self._num_words = 0
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, texts: Sequence[str]) -> None:
        """Counts the words of texts."""
        from tf_charagram.text.dictionary import words_of

        words = [*words_of(self._as_written.read_as(texts))]
        read = words_of(self._model.read_as(texts))
        self._num_words += len(words)
        self._counts.update(pair for pair in zip(words, read, strict=True) if pair[0] != pair[1])

    def say(self, shows_all: bool, texts: str = "") -> None:
        """Writes the number of words to standard error, with some examples or all.

        Args:
            shows_all: Whether all are listed.
            texts: Name of the texts.
        """
        total = self._counts.total()
        if not total:
            return
        shown = self._counts.most_common(None if shows_all else _NUM_EXAMPLES)
        pairs = [f"{word} as {read}" + f" ({n:,} times)" * (n > 1) for (word, read), n in shown]
        end = "" if len(shown) == len(self._counts) else ", ... (--show-corrections lists all)"
        sys.stderr.write(
            f"{texts}{': ' if texts else ''}{total:,} of {self._num_words:,} words are read as "
            f"others: {', '.join(pairs)}{end}\n"
        )
