"""Finds the pairs of texts that may match, of one or two lists."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from tf_charagram.models._storage.choice import Embedder
from tf_charagram.search._pairs.candidates import best_pairs
from tf_charagram.search._pairs.copies import row_pairs
from tf_charagram.search._pairs.flat_arrays import Ids, distinct_integers, lengths_of, paired
from tf_charagram.search._pairs.similar_pairs import similar_pairs
from tf_charagram.search._pairs.word_lists import WordLists
from tf_charagram.search.linkage._columns.columns import MISSING, Column
from tf_charagram.search.linkage._columns.whole_texts import WholeTexts
from tf_charagram.search.scoring import TextScorer
from tf_charagram.search.statistics import TextStatistics

#: Score that a text without other good partners in another list counts for, at most.
MAX_GAIN = 0.2
# Partners of each left text.
_NUM_PARTNERS = 10


def link_texts(
    column: Column,
    model: str | Path | Embedder | None,
    threshold: float,
    *,
    lexical: bool,
    shows_progress: bool,
) -> Ids:
    """Makes a column compare texts as a scorer does; finds its candidate pairs.

    Args:
        column: The only column, which is changed.
        model: Run folder, model folder or name of a model; or an embedder; or `None` to compare
            letters only.
        threshold: Minimum probability of pairs that are looked for.
        lexical: Whether letters are compared as well as vectors.
        shows_progress: Whether progress is shown on standard error, if it is a terminal.

    Returns:
        Rows of both tables, `(num_pairs, 2)`, sorted. With one table, each pair once, and the left
        row is the smaller one.
    """
    values = column.values
    # The values of the left table come first.
    num_left = int(column.left.max(initial=-1)) + 1
    left_words = WordLists.of_texts(values[:num_left])
    other_words = WordLists.of_texts(values[num_left:])
    words = left_words.extended(other_words)
    is_blank = np.append(lengths_of(words.splits) == 0, False)
    for ids in (column.left, column.right):
        ids[is_blank[ids]] = MISSING
    statistics = TextStatistics.of_words(words, column.counts)
    scorer = TextScorer(values, model, lexical=lexical, statistics=statistics)
    texts = scorer.prepare(values[:num_left], written=left_words)
    if column.is_one_table:
        whole = WholeTexts(scorer, texts)
        # Texts without a rare word in common need a higher score, and so fewer are looked at.
        least_score = partial(whole.least_score, threshold)
        pairs, evidence = similar_pairs(scorer, texts, least_score, shows_progress=shows_progress)
        whole.remember(pairs, evidence)
        # Equal texts are pairs of a value and itself.
        every = np.arange(num_left)
        pairs = np.concatenate([pairs, paired(every, every)])
    else:
        own = scorer.prepare(values[num_left:], written=other_words)
        whole = WholeTexts(scorer, texts.followed(own))
        # The right table has some of the left values, and its own ones.
        is_shared = (column.right >= 0) & (column.right < num_left)
        shared = distinct_integers(column.right[is_shared])
        right_texts = own
        if len(shared):
            in_both = [values[value] for value in shared.tolist()]
            right_texts = scorer.prepare(in_both).followed(own)
        least = max(whole.least_score(threshold) - MAX_GAIN, 0)
        pairs, evidence = best_pairs(
            scorer, texts, right_texts, _NUM_PARTNERS, least, shows_progress=shows_progress
        )
        right_values = np.append(shared, np.arange(num_left, len(values)))
        pairs[:, 1] = right_values[pairs[:, 1]]
        whole.remember(pairs, evidence)
    column.kind = column.kind._replace(similarities=whole.similarities)
    return row_pairs(column.left, column.right, pairs, is_one_table=column.is_one_table)
