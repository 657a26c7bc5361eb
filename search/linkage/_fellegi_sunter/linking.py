"""Links of rows: candidate pairs of one or two tables, their evidence and their probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.models._storage.choice import Embedder
from tf_charagram.search._pairs.connected import with_inner_pairs
from tf_charagram.search._pairs.learning import (
    Learned,
    best_threshold,
    check_pairs,
    predicts_better,
)
from tf_charagram.search.linkage._columns.columns import Column, cells_of, make_column
from tf_charagram.search.linkage._columns.kinds import ColumnKind
from tf_charagram.search.linkage._columns.recoding import written_otherwise
from tf_charagram.search.linkage._columns.values import folded
from tf_charagram.search.linkage._columns.whole_texts import WholeRows, read_whole_text
from tf_charagram.search.linkage._fellegi_sunter.blocking import candidate_pairs
from tf_charagram.search.linkage._fellegi_sunter.evidence import (
    ABSENT,
    EQUAL,
    Agreement,
    chance_levels,
    compare_columns,
    count_things,
    random_pairs,
)
from tf_charagram.search.linkage._fellegi_sunter.fitting import fit_mixture
from tf_charagram.search.linkage._fellegi_sunter.learned import LearnedLinks, LearnedWeights
from tf_charagram.search.linkage._fellegi_sunter.mixture import Mixture
from tf_charagram.search.linkage._fellegi_sunter.rivals import Sample, learn_rivals
from tf_charagram.search.linkage._fellegi_sunter.rows import PairRivals, joined_cells
from tf_charagram.search.linkage._fellegi_sunter.text_odds import (
    TextOdds,
    mutual_evidence,
    rival_evidence,
)
from tf_charagram.search.linkage._fellegi_sunter.text_pairs import link_texts

#: Two rows and whether they match, 1 or 0. A row is its number, or its cells joined by spaces.
Label = tuple[int | str, int | str, int]
# Share of the rows that have a partner, before any pair is seen.
_EXPECTED_SHARE = 0.5
# With fewer columns, so many of the matches may look like random pairs. Of generated people and
# firms with two or three columns, up to a third did.
_MIN_COLUMNS = 4
_UNSEEN = 0.4
# Labels of each kind that a model needs.
_MIN_OF_EACH = 2
# Kinds of columns that are part of the row as a whole, unless so many matches differ in them.
_WORDS = ("code", "name", "text")
_MAX_OTHER_WORDS = 0.3
# With fewer columns, none but numbers may change.
_MIN_CHANGING = 3


class Evidence(NamedTuple):
    """What one column says about a pair.

    Attributes:
        column: Name of the column; `prior` for the knowledge before any column is seen, and
            `together` for the rows as a whole: agreement as of relatives, and what labels taught
            about whole rows.
        left: Cell of the left row, empty if it is missing.
        right: Cell of the right row.
        agreement: `equal`, `near`, `different`, or `missing`.
        weight: Evidence for a match in bits: 1 doubles the odds, -1 halves them.
    """

    column: str
    left: str
    right: str
    agreement: str
    weight: float


@dataclass
class Links:
    """Candidate pairs of rows with probabilities.

    Attributes:
        columns: The columns that were compared.
        mixture: The model without labels.
        pairs: Rows of both tables, `(num_pairs, 2)`, sorted.
        probabilities: Probabilities that they match, `(num_pairs,)`.
        rivals: Other partners of the rows where titles identify them, or `None`.
        rows: The rows as a whole if only texts identify them, or `None`.
        mutual: Evidence for pairs of texts that are the best ones of both of their rows.
        model: The model with labels, or `None` without labels.
        learned: Precision and recall on held-out labels, or `None` without labels.
        learner: The model that was fitted to labels, even if the answer without them is better.
    """

    columns: list[Column]
    mixture: Mixture | TextOdds
    pairs: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    rivals: PairRivals | None = None
    rows: WholeRows | None = None
    mutual: float = 0.0
    model: LearnedLinks | None = None
    learned: Learned | None = None
    learner: LearnedLinks | None = None

    @property
    def unseen(self) -> float | None:
        """Share of the matches that may look like random pairs, or `None` if it is not known.

        A match that differs in most of a few columns looks like a random pair, and so do titles in
        other words. The probabilities of a single text are not fitted to the tables, so they do not
        say how many matches there are.
        """
        if self.model is None and isinstance(self.mixture, TextOdds):
            return None
        is_little = len(self.columns) < _MIN_COLUMNS or self.rows is not None
        return _UNSEEN if is_little else 0.0

    def probabilities_of(
        self, pairs: NDArray[np.int64], agreements: Sequence[Agreement] | None = None
    ) -> NDArray[np.float64]:
        """Returns the probabilities of any pairs of rows, `(num_pairs,)`.

        Args:
            pairs: Rows of both tables, `(num_pairs, 2)`.
            agreements: How they agree in each column, if it is known.
        """
        found: NDArray[np.float64] = expit(self._log_odds(pairs, agreements))
        if isinstance(self.mixture, TextOdds):
            [column] = self.columns
            left, right = pairs.T
            found[column.left[left] == column.right[right]] = 1
        return found

    def _log_odds(
        self, pairs: NDArray[np.int64], agreements: Sequence[Agreement] | None = None
    ) -> NDArray[np.float64]:
        if self.model is not None:
            return self.model.log_odds(pairs)
        return self._plain_log_odds(pairs, agreements)

    def _plain_log_odds(
        self, pairs: NDArray[np.int64], agreements: Sequence[Agreement] | None = None
    ) -> NDArray[np.float64]:
        """Returns the log-odds without labels, `(num_pairs,)`."""
        if agreements is None:
            agreements = compare_columns(self.columns, pairs)
        log_odds = self.mixture.log_odds(agreements)
        if self.rows is not None:
            log_odds = self.rows.log_odds(log_odds, pairs)
        if self.rivals is not None:
            rivals = self.rivals.scores(pairs)
            log_odds = log_odds + rival_evidence(log_odds, rivals, self.mutual)
        return log_odds

    def learn_from(self, labels: Iterable[Label], model: str | Path | Embedder | None) -> None:
        """Learns the weights of the columns, and of the rows as a whole, from labelled pairs.

        Args:
            labels: Two rows, and 1 or 0 each.
            model: The model that compares the rows as a whole, or `None` to compare letters only.

        Nothing changes if there are fewer than two matches or two others, or unless held-out
        labels are answered better.

        Raises:
            ConfigError: A row does not exist, or a label is not 1 or 0.
        """
        rows = self.numbered(labels)
        is_match = rows[:, 2].astype(bool)
        if min(is_match.sum(), (~is_match).sum()) < _MIN_OF_EACH:
            return
        self.model = None
        found = self.probabilities_of(rows[:, :2])
        if self.learner is None:
            self.learner = LearnedLinks(self.columns, self._plain_log_odds, self.pairs, model)
        held_out = self.learner.learn(rows[:, :2], is_match)
        if predicts_better(held_out, found, is_match):
            self.model = self.learner
            found = held_out
        self.learned = best_threshold(found, is_match)
        self.probabilities = self.probabilities_of(self.pairs)

    def use_weights(
        self,
        fitted: LearnedWeights,
        learned: Learned,
        model: str | Path | Embedder | None,
    ) -> None:
        """Compares the rows by weights that were learned from other tables.

        Args:
            fitted: The weights.
            learned: Precision and recall on held-out labels.
            model: The model that compares the rows as a whole, or `None`.
        """
        self.model = LearnedLinks(self.columns, self._plain_log_odds, self.pairs, model)
        self.model.fitted = fitted
        self.learned = learned
        self.probabilities = self.probabilities_of(self.pairs)

    def numbered(self, labels: Iterable[Label]) -> NDArray[np.int64]:
        """Returns labels with row numbers, `(num_labels, 3)`.

        Raises:
            ConfigError: A row does not exist, is paired with itself, or a pair has both labels.
        """
        pairs = list(labels)
        if any(isinstance(pair, str) or len(pair) != 3 for pair in pairs):
            raise ConfigError("`labels` must be two rows and 1 or 0 each, as (12, 7, 1).")
        sides = []
        for side, name in enumerate(("left", "right")):
            num_rows = len(getattr(self.columns[0], name))
            # Only if it is needed: a table may have a million rows.
            has_texts = any(isinstance(pair[side], str) for pair in pairs)
            rows = _rows_by_text(self.columns, name) if has_texts else {}
            numbers = []
            for pair in pairs:
                label = pair[side]
                row = rows.get(_label_text(label), -1) if isinstance(label, str) else int(label)
                if not 0 <= row < num_rows:
                    raise ConfigError(
                        f"`labels` must name rows of the {name} table, from 0 to {num_rows - 1}, "
                        f"or repeat their cells. Received: {label!r}"
                    )
                numbers.append(row)
            sides.append(numbers)
        values = [pair[2] for pair in pairs]
        if not all(value in (0, 1) for value in values):
            raise ConfigError("`labels` must be two rows and 1 or 0 each, as (12, 7, 1).")
        numbered = np.array([*sides, values], np.int64).T.reshape(-1, 3)
        is_one_table = self.columns[0].is_one_table
        if is_one_table:
            # Texts that are equal, as they are compared, teach nothing.
            are_texts = np.array([isinstance(pair[0], str) for pair in pairs], bool)
            numbered = numbered[~are_texts | (numbered[:, 0] != numbered[:, 1])]
        check_pairs(numbered.tolist(), is_one_table)
        return numbered

    def keep_uncertain(self, num_pairs: int) -> None:
        """Drops all but so many pairs, the most certain ones first."""
        order = np.argsort(np.abs(self.probabilities - 0.5), kind="stable")
        kept = np.sort(order[:num_pairs])
        self.pairs = self.pairs[kept]
        self.probabilities = self.probabilities[kept]

    def add_inner_pairs(self, threshold: float) -> None:
        """Adds the pairs of rows that other pairs connect.

        A row of a large group has more partners than it has candidates.
        """
        num_rows = len(self.columns[0].left)
        self.pairs, probabilities = with_inner_pairs(
            num_rows, self.pairs, self.probabilities, threshold, self.probabilities_of
        )
        self.probabilities = probabilities.astype(np.float64)

    def explain(self, left: int, right: int) -> list[Evidence]:
        """Returns the evidence about a pair; the weights sum to the log-odds of its probability."""
        pair = np.array([[left, right]])
        agreements = compare_columns(self.columns, pair)
        [weights] = self.mixture.column_evidence(agreements)
        log_priors = self.mixture.log_priors
        prior = log_priors[0] - log_priors[-1]
        [log_odds] = self._log_odds(pair)
        if self.model is not None:
            share, learned = self.model.evidence(pair)
            prior *= share
            weights = share * weights + learned
        rest = log_odds - prior - weights.sum()
        lines = [Evidence("prior", "", "", "", _bits(prior))]
        for column, agreement, weight in zip(self.columns, agreements, weights, strict=True):
            cells = column.left_cells[left], column.right_cells[right]
            level = _level_name(column, int(agreement.levels[0]))
            lines.append(Evidence(column.name, *cells, level, _bits(weight)))
        return [*lines, Evidence("together", "", "", "", _bits(rest))]


def _bits(log_ratio: float) -> float:
    return float(log_ratio / np.log(2))


def _rows_by_text(columns: Sequence[Column], side: str) -> dict[str, int]:
    """Returns the first row with each text: the cells of the row, joined by spaces."""
    table = [getattr(column, f"{side}_cells") for column in columns]
    rows: dict[str, int] = {}
    for row, cells in enumerate(zip(*table, strict=True)):
        rows.setdefault(_label_text(" ".join(cells)), row)
    return rows


def _label_text(text: str) -> str:
    """Returns the letters of a text, by which labels and rows are compared."""
    return folded(text).replace(" ", "")


def _level_name(column: Column, level: int) -> str:
    if level == ABSENT:
        return "missing"
    if level == EQUAL:
        return "equal"
    return "near" if level <= EQUAL + len(column.kind.cutoffs) else "different"


def read_columns(
    left: Any,
    right: Any | None,
    on: Sequence[str],
    on_right: Sequence[str] | None = None,
    kinds: Mapping[str, str | ColumnKind] | None = None,
    identifies: Iterable[str] | None = None,
) -> list[Column]:
    """Returns the columns of one or two tables.

    Args:
        left: A data frame of pandas or polars, a table of pyarrow, or a mapping of lists.
        right: Another one, or `None`.
        on: Names of the columns that are compared.
        on_right: Their names in the right table. Default: as `on`.
        kinds: Kind of columns, by name: `text`, `name`, `code`, `number`, `date`, `list`,
            or a `ColumnKind`. Default: told from the values.
        identifies: Names of the columns that identify a thing, such as given names and dates of
            birth; the others may change. Default: told from the names and values of the columns.

    Raises:
        ConfigError: A table lacks a column, columns differ in length, or a kind is unknown.
    """
    kinds = dict(kinds or {})
    if isinstance(on, str):
        raise ConfigError(f"`on` must be a list of names of columns. Received: {on!r}")
    on_right = on if on_right is None else on_right
    if not on or len(on) != len(on_right):
        raise ConfigError(
            "`on` and `on_right` must name the same number of columns, at least one. "
            f"Received: on={list(on)}, on_right={list(on_right)}"
        )
    identifying = None if identifies is None else list(identifies)
    for name in [*kinds, *(identifying or ())]:
        if name not in on:
            raise ConfigError(unknown_name("column", name, on))
    columns = []
    for name, right_name in zip(on, on_right, strict=True):
        left_cells = cells_of(left, name, "left")
        right_cells = None if right is None else cells_of(right, right_name, "right")
        columns.append(
            make_column(
                name,
                left_cells,
                right_cells,
                kinds.get(name),
                is_alone=len(on) == 1,
                is_identifying=None if identifying is None else name in identifying,
            )
        )
    if len({(len(column.left), len(column.right)) for column in columns}) > 1:
        raise ConfigError("All columns of a table must have the same length.")
    return columns


def find_links(
    columns: Sequence[Column],
    labels: Iterable[Label] | None = None,
    model: str | Path | Embedder | None = None,
    fitted: Mixture | None = None,
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
        ConfigError: A label names no row.
    """
    columns = list(columns)
    if len(columns) == 1 and columns[0].is_whole:
        links = _text_links(
            columns[0], model, threshold, lexical=lexical, shows_progress=shows_progress
        )
    else:
        links = _column_links(columns, model, fitted, first)
    if labels is not None:
        links.learn_from(labels, model)
    return links


