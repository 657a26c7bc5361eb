"""Reports the words of texts that a model reads as other words, and texts that it cannot read."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

_NUM_EXAMPLES = 3
# Texts and characters that are read at a time.
_MAX_TEXTS = 10_000
_MAX_CHARS = 4_000_000
# Below this share of known characters a text counts as unknown.
_MIN_KNOWN_SHARE = 0.5


def add_corrections_flag(parser: ArgumentParser) -> None:
    """Adds `--show-corrections`."""
    parser.add_argument(
        "--show-corrections",
        action="store_true",
        help="list the words that were read as others, on standard error",
    )


def add_keep_words_flag(parser: ArgumentParser) -> None:
    """Adds `--keep-words`, the argument of `TextEmbedder.load`."""
    parser.add_argument(
        "--keep-words",
        metavar="FILE",
        help="words, or texts whose words are right: they are read as they are written",
    )


class Corrections:
    """Counts the words of texts that a model reads as others, and the texts that it cannot read.

    Args:
        model: A `TextModel` or a `TextReader`. Without a dictionary it reads all words as they are
            written, and without a vocabulary of n-grams it knows all characters.
    """

    def __init__(self, model: Any) -> None:
        self._symbols = model.symbols
        self._num_texts = 0
        self._num_unknown = 0
        self._num_empty = 0
        self._num_words = 0
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, texts: Sequence[str]) -> None:
        """Counts the words of texts, and the texts."""
        from tf_charagram.text._algorithm.batches import bounded_batches
        from tf_charagram.text._algorithm.word_boundaries import tokens_of, words_of_prose

        for batch in bounded_batches(texts, _MAX_TEXTS, _MAX_CHARS):
            shares = np.asarray(self._symbols.known_share(batch))
            written = self._symbols.folded(batch)
            self._num_texts += len(batch)
            self._num_unknown += int((shares < _MIN_KNOWN_SHARE).sum())
            self._num_empty += sum(not text.strip() for text in written)
            # Each distinct word is looked up once.
            words = Counter(words_of_prose(written))
            self._num_words += sum(1 for _ in tokens_of(written))
            for word, other in self._symbols.corrections(words).items():
                self._counts[word, other] += words[word]

    def say(self, shows_all: bool, texts: str = "") -> None:
        """Writes the counts that are not 0 to standard error.

        Args:
            shows_all: Whether all corrections are listed, and not only some examples.
            texts: Name of the texts.
        """
        prefix = f"{texts}: " if texts else ""
        of_texts = f"of {self._num_texts:,} texts"
        if self._counts:
            sys.stderr.write(
                f"{prefix}{self._counts.total():,} of {self._num_words:,} words read as others: "
                f"{self._listed(shows_all)}\n"
            )
        if self._num_unknown:
            sys.stderr.write(
                f"{prefix}{self._num_unknown:,} {of_texts} mostly characters that the model does "
                "not know\n"
            )
        if self._num_empty:
            sys.stderr.write(f"{prefix}{self._num_empty:,} {of_texts} empty\n")

    def _listed(self, shows_all: bool) -> str:
        """Lists all corrections or the most frequent ones."""
        shown = self._counts.most_common(None if shows_all else _NUM_EXAMPLES)
        parts = []
        for (word, read), count in shown:
            times = f" ({count:,} times)" if count > 1 else ""
            parts.append(f"{word} as {read}{times}")
        if len(shown) < len(self._counts):
            parts.append("... (--show-corrections lists all)")
        return ", ".join(parts)
