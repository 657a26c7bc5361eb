"""Finds the links of the rows of one or two tables, without labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
from scipy.special import expit

from tf_charagram.models._storage.choice import Embedder
from tf_charagram.search._pairs.flat_arrays import Flags, Ids
from tf_charagram.search.linkage._columns.columns import Column
from tf_charagram.search.linkage._columns.recoding import are_best, with_notes, written_otherwise
from tf_charagram.search.linkage._columns.whole_texts import WholeRows, read_whole_text
from tf_charagram.search.linkage._fellegi_sunter.blocking import candidate_pairs
from tf_charagram.search.linkage._fellegi_sunter.evidence import (
    Agreement,
    chance_levels,
    chances,
    compare_columns,
    count_things,
    random_pairs,
)
from tf_charagram.search.linkage._fellegi_sunter.fitting import Patterns, fit_mixture, start_from
from tf_charagram.search.linkage._fellegi_sunter.following import Hierarchy
from tf_charagram.search.linkage._fellegi_sunter.hierarchies import Hierarchies
from tf_charagram.search.linkage._fellegi_sunter.labels import Label, numbered_labels
from tf_charagram.search.linkage._fellegi_sunter.linking import Links
from tf_charagram.search.linkage._fellegi_sunter.mixture import Mixture
from tf_charagram.search.linkage._fellegi_sunter.rival_classes import fit_variants
from tf_charagram.search.linkage._fellegi_sunter.rivals import Sample, learn_rivals
from tf_charagram.search.linkage._fellegi_sunter.rows import PairRivals, joined_cells
from tf_charagram.search.linkage._fellegi_sunter.siblings import changing_columns
from tf_charagram.search.linkage._fellegi_sunter.text_links import links_by_texts, telling_text
from tf_charagram.search.linkage._fellegi_sunter.text_odds import TextOdds
from tf_charagram.search.linkage._fellegi_sunter.variants import add_companions, variant_levels

# Share of the rows that have a partner, before any pair is seen.
_EXPECTED_SHARE = 0.5
# Tables without a pair that is more probable than this may be written otherwise.
_MIN_PROBABLE = 0.5
# Fewer matches per row are not believed before other starts of the fit were tried.
_MIN_FOUND = 0.05
# Another start are so many pairs that are the best of both rows; the fit may find so many times
# more or fewer.
_MIN_SEEDS = 20
_MAX_CHANGE = 2.0
# Kinds of columns that are part of the row as a whole, unless so many matches differ in them.
_WORDS = ("code", "name", "text")
_MAX_OTHER_WORDS = 0.3
# With fewer columns, none but numbers may change.
_MIN_CHANGING = 3
# Matches, and what follows from other columns in all other pairs, are fitted in turn.
_NUM_ROUNDS = 3


def find_links(
    columns: Sequence[Column],
    labels: Iterable[Label] | None = None,
    model: str | Path | Embedder | None = None,
    fitted: Mixture | TextOdds | None = None,
    first: int = 0,
    *,
    threshold: float = 0.5,
    lexical: bool = True,
    shows_progress: bool = False,
) -> Links:
    """Finds candidates and their probabilities.

    Args:
        columns: The columns of one or two tables.
        labels: Rows and whether they match, to learn the weights of the columns from.
        model: The model that compares single texts, and the rows as a whole where titles or labels
            tell.
        fitted: A model that was fitted to tables with the same columns. Default: it is fitted to
            these tables.
        first: With one table, partners are found for the rows from this one on.
        threshold: Minimum probability of pairs of a single column of texts that are looked for.
        lexical: Whether letters of a single column of texts are compared as well as vectors.
        shows_progress: Whether progress with a single column of texts is shown on standard error,
            if it is a terminal.

    Raises:
        ConfigError: A label names no row, or a pair has both labels.
    """
    columns = list(columns)
    # Wrong labels are told before the tables are compared.
    numbered = None if labels is None else numbered_labels(columns, labels)
    number = telling_text(columns, fitted)
    if number is None:
        links = _column_links(columns, model, cast(Mixture | None, fitted), first)
    else:
        links = links_by_texts(
            columns,
            number,
            model,
            threshold,
            cast(TextOdds | None, fitted),
            first,
            lexical=lexical,
            shows_progress=shows_progress,
        )
    if numbered is not None:
        links.learn_from(numbered, model)
    return links


def _column_links(
    columns: list[Column], model: str | Path | Embedder | None, fitted: Mixture | None, first: int
) -> Links:
    """Finds the links of rows with several columns, or with one of numbers, codes or dates."""
    pairs = candidate_pairs(columns, first=first)
    columns, mixture, agreements = fitted_mixture(columns, pairs, fitted)
    is_one_table = columns[0].is_one_table
    have_copies: Sequence[bool] = (False, False)
    if fitted is None and not is_one_table:
        num_all = max(_sizes(columns)[1], 1)
        sample = Sample.of_all(columns, len(pairs))
        have_copies = learn_rivals(mixture, columns, pairs, agreements, num_all, sample)
    log_odds = mixture.log_odds(agreements)
    links = Links(columns, mixture, pairs, log_odds, have_copies=have_copies)
    if are_told_by_titles(columns):
        links.telling = telling_columns(columns, mixture)
        left = row_texts([columns[number].left_cells for number in links.telling])
        right = row_texts([columns[number].right_cells for number in links.telling])
        links.rows = WholeRows(left, right, model=model)
        rival_shares = mixture.rival_shares(agreements, links.telling)
        log_odds = links.rows.fit(log_odds, pairs, rival_shares)
        links.rivals = PairRivals(
            links.rows.texts, pairs, expit(log_odds), is_one_table=is_one_table
        )
    links.probabilities = expit(links.beside_rivals(pairs, log_odds))
    if not is_one_table and links.probabilities.max(initial=0) < _MIN_PROBABLE:
        links.columns = with_notes(columns)
    return links


def are_told_by_titles(columns: Sequence[Column]) -> bool:
    """Tells whether texts alone identify rows: there is no code, given name or date of birth."""
    kinds = {column.kind.name for column in columns if column.is_identifying}
    return kinds == {"text"} or (not kinds and any(column.is_whole for column in columns))


def telling_columns(columns: Sequence[Column], mixture: Mixture) -> list[int]:
    """Finds the columns whose words make the row as a whole: what matches mostly have in common.

    Descriptions with other words in each table would hide the title.

    Returns:
        Their numbers.
    """
    telling = []
    for number, (column, shares) in enumerate(zip(columns, mixture.match, strict=True)):
        is_read = column.kind.name in _WORDS and not column.is_recoded
        if is_read and shares[-1] < _MAX_OTHER_WORDS:
            telling.append(number)
    return telling or list(range(len(columns)))


def row_texts(table: Sequence[Sequence[str]]) -> list[str]:
    """Returns the rows of some columns as texts that `WholeRows` compares."""
    return [read_whole_text(text) for text in joined_cells(table)]


def fitted_mixture(
    columns: list[Column],
    pairs: Ids,
    fitted: Mixture | None = None,
    sizes: tuple[int, int] | None = None,
) -> tuple[list[Column], Mixture, list[Agreement]]:
    """Fits the model without labels to candidate pairs; translates codes of the right table.

    Args:
        columns: The columns.
        pairs: Candidate pairs, `(num_pairs, 2)`.
        fitted: A model that was fitted to tables with the same columns.
        sizes: Number of rows whose partners are among the candidates, and number of pairs of these
            rows and any other, candidates or not. Default: all rows of the columns.

    Returns:
        The columns, of which the right table's may be translated; the model; and how the pairs
        agree in each column.
    """
    num_rows, num_all = _sizes(columns) if sizes is None else sizes
    num_all = max(num_all, 1)
    samples = random_pairs(columns)
    agreements = compare_columns(columns, pairs)
    chance = chances(columns, samples)
    is_identifying = [column.is_identifying for column in columns]
    if len(columns) < _MIN_CHANGING:
        # Where one of two columns may change, the other one alone would make a match.
        is_identifying = [column.kind.name != "number" for column in columns]
    start = Mixture.before_pairs(chance, is_identifying)
    ratios = start.column_evidence(agreements)
    translated = written_otherwise(columns, agreements, ratios, pairs, np.log(num_all))
    changed = [number for number, column in enumerate(translated) if column is not columns[number]]
    if changed:
        agreements = compare_columns(translated, pairs)
    for number in changed:
        chance[number] = chance_levels(translated[number], samples)
    row_share = num_rows / num_all
    hierarchies = None if fitted is not None else Hierarchies(translated, chance, samples[-1])
    hierarchy = Hierarchy([], [], []) if hierarchies is None else hierarchies.before_pairs()
    patterns = Patterns.of(agreements)
    variants: list[Flags] = []

    def before_pairs() -> Mixture:
        mixture = Mixture.before_pairs(chance, is_identifying)
        return replace(mixture, row_share=row_share, **hierarchy._asdict())

    def fit() -> Mixture:
        if fitted is not None:
            return fitted.for_tables(row_share)
        mixture = fit_mixture(before_pairs(), patterns, num_all, _EXPECTED_SHARE * num_rows)
        if mixture.num_matches(num_all) < _MIN_FOUND * num_rows:
            # A column that both tables write in different ways hides all matches.
            again = _fit_from_best(before_pairs(), agreements, patterns, pairs, num_rows, num_all)
            mixture = again or mixture
        if variants:
            fit_variants(mixture, patterns, variants, num_all)
        return mixture

    mixture = fit()
    is_one_table = columns[0].is_one_table
    if hierarchies is not None and max(hierarchy.parents) >= 0:
        for _ in range(_NUM_ROUNDS):
            before = hierarchy
            hierarchy = hierarchies.beside_matches(hierarchy, mixture)
            again = fit()
            if again.num_matches(num_all) < mixture.num_matches(num_all) / _MAX_CHANGE:
                # Nothing but one column tells matches from others: its first counts are surer.
                hierarchy = before
                break
            mixture = again
    if fitted is None and is_one_table:
        is_changing = changing_columns(translated, mixture, pairs, agreements)
        if is_changing.any():
            steady = list(columns)
            for number in np.flatnonzero(is_changing).tolist():
                steady[number] = replace(columns[number], is_identifying=False)
            return fitted_mixture(steady, pairs, fitted, sizes)
        variants = variant_levels(translated, mixture, pairs, agreements)
    if variants:
        counted = fit_variants(mixture, patterns, variants, num_all)
        if add_companions(variants, translated, counted):
            mixture = fit()
    if sizes is None and is_one_table:
        probabilities = expit(mixture.log_odds(agreements))
        translated, agreements = count_things(translated, pairs, agreements, probabilities)
        patterns = Patterns.of(agreements)
        mixture = fit()
    for number in mixture.variant_columns:
        translated[number] = replace(translated[number], is_identifying=True)
    return translated, mixture, agreements


def _fit_from_best(
    mixture: Mixture,
    agreements: Sequence[Agreement],
    patterns: Patterns,
    pairs: Ids,
    num_rows: int,
    num_all: int,
) -> Mixture | None:
    """Fits a mixture from the best pairs of both rows on, or returns `None` if that finds no more.

    Args:
        mixture: The mixture before pairs are seen, which is changed.
        agreements: Agreements of candidates, one per column.
        patterns: Their patterns.
        pairs: The candidates, `(num_pairs, 2)`.
        num_rows: Number of rows whose partners are among the candidates.
        num_all: Number of pairs of rows, candidates or not.
    """
    gains = np.maximum(mixture.column_evidence(agreements), 0).sum(axis=1)
    is_seed = are_best(pairs, gains, np.log(num_rows))
    num_seeds = is_seed.sum()
    if num_seeds < _MIN_SEEDS:
        return None
    start_from(mixture, agreements, is_seed)
    fit_mixture(mixture, patterns, num_all, num_seeds)
    # Pairs that are alike by chance are lost, or they are a few of many.
    num_matches = mixture.num_matches(num_all)
    is_sound = num_seeds / _MAX_CHANGE < num_matches < num_seeds * _MAX_CHANGE
    return mixture if is_sound else None


def _sizes(columns: Sequence[Column]) -> tuple[int, int]:
    """Returns the number of rows of the smaller table, and of all pairs of rows."""
    num_left = len(columns[0].left)
    num_right = len(columns[0].right)
    if columns[0].is_one_table:
        return max(num_left, 1), num_left * (num_left - 1) // 2
    return max(min(num_left, num_right), 1), num_left * num_right