def _text_links(
    column: Column,
    model: str | Path | Embedder | None,
    threshold: float,
    *,
    lexical: bool,
    shows_progress: bool,
) -> Links:
    """Finds the links of a single column of texts."""
    pairs = link_texts(column, model, threshold, lexical=lexical, shows_progress=shows_progress)
    agreements = compare_columns([column], pairs)
    probabilities = expit(TextOdds().log_odds(agreements))
    links = Links([column], TextOdds(), pairs, probabilities)
    if lexical and not column.is_one_table:
        texts = column.left, column.right
        links.rivals = PairRivals(texts, pairs, probabilities, is_one_table=False)
        left, right = pairs.T
        text_pairs = np.stack([column.left[left], column.right[right]], axis=1)
        present = [np.unique(side[side >= 0]) for side in texts]
        alone = links.probabilities_of(pairs, agreements)
        links.mutual = mutual_evidence(text_pairs, alone, present)
    links.probabilities = links.probabilities_of(pairs, agreements)
    return links


def _column_links(
    columns: list[Column], model: str | Path | Embedder | None, fitted: Mixture | None, first: int
) -> Links:
    """Finds the links of rows with several columns, or with one of numbers, codes or dates."""
    pairs = candidate_pairs(columns, first=first)
    columns, mixture, agreements = fitted_mixture(columns, pairs, fitted)
    is_one_table = columns[0].is_one_table
    if fitted is None and not is_one_table:
        num_all = max(_sizes(columns)[1], 1)
        learn_rivals(mixture, columns, pairs, agreements, num_all, Sample.of_all(columns))
    links = Links(columns, mixture, pairs, np.zeros(len(pairs)))
    if are_told_by_titles(columns):
        telling = [columns[number] for number in telling_columns(columns, mixture)]
        left = row_texts([column.left_cells for column in telling])
        right = row_texts([column.right_cells for column in telling])
        links.rows = WholeRows(left, right, model=model)
        links.rows.fit(mixture.log_odds(agreements), pairs)
        # Before the rivals are there: these are the rivals' own probabilities.
        probabilities = links.probabilities_of(pairs, agreements)
        links.rivals = PairRivals(links.rows.texts, pairs, probabilities, is_one_table=is_one_table)
    links.probabilities = links.probabilities_of(pairs, agreements)
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
        if column.kind.name in _WORDS and not column.note and shares[-1] < _MAX_OTHER_WORDS:
            telling.append(number)
    return telling or list(range(len(columns)))


