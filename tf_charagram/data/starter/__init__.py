"""A small set of English word pairs that ships with the package: for first runs and tests.

Its tables were written by hand for this project and are grown by code: inflections, spelling
variants and common misspellings. `groups.tsv` has one group of synonyms per line, `graded.tsv` one
graded pair per line.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from tf_charagram.data.starter.grow import distinct, grow_pairs, read_tables, split_groups

#: What `--data` and `--eval-data` call the set.
STARTER = "starter"
DESCRIPTION = (
    "The starter set: English word pairs grown by code from synonym groups, spelling variants and "
    "misspellings that the tf-charagram authors wrote by hand for this project. It is for first "
    "runs and tests, and not for publishing results."
)

__all__ = ["DESCRIPTION", "STARTER", "graded_pairs", "heldout_pairs", "train_pairs"]


def train_pairs() -> Iterator[tuple[str, str]]:
    """Yields the training pairs, most confident first; the order is always the same.

    Yields:
        Two different lower-case words. No pair comes twice, in either order, and no word is one
        of `heldout_pairs()` or `graded_pairs()`.

    Example:
        >>> next(train_pairs())
        ('begin', 'start')
    """
    tables = read_tables()
    graded = ((first, second) for first, second, _ in tables.graded)
    blocked = frozenset(chain.from_iterable(chain(graded, heldout_pairs())))
    groups, _ = split_groups()
    yield from distinct(grow_pairs(groups, tables.spelling, tables.misspellings), blocked)


def heldout_pairs() -> Iterator[tuple[str, str]]:
    """Yields the pairs of the held-out groups, about a tenth of all groups.

    Yields:
        Two different lower-case words, in the same order of confidence as `train_pairs()`.
    """
    tables = read_tables()
    _, groups = split_groups()
    words = {word for group in groups for word in group.words}
    spelling = [pair for pair in tables.spelling if not words.isdisjoint(pair)]
    misspellings = [pair for pair in tables.misspellings if not words.isdisjoint(pair)]
    yield from distinct(grow_pairs(groups, spelling, misspellings))


def graded_pairs() -> list[tuple[str, str, float]]:
    """Returns the held-out pairs whose similarity was graded by hand.

    Returns:
        Word, word, similarity: 0 is unrelated, 10 is the same word in another spelling. No word
        occurs in `train_pairs()`.
    """
    return list(read_tables().graded)
