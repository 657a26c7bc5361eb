"""Compares pairs of rows by counts of all rows, so that rows can be anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from tf_charagram.errors import ConfigError
from tf_charagram.search._pairs.flat_arrays import Array, Floats, Ids, lengths_of
from tf_charagram.search._pairs.word_lists import WordLists
from tf_charagram.search._partitions.files import Counts
from tf_charagram.search._partitions.keys import value_hashes
from tf_charagram.search.linkage._columns.columns import (
    MISSING,
    Column,
    cells_of,
    notes_of,
    read_columns,
)
from tf_charagram.search.linkage._columns.ngrams import TrigramCounts
from tf_charagram.search.linkage._columns.recoding import divided
from tf_charagram.search.linkage._columns.value_similarities import text_similarities
from tf_charagram.search.linkage._columns.values import is_missing
from tf_charagram.search.linkage._columns.whole_texts import (
    MIN_BY_COLUMNS,
    SURE_BY_COLUMNS,
    WholeRows,
    WholeTexts,
    read_whole_text,
)
from tf_charagram.search.linkage._fellegi_sunter.evidence import (
    EQUAL,
    compare_column,
    compare_columns,
)
from tf_charagram.search.linkage._fellegi_sunter.finding import (
    are_told_by_titles,
    fitted_mixture,
    row_texts,
    telling_columns,
)
from tf_charagram.search.linkage._fellegi_sunter.linking import UNSEEN, unseen_by_columns
from tf_charagram.search.linkage._fellegi_sunter.mixture import Mixture
from tf_charagram.search.linkage._fellegi_sunter.rivals import Sample, learn_rivals
from tf_charagram.search.linkage._fellegi_sunter.text_links import (
    as_list,
    least_probability,
    other_chances,
    telling_text,
)
from tf_charagram.search.linkage._fellegi_sunter.text_odds import TextOdds
from tf_charagram.search.linkage._fellegi_sunter.text_pairs import MAX_GAIN
from tf_charagram.search.linkage._fellegi_sunter.variants import unclear_matches
from tf_charagram.search.scoring import TextScorer
from tf_charagram.search.statistics import TextStatistics
from tf_charagram.text._algorithm.arguments import distinct

# Scores are rounded: sums of the same numbers in another order differ a little.
_DECIMALS = 5
# Kinds whose values take longest to compare.
_SLOW = ("name", "text")


class Pairs(NamedTuple):
    """Pairs of rows and the values of these rows.

    Attributes:
        values: For each column, the values of the rows, empty if missing.
        pairs: Positions of the rows, `(num_pairs, 2)`.
        num_left: Number of rows of the left table, which come first; or `None` for one table.
        texts: The rows as a whole, where they are compared.
    """

    values: Sequence[Sequence[str]]
    pairs: Ids
    num_left: int | None = None
    texts: Sequence[str] = ()

    @property
    def max_gain(self) -> float:
        """Score that a text of two tables without other good partners counts for."""
        return 0.0 if self.num_left is None else MAX_GAIN


class TextComparison:
    """Compares texts.

    Args:
        scorer: Scores pairs of texts; it counted the words of all. Without one, texts are read.
        threshold: Minimum score.
    """

    kinds = ("text",)
    text_number = 0

    def __init__(self, scorer: TextScorer | None, threshold: float) -> None:
        self._scorer = scorer
        self._threshold = threshold

    def values(self, cells: Sequence[Sequence[str]], side: int) -> list[list[str]]:
        """Returns the texts of rows as they are compared."""
        [texts] = cells
        return [_whole_texts(texts)]

    def words(self, values: Sequence[Sequence[str]]) -> list[list[str]]:
        """Returns the words of texts as keys have them, joined by spaces."""
        [texts] = values
        return [_words_of(texts)]

    def probabilities(self, chunk: Pairs, counts: Counts, lowest: float = 0.0) -> Array:
        """Returns the scores of pairs.

        Args:
            chunk: The pairs.
            counts: Counts of all rows.
            lowest: Pairs that cannot reach this score may get 0.
        """
        if self._scorer is None:
            raise ConfigError("Count the words of all texts first.")
        [texts] = chunk.values
        settings = self._scorer, self._threshold, chunk.max_gain
        found = _text_similarities(*settings, texts, chunk.pairs)
        return found.astype(np.float64).round(_DECIMALS)


class ColumnComparison:
    """Compares rows by their columns, whose kinds are told from a sample of the rows.

    Args:
        on: Names of the columns.
        samples: Cells of each column in rows of each table.
        kinds: Kinds of columns by name.
        identifies: Names of the columns that identify a thing, or `None`.
        num_present: Number of rows with a value, in each column of each table.
        threshold: Minimum probability.
        mixture: The fitted weights, or `None` before `fit`.
    """

    def __init__(
        self,
        on: Sequence[str],
        samples: Sequence[Sequence[Sequence[str]]],
        kinds: dict[str, Any],
        identifies: Sequence[str] | None,
        num_present: Sequence[int],
        threshold: float,
        mixture: Mixture | TextOdds | None = None,
    ) -> None:
        tables: list[Any] = [dict(zip(on, sample, strict=True)) for sample in samples]
        right = tables[1] if len(tables) > 1 else None
        self.columns = read_columns(tables[0], right, on, None, kinds, identifies)
        #: Number of the column that is compared as a list of texts is, or `None`.
        self.text_number = telling_text(self.columns, mixture)
        if self.text_number is not None:
            self.columns[self.text_number] = as_list(self.columns, self.text_number)
        self.kinds = tuple(column.kind.name for column in self.columns)
        self._num_present = num_present
        self._threshold = threshold
        self._sampled = [column.frequencies for column in self.columns]
        self._readers = []
        self._counted: list[TextStatistics | None] = []
        for column in self.columns:
            readers = []
            for side in (column.left_cells, column.right_cells)[: len(tables)]:
                cells = [cell for cell in dict.fromkeys(side) if cell]
                readers.append(column.kind.reader(cells))
            self._readers.append(readers)
            counted = TextStatistics.of_texts(column.values) if column.is_whole else None
            self._counted.append(counted)
            if column.kind.name == "text" and not column.is_whole:
                trigrams = TrigramCounts.of_texts(column.values)
                similarities = partial(text_similarities, counted=trigrams)
                column.kind = column.kind._replace(similarities=similarities)
        self.mixture = mixture
        #: Share of the matches that may look like random pairs.
        self.unseen: float | None = UNSEEN
        #: Matches that are known to look like random pairs, for each one that does not.
        self.hidden = 0.0
        #: Share of the matches that may be variants.
        self.unclear = 0.0
        #: Numbers of the columns that make the row as a whole; none where it is not compared.
        self.telling: list[int] = []
        #: Compares rows as a whole, by the words of all rows.
        self.row_scorer: TextScorer | None = None
        #: Log-odds by rows of pairs that match by their columns, ascending.
        self.row_matches = np.zeros(0)
        #: Values of the left table by codes of the right one, or what its numbers are divided by;
        #: `None` if both write the same.
        self.recoded: list[dict[str, str] | float | None] = [None] * len(self.columns)

    def values(self, cells: Sequence[Sequence[str]], side: int) -> list[list[str]]:
        """Returns the values of rows in the form that is compared, empty if missing."""
        found = []
        for number, (column, readers) in enumerate(zip(self.columns, self._readers, strict=True)):
            own = cells[column.source if side else number]
            texts = cells_of({column.name: own}, column.name, "rows")
            if number == self.text_number:
                found.append(_whole_texts(texts))
                continue
            read = readers[side]
            forms = {cell: read(cell) if cell else "" for cell in dict.fromkeys(texts)}
            found.append([forms[text] for text in texts])
        return found

    def words(self, values: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
        """Returns the values, whose words are separated by spaces."""
        if self.text_number is None:
            return values
        found = list(values)
        found[self.text_number] = _words_of(values[self.text_number])
        return found

    def texts_of(self, cells: Sequence[Sequence[str]]) -> list[str]:
        """Returns rows as a whole, as they are compared."""
        telling = []
        for number in self.telling:
            name = self.columns[number].name
            telling.append(cells_of({name: cells[number]}, name, "rows"))
        return row_texts(telling)

    def columns_of(self, chunk: Pairs, counts: Counts) -> list[Column]:
        """Returns rows as columns of one or two tables, with counts of all rows."""
        found = []
        for number, (column, own) in enumerate(zip(self.columns, chunk.values, strict=True)):
            recoded = self.recoded[number]
            if recoded is not None:
                start = chunk.num_left or 0
                own = [*own[:start], *_recoded(own[start:], recoded)]
            # Missing values come first, and become `MISSING`.
            every, numbers_of = distinct(["", *own])
            values = every[1:]
            places = numbers_of[1:] + MISSING
            left = right = places
            sides = counts.of(value_hashes(values, number))
            numbers = [sides.sum(axis=1)]
            if chunk.num_left is not None:
                left, right = np.split(places, [chunk.num_left])
                numbers = [*sides.T]
            num_rows = self._num_present[number]
            known = self._sampled[number]._replace(counts=numbers, num_rows=num_rows)
            kind = column.kind
            counted = self._counted[number]
            if number == self.text_number and self.row_scorer is not None:
                least = least_probability(self.columns, number, self._threshold)
                settings = self.row_scorer, least, chunk.max_gain
                kind = kind._replace(similarities=partial(_text_similarities, *settings))
            elif counted is not None:
                whole = WholeTexts.of_values(values, counted)
                kind = kind._replace(similarities=whole.similarities)
            own_column = replace(
                column,
                kind=kind,
                values=values,
                left=left,
                right=right,
                left_cells=(),
                right_cells=(),
                known=known,
            )
            found.append(own_column)
        return found

    def fit(
        self, chunk: Pairs, counts: Counts, num_rows: int, num_others: float, sample: Sample
    ) -> list[str]:
        """Fits the weights of the columns to candidates.

        Args:
            chunk: The candidates of some left rows, and all others of their right rows.
            counts: Counts of all rows.
            num_rows: Number of these left rows.
            num_others: Number of rows that each could be paired with.
            sample: Which pairs are those of the left rows.

        Returns:
            What the user should know about columns that two tables write in two ways.
        """
        columns = self.columns_of(chunk, counts)
        pairs = _sided(chunk)
        if self.text_number is not None:
            agreements = compare_columns(columns, pairs[sample.is_own])
            chance = other_chances(self.columns, self.text_number)
            self.mixture = TextOdds.fitted(self.text_number, chance, agreements)
            self.telling = [self.text_number]
            self.unseen = None
            return notes_of(self.columns)
        sizes = max(num_rows, 1), int(num_rows * num_others)
        translated, self.mixture, _ = fitted_mixture(columns, pairs[sample.is_own], sizes=sizes)
        if chunk.num_left is not None:
            agreements = compare_columns(translated, pairs)
            learn_rivals(self.mixture, translated, pairs, agreements, sizes[1], sample)
        if are_told_by_titles(translated):
            self.telling = telling_columns(translated, self.mixture)
        else:
            self.unseen = unseen_by_columns(translated, self.mixture)
        self.unclear = unclear_matches(translated, self.mixture)
        for number, (before, after) in enumerate(zip(columns, translated, strict=True)):
            self.columns[number].is_identifying = after.is_identifying
            if after.is_recoded or after.factor != 1:
                codes = _translated_codes(before, after)
                self.recoded[number] = codes if after.factor == 1 else after.factor
        return notes_of(translated)

    def probabilities(self, chunk: Pairs, counts: Counts, lowest: float = 0.0) -> Array:
        """Returns the probabilities that pairs match.

        Args:
            chunk: The pairs.
            counts: Counts of all rows.
            lowest: Pairs that cannot reach this probability may get 0.
        """
        if self.mixture is None:
            raise ConfigError("Call `fit` first.")
        columns = self.columns_of(chunk, counts)
        pairs = _sided(chunk)
        found = np.zeros(len(pairs))
        if isinstance(self.mixture, TextOdds):
            agreements = compare_columns(columns, pairs)
            found = expit(self.mixture.log_odds(agreements))
            found[agreements[self.mixture.number].similarities == 0] = 0
            return found.round(_DECIMALS)
        least = logit(lowest) if self.row_scorer is None else MIN_BY_COLUMNS
        chosen = np.flatnonzero(_highest(columns, pairs, self.mixture) >= least)
        agreements = compare_columns(columns, pairs[chosen])
        log_odds = self.mixture.log_odds(agreements)
        if self.row_scorer is not None:
            rivals = self.mixture.rival_shares(agreements, self.telling)
            log_odds = self._rows(chunk).log_odds(log_odds, pairs[chosen], rivals)
        found[chosen] = expit(log_odds)
        return found.round(_DECIMALS)

    def fit_rows(self, chunk: Pairs, counts: Counts) -> None:
        """Learns from candidates how different the words of rows may be that match by columns."""
        if self.mixture is None:
            raise ConfigError("Call `fit` first.")
        if isinstance(self.mixture, TextOdds):
            return
        pairs = _sided(chunk)
        agreements = compare_columns(self.columns_of(chunk, counts), pairs)
        log_odds = self.mixture.log_odds(agreements)
        is_sure = log_odds > SURE_BY_COLUMNS
        rows = self._rows(chunk)
        rows.fit(log_odds[is_sure], pairs[is_sure])
        self.row_matches = rows.of_matches

    def _rows(self, chunk: Pairs) -> WholeRows:
        num_left = chunk.num_left
        left = chunk.texts[:num_left]
        right = chunk.texts[num_left or 0 :]
        rows = WholeRows(left, right, self.row_scorer)
        rows.of_matches = self.row_matches
        return rows


def _text_similarities(
    scorer: TextScorer,
    threshold: float,
    gain: float,
    texts: Sequence[str],
    pairs: NDArray[np.integer],
) -> Floats:
    """Returns the probabilities of pairs of texts, 0 if they cannot reach a threshold.

    Args:
        scorer: Scores pairs of texts.
        threshold: The threshold.
        gain: Score that a text without other good partners counts for.
        texts: The texts.
        pairs: Their positions, `(num_pairs, 2)`.
    """
    prepared = scorer.prepare(texts)
    whole = WholeTexts(scorer, prepared)
    least = max(whole.least_score(threshold) - gain, 0)
    evidence = scorer.pair_evidence(prepared, prepared, pairs, least)
    is_enough = evidence.scores >= least
    found = np.zeros(len(pairs), np.float32)
    found[is_enough] = whole.probabilities(pairs[is_enough], evidence.take(is_enough))
    return found


def _whole_texts(texts: Sequence[str]) -> list[str]:
    """Returns texts as lists of them are compared; a text without words is empty."""
    found = list(map(read_whole_text, texts))
    num_words = lengths_of(WordLists.of_texts(found).splits)
    for row in np.flatnonzero(num_words == 0).tolist():
        found[row] = ""
    for row, text in enumerate(texts):
        if is_missing(text):
            found[row] = ""
    return found


def _words_of(texts: Sequence[str]) -> list[str]:
    """Returns the words of texts as keys have them, joined by spaces."""
    lists = WordLists.of_texts(texts)
    return [" ".join(words) for words in lists.strings(range(len(lists)))]


def _translated_codes(before: Column, after: Column) -> dict[str, str]:
    """Returns the left values that codes of the right table stand for."""
    codes = {}
    for old, new in zip(before.right.tolist(), after.right.tolist(), strict=True):
        if new != MISSING:
            codes[before.values[old]] = after.values[new]
    return codes


def _recoded(values: Sequence[str], recoded: dict[str, str] | float) -> list[str]:
    """Returns right values as the left table writes them, empty if that is not known."""
    if isinstance(recoded, dict):
        return [recoded.get(value, "") for value in values]
    return [divided(value, recoded) if value else "" for value in values]


def _highest(columns: Sequence[Column], pairs: Ids, mixture: Mixture) -> Array:
    """Returns bounds of the log-odds of pairs: names, which are slow to compare, may be alike."""
    agreements = []
    for column, match, chance in zip(columns, mixture.match, mixture.chance, strict=True):
        if column.kind.name in _SLOW:
            # The level with the most evidence that values can have that are not equal.
            unequal = slice(EQUAL + 1, None)
            best = np.argmax(np.log(match[unequal]) - np.log(chance[unequal]))
            similarity = [*column.kind.cutoffs, 0.0][int(best)]
            kind = column.kind._replace(similarities=partial(_all_alike, similarity))
            column = replace(column, kind=kind)
        agreements.append(compare_column(column, pairs))
    log_priors = mixture.log_priors
    # What follows from another column has less evidence.
    evidence: Array = replace(mixture, parents=[]).column_evidence(agreements).sum(axis=1)
    return evidence + mixture.changes.max() + (log_priors[0] - log_priors[-1])


def _all_alike(similarity: float, values: Sequence[str], pairs: NDArray[np.integer]) -> Floats:
    return np.full(len(pairs), similarity, np.float32)


def _sided(chunk: Pairs) -> Ids:
    """Returns pairs with right rows counted from the first right row on."""
    return chunk.pairs - np.array([0, chunk.num_left or 0])
