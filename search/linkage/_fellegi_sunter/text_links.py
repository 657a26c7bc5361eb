"""Links rows by a column of texts, beside other columns that hardly tell anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.special import expit

from tf_charagram.models._storage.choice import Embedder
from tf_charagram.search._pairs.flat_arrays import Array, distinct_integers, paired
from tf_charagram.search.linkage._columns.columns import Column, make_column
from tf_charagram.search.linkage._columns.identity import have_several_words
from tf_charagram.search.linkage._columns.recoding import are_row_numbers, written_otherwise
from tf_charagram.search.linkage._fellegi_sunter.evidence import (
    chance_levels,
    compare_columns,
    random_pairs,
)
from tf_charagram.search.linkage._fellegi_sunter.linking import Links
from tf_charagram.search.linkage._fellegi_sunter.mixture import Mixture
from tf_charagram.search.linkage._fellegi_sunter.rows import PairRivals
from tf_charagram.search.linkage._fellegi_sunter.text_odds import (
    Partners,
    TextOdds,
    list_prior,
    lowest_text,
    mutual_evidence,
)
from tf_charagram.search.linkage._fellegi_sunter.text_pairs import link_texts

# Columns that tell less than this together, in nats, are too few to fit a model to: 20 equally
# frequent values of all rows, or as many values as rows where a third is filled. Chosen on made-up
# names, firms, titles and places beside another column.
_MIN_TOLD = 3.0
# Kinds of columns that are compared as lists if others tell something. Of two tables, each row has
# one partner, so titles and codes alone suffice to fit a model: F1 of made-up songs, ships, schools
# and hotels is 2 to 8 points higher; of products and titles, 2 points lower; of names, up to 50.
_LISTS = ("code", "name", "text")
_LISTS_OF_TWO = ("name",)
# Most rows of such a column do not share their value with so many.
_MANY = 2
_NOTE = "compared as a list of texts is, because the other columns tell little"


def telling_text(columns: Sequence[Column], fitted: Mixture | TextOdds | None = None) -> int | None:
    """Returns the number of the column that is compared as a list of texts is, if there is one.

    It is the only column of texts, or the others hardly tell anything.

    Args:
        columns: The columns.
        fitted: A model that was fitted to tables with the same columns.
    """
    if fitted is not None:
        return fitted.number if isinstance(fitted, TextOdds) else None
    if len(columns) == 1:
        return 0 if columns[0].is_whole else None
    told = [0.0 if are_row_numbers(column) else column.told for column in columns]
    number = int(np.argmax(told))
    column = columns[number]
    rest = sum(told) - told[number]
    if not (told[number] and column.may_be_text):
        return None
    kinds = _LISTS if column.is_one_table else _LISTS_OF_TWO
    is_list = rest < _MIN_TOLD <= told[number] and column.kind.name in kinds
    return number if not rest or (is_list and _names_things(column)) else None


def _names_things(column: Column) -> bool:
    """Tells titles and full names from surnames and given names, which many things share."""
    if column.is_identifying and have_several_words(column.values):
        # Their copies may be many.
        return True
    num_rows = []
    for rows in column.tables:
        present = rows[rows >= 0]
        num_rows.append(np.median(np.bincount(present)[present]))
    return bool(max(num_rows) < _MANY)


def as_list(columns: Sequence[Column], number: int) -> Column:
    """Returns a column of texts in the form in which lists are compared."""
    column = columns[number]
    if len(columns) == 1:
        return column
    right = None if column.is_one_table else column.right_cells
    texts = make_column(column.name, column.left_cells, right, is_alone=True)
    return replace(texts, is_identifying=True, note=_NOTE, source=column.source)


def least_probability(columns: Sequence[Column], number: int, threshold: float) -> float:
    """Returns the probability by a column of texts that pairs need for a threshold.

    It is that for one half, if the threshold is more: these pairs tell how many there are.
    """
    others = [column for other, column in enumerate(columns) if other != number]
    return lowest_text(min(threshold, 0.5), sum(column.entropy for column in others))


def links_by_texts(
    columns: list[Column],
    number: int,
    model: str | Path | Embedder | None,
    threshold: float,
    fitted: TextOdds | None,
    first: int,
    *,
    lexical: bool,
    shows_progress: bool,
) -> Links:
    """Finds the links of a column of texts, beside others that hardly tell anything.

    Args:
        columns: The columns, which are changed.
        number: Number of the column of texts.
        model: Run folder, model folder or name of a model; or an embedder; or `None` to compare
            letters only.
        threshold: Minimum probability of pairs that are looked for.
        fitted: Weights of the other columns. Default: they are fitted to these tables.
        first: With one table, partners are found for the rows from this one on.
        lexical: Whether letters are compared as well as vectors.
        shows_progress: Whether progress is shown on standard error, if it is a terminal.
    """
    columns[number] = column = as_list(columns, number)
    least = least_probability(columns, number, threshold)
    pairs = link_texts(column, model, least, lexical=lexical, shows_progress=shows_progress)
    pairs = pairs[pairs[:, 1] >= first]
    agreements = compare_columns(columns, pairs)
    odds = fitted or TextOdds.fitted(number, other_chances(columns, number), agreements)
    if odds.has_others:
        evidence = odds.column_evidence(agreements)
        translated = written_otherwise(columns, agreements, evidence, pairs, 0.0)
        translated[number] = column
        if any(new is not old for new, old in zip(translated, columns, strict=True)):
            columns[:] = translated
            agreements = compare_columns(columns, pairs)
            odds = fitted or TextOdds.fitted(number, other_chances(columns, number), agreements)
    log_odds = odds.log_odds(agreements)
    if lexical and column.is_one_table and fitted is None:
        counts = np.bincount(column.left[column.left >= 0], minlength=len(column.values))
        partners = Partners.of(len(counts), column.left[pairs], expit(log_odds))
        odds.prior = list_prior(partners, counts)
        log_odds += odds.prior
    links = Links(columns, odds, pairs, expit(log_odds))
    if lexical and not column.is_one_table:
        texts = column.left, column.right
        links.rivals = PairRivals(texts, pairs, links.probabilities, is_one_table=False)
        alone = links.as_probabilities(pairs, links.beside_rivals(pairs, log_odds))
        left, right_rows = pairs.T
        text_pairs = paired(column.left[left], column.right[right_rows])
        present = [distinct_integers(side[side >= 0]) for side in texts]
        links.mutual = mutual_evidence(text_pairs, alone, present)
    links.probabilities = links.as_probabilities(pairs, links.beside_rivals(pairs, log_odds))
    return links


def other_chances(columns: Sequence[Column], number: int) -> list[Array]:
    """Returns the share of each level among random pairs; empty where a column tells nothing."""
    samples = random_pairs(columns)
    found = []
    for other, column in enumerate(columns):
        tells = other != number and len(column.values) > 1
        found.append(chance_levels(column, samples) if tells else np.zeros(0))
    return found
