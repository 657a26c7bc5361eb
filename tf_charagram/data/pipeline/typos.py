"""Typing errors: seeded edits of single characters inside words."""

from __future__ import annotations

import re
import zlib
from dataclasses import replace

import numpy as np

from tf_charagram.data.readers.scored import ScoredPairs
from tf_charagram.errors import ConfigError

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
#: Words that are long enough to stay readable with an error: four letters or more.
_WORD = re.compile(r"[^\W\d_]{4,}")


def add_typos(text: str, num_edits: int, random: np.random.Generator) -> str:
    """Adds typing errors to a text.

    Each edit picks one of the words of four letters or more at random and swaps two neighbouring
    letters, or drops, doubles or replaces one; the word always changes. Its first letter stays
    where it is.

    Args:
        text: Any text; one without such a word is returned as it is.
        num_edits: Number of edits, made one after the other.
        random: Generator of the random choices.

    Example:
        >>> add_typos("character embeddings", 1, np.random.default_rng(0))
        'character ebeddings'
    """
    for _ in range(num_edits):
        # The expression also takes numerals such as a superscript two, which are no letters.
        words = [match.span() for match in _WORD.finditer(text) if match.group().isalpha()]
        if not words:
            break
        draws = random.random(4).tolist()
        start, end = words[int(draws[0] * len(words))]
        text = text[:start] + _edited(text[start:end], draws[1:]) + text[end:]
    return text


def with_typos(pairs: ScoredPairs, num_edits: int, seed: int) -> ScoredPairs:
    """Returns a set with typing errors in the right text of each pair.

    Args:
        pairs: The set.
        num_edits: Edits per text.
        seed: Seed of the errors; those of a set also depend on its name, and on no other set.

    Raises:
        ConfigError: `num_edits` is negative.
    """
    if num_edits < 0:
        raise ConfigError(f"`num_edits` must not be negative. Received: num_edits={num_edits}")
    random = np.random.default_rng([seed, zlib.crc32(pairs.name.encode())])
    return replace(pairs, right=[add_typos(text, num_edits, random) for text in pairs.right])


def _edited(word: str, draws: list[float]) -> str:
    """Returns a word with one error; three numbers in [0, 1) decide which."""
    kind, position = int(draws[0] * 4), 1 + int(draws[1] * (len(word) - 1))
    if kind == 0:
        swappable = [i for i in range(1, len(word) - 1) if word[i] != word[i + 1]]
        if swappable:
            i = swappable[int(draws[1] * len(swappable))]
            return word[:i] + word[i + 1] + word[i] + word[i + 2 :]
        kind = 1  # all letters but the first are equal
    if kind == 1:
        return word[:position] + word[position + 1 :]
    if kind == 2:
        return word[:position] + word[position] + word[position:]
    letters = _LETTERS.replace(word[position].lower(), "")
    return word[:position] + letters[int(draws[2] * len(letters))] + word[position + 1 :]