def row_texts(table: Sequence[Sequence[str]]) -> list[str]:
    """Returns the rows of some columns as texts that `WholeRows` compares."""
    return [read_whole_text(text) for text in joined_cells(table)]


def fitted_mixture(
    columns: list[Column],
    pairs: NDArray[np.int64],
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
    samples = random_pairs(columns)
    agreements = compare_columns(columns, pairs)
    chance = [chance_levels(column, samples) for column in columns]
    is_identifying = [column.is_identifying for column in columns]
    if len(columns) < _MIN_CHANGING:
        # Where one of two columns may change, the other one alone would make a match.
        is_identifying = [column.kind.name != "number" for column in columns]
    start = Mixture.before_pairs(chance, is_identifying)
    ratios = start.column_evidence(agreements)
    translated = written_otherwise(columns, agreements, ratios, pairs, np.log(max(num_all, 1)))
    changed = [number for number, column in enumerate(translated) if column is not columns[number]]
    if changed:
        agreements = compare_columns(translated, pairs)
    for number in changed:
        chance[number] = chance_levels(translated[number], samples)
    num_all = max(num_all, 1)
    row_share = num_rows / num_all

    def fit() -> Mixture:
        if fitted is not None:
            return fitted.for_tables(row_share)
        mixture = Mixture.before_pairs(chance, is_identifying)
        mixture.row_share = row_share
        return fit_mixture(mixture, agreements, num_all, _EXPECTED_SHARE * num_rows)

    mixture = fit()
    if sizes is None and columns[0].is_one_table:
        probabilities = expit(mixture.log_odds(agreements))
        translated, agreements = count_things(translated, pairs, agreements, probabilities)
        mixture = fit()
    return translated, mixture, agreements


def _sizes(columns: Sequence[Column]) -> tuple[int, int]:
    """Returns the number of rows of the smaller table, and of all pairs of rows."""
    num_left = len(columns[0].left)
    num_right = len(columns[0].right)
    if columns[0].is_one_table:
        return max(num_left, 1), num_left * (num_left - 1) // 2
    return max(min(num_left, num_right), 1), num_left * num_right
