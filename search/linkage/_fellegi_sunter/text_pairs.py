"""Finds the pairs of texts that may match, of one or two lists."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tf_charagram.models._storage.choice import Embedder
from tf_charagram.search._pairs.candidates import best_pairs, similar_pairs
from tf_charagram.search._pairs.rare_keys import distinct_integers, ranks
from tf_charagram.search._pairs.similarities import Texts
from tf_charagram.search._pairs.word_lists import WordLists
from tf_charagram.search.linkage._columns.columns import MISSING, Column
from tf_charagram.search.linkage._columns.whole_texts import WholeTexts
from tf_charagram.search.scoring import TextScorer
from tf_charagram.search.statistics import TextStatistics

Ids = NDArray[np.int64]
#: Minimum scores of pairs that may match, within a list and between two.
MIN_SIMILAR = 0.5
MIN_SCORE = 0.25
# In longer lists, pairs with lower scores than this would take most of the time to find.
_MANY_TEXTS = 20_000
_MIN_OF_MANY = 0.6
# Partners of each left text.
_NUM_PARTNERS = 10


def link_texts(
    column: Column, model: str | Path | Embedder | None, *, lexical: bool, shows_progress: bool
) -> Ids:
    """Makes a column compare texts as a scorer does; finds its candidate pairs.

    Args:
        column: The only column, which is changed.
        model: Run folder, model folder or name of a model; or an embedder; or `None` to compare
            letters only.
        lexical: Whether letters are compared as well as vectors.
        shows_progress: Whether progress is shown on standard error, if it is a terminal.

    Returns:
        Rows of both tables, `(num_pairs, 2)`, sorted. With one table, each pair once, and the left
        row is the smaller one.
    """
    values = column.values
    words = WordLists.of_texts(values)
    is_blank = np.append(np.diff(words.splits) == 0, False)
    for ids in (column.left, column.right):
        ids[is_blank[ids]] = MISSING
    statistics = TextStatistics.of_words(words, column.counts)
    scorer = TextScorer(values, model, lexical=lexical, statistics=statistics)
    if column.left is column.right:
        texts = scorer.prepare(values, written=words)
        least = MIN_SIMILAR if len(values) <= _MANY_TEXTS else _MIN_OF_MANY
        value_pairs, _ = similar_pairs(scorer, texts, least, shows_progress=shows_progress)
        every = np.arange(len(values))
        # Equal texts are pairs of a value and itself.
        value_pairs = np.concatenate([value_pairs, np.stack([every, every], axis=1)])
    else:
        # The values of the left table come first.
        num_left = int(column.left.max(initial=-1)) + 1
        right_values = np.unique(column.right[column.right >= 0])
        left_texts = scorer.prepare(values[:num_left])
        right_texts = scorer.prepare([values[value] for value in right_values.tolist()])
        texts = _all_texts(scorer, left_texts, right_texts, right_values)
        value_pairs, _ = best_pairs(
            scorer,
            left_texts,
            right_texts,
            _NUM_PARTNERS,
            MIN_SCORE,
            shows_progress=shows_progress,
        )
        value_pairs[:, 1] = right_values[value_pairs[:, 1]]
    similarities = WholeTexts(scorer, texts).similarities
    column.kind = column.kind._replace(similarities=similarities)
    return _row_pairs(column, value_pairs)


def _all_texts(scorer: TextScorer, left: Texts, right: Texts, right_values: Ids) -> Texts:
    """Returns the texts of all values: of the left table, and those of the right one alone."""
    is_own = right_values >= len(left)
    if is_own.all():
        return left.followed(right)
    own = [right.texts[place] for place in np.flatnonzero(is_own).tolist()]
    return left.followed(scorer.prepare(own))


def _row_pairs(column: Column, value_pairs: Ids) -> Ids:
    """Returns pairs of rows with the values of pairs, `(num_pairs, 2)`, sorted.

    Of several rows with a value, each is paired with the first row of the other value, and with
    the row of the same rank. In one table, the first row of a value is paired with the others.
    """
    sides = []
    for rows_of in (column.left, column.right):
        rows = np.flatnonzero(rows_of >= 0)
        rows = rows[np.argsort(rows_of[rows], kind="stable")]
        sides.append((rows, np.searchsorted(rows_of[rows], np.arange(len(column.values) + 1))))
    num_right = len(column.right)
    keys = []
    for side in (0, 1):
        rows, starts = sides[side]
        other_rows, other_starts = sides[1 - side]
        own, other = value_pairs[:, side], value_pairs[:, 1 - side]
        sizes = starts[own + 1] - starts[own]
        places = np.repeat(np.arange(len(own)), sizes)
        rank = ranks(places)
        own_rows = rows[starts[own][places] + rank]
        first = other_starts[other][places]
        last = other_starts[other + 1][places] - 1
        for partner in (first, np.minimum(first + rank, last)):
            ends = (own_rows, other_rows[partner])[:: 1 - 2 * side]
            if column.left is column.right:
                ends = np.minimum(*ends), np.maximum(*ends)
                ends = ends[0][ends[0] != ends[1]], ends[1][ends[0] != ends[1]]
            keys.append(ends[0] * num_right + ends[1])
    distinct = distinct_integers(np.concatenate(keys))
    return np.stack(np.divmod(distinct, max(num_right, 1)), axis=1)
