"""`match` finds partners of texts in another list; `deduplicate` groups the texts of one list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tf_charagram.data.readers.pairs import LabelledPair
from tf_charagram.errors import ConfigError, check_fraction
from tf_charagram.models._storage.choice import Embedder
from tf_charagram.models._storage.locations import read_config
from tf_charagram.search._pairs.candidates import best_pairs, similar_pairs
from tf_charagram.search._pairs.grouping import (
    Group,
    WeakLink,
    average_linkage,
    check_groups,
    chosen_one_to_one,
    degrees_of,
    group_numbers,
    kept_rows,
    make_groups,
    weak_links,
    with_inner_pairs,
)
from tf_charagram.search._pairs.learning import Learned
from tf_charagram.search._pairs.word_lists import WordLists
from tf_charagram.search.linkage._columns.kinds import ColumnKind
from tf_charagram.search.linkage._fellegi_sunter.linking import Label
from tf_charagram.search.linkage.answers import (
    Match,
    RecordGroups,
    RecordMatches,
    deduplicate_table,
    match_tables,
)
from tf_charagram.search.scoring import TextScorer
from tf_charagram.search.statistics import TextStatistics
from tf_charagram.text._algorithm.arguments import distinct, strings_of

#: Minimum score of duplicates.
THRESHOLD = 0.7
# Pairs are weak in this part of the scores from the threshold to 1.
_WEAK_PART = 1 / 3
# All texts of connected groups up to this size are compared. In larger ones, pairs that were not
# found have less than the threshold: this part of it, about.
MAX_COMPARED = 100
OTHER_SHARE = 0.7
# Partners considered per text for one-to-one matches; some may already be taken.
_NUM_PARTNERS = 20


class Matches(NamedTuple):
    """The result of `match`.

    Attributes:
        pairs: The matches, by left rows.
        threshold: Minimum score of the pairs.
        learned: The threshold that was learned from labels, with precision and recall.
    """

    pairs: list[Match]
    threshold: float
    learned: Learned | None


class Duplicates(NamedTuple):
    """The result of `deduplicate`.

    Attributes:
        groups: Groups of at least two texts, by their smallest rows.
        kept: Rows that are left if each group keeps its first row, ascending.
        threshold: Minimum score within a group.
        learned: The threshold that was learned from labels, with precision and recall.
        weak_links: Pairs of rows that alone connect two parts of a group of `components`, and that
            may be wrong.
    """

    groups: list[Group]
    kept: list[int]
    threshold: float
    learned: Learned | None
    weak_links: list[WeakLink]


@overload
def match(
    left: Iterable[str | bytes],
    right: Iterable[str | bytes],
    model: str | Path | Embedder | None = ...,
    *,
    on: None = ...,
    lexical: bool = ...,
    threshold: float | None = ...,
    one_to_one: bool = ...,
    labels: Iterable[LabelledPair] | None = ...,
    shows_progress: bool = ...,
) -> Matches: ...


@overload
def match(
    left: Any,
    right: Any,
    model: str | Path | Embedder | None = ...,
    *,
    on: Sequence[str],
    on_right: Sequence[str] | None = ...,
    kinds: Mapping[str, str | ColumnKind] | None = ...,
    identifies: Iterable[str] | None = ...,
    threshold: float | None = ...,
    one_to_one: bool = ...,
    labels: Iterable[Label] | None = ...,
) -> RecordMatches: ...


def match(
    left: Any,
    right: Any,
    model: str | Path | Embedder | None = "english",
    *,
    on: Sequence[str] | None = None,
    on_right: Sequence[str] | None = None,
    kinds: Mapping[str, str | ColumnKind] | None = None,
    identifies: Iterable[str] | None = None,
    lexical: bool = True,
    threshold: float | None = None,
    one_to_one: bool = False,
    labels: Iterable[Any] | None = None,
    shows_progress: bool = False,
) -> Matches | RecordMatches:
    """Finds the best right text for each left text, or the rows of two tables that belong together.

    With `on`, the columns of the rows are compared one by one, and scores are probabilities. A pair
    of rows is in the result if it is the best of its left or of its right row; rows without a
    partner are left out.

    Args:
        left: Texts: a list, an array, a column of a data frame. With `on`, a table: a data frame of
            pandas or polars, a table of pyarrow, or a mapping of lists.
        right: Texts, or a table.
        model: Run folder, model folder or name of a model; or an embedder; or `None` to compare
            letters only.
        on: Names of the columns that are compared.
        on_right: Their names in the right table. Default: as `on`.
        kinds: Kinds of columns, by name: `text`, `name`, `code`, `number`, `date`, `list`,
            or a `ColumnKind`. Default: told from the values.
        identifies: Names of the columns that identify a thing, such as given names, dates of birth
            and codes; the others may change, as addresses do. Default: told from the names and
            values of the columns.
        lexical: Whether letters are compared as well as vectors. Without `on` only.
        threshold: Minimum score. Default: learned from labels, or 0 without labels; 0.5 with `on`.
        one_to_one: Whether a right text has at most one partner; pairs with the largest scores
            come first. Only the 20 best right texts of each left text are considered.
        labels: Pairs of texts and whether they match, to learn weights and threshold from. With
            `on`, pairs of row numbers; texts are the cells of a row, joined by spaces.
        shows_progress: Whether progress is shown on standard error, if it is a terminal. Without
            `on` only.

    Raises:
        ConfigError: A list is a single string or contains other values, `threshold` is not in
            [0, 1], there is neither a model nor `lexical`, there are too few labels, or an argument
            is given that has no effect with, or without, `on`.
        RunError: The model cannot be loaded.

    Examples:
        >>> match(["sonny hedphones"], ["Bosch Drill", "Sony Headphones"]).pairs[0].right
        1
    """
    if on is not None:
        _check_columns_only(model, lexical, shows_progress)
        return match_tables(
            left,
            right,
            on,
            on_right=on_right,
            kinds=kinds,
            identifies=identifies,
            threshold=threshold,
            one_to_one=one_to_one,
            labels=labels,
            model=model,
        )
    _check_texts_only(on_right=on_right, kinds=kinds, identifies=identifies)
    left_texts = strings_of(left, "left")
    right_texts = strings_of(right, "right")
    left_words = WordLists.of_texts(left_texts)
    right_words = WordLists.of_texts(right_texts)
    sides = [TextStatistics.of_words(words) for words in (left_words, right_words)]
    scorer, threshold, learned = _make_scorer(
        [*left_texts, *right_texts],
        TextStatistics.merged(sides),
        model,
        lexical,
        labels,
        threshold,
        default_threshold=0.0,
    )
    rows, scores = best_pairs(
        scorer,
        scorer.prepare(left_texts, written=left_words),
        scorer.prepare(right_texts, written=right_words),
        _NUM_PARTNERS if one_to_one else 1,
        threshold,
        shows_progress=shows_progress,
    )
    if one_to_one:
        chosen = chosen_one_to_one(rows, scores)
        rows = rows[chosen]
        scores = scores[chosen]
    pairs = [
        Match(left_row, right_row, score)
        for (left_row, right_row), score in zip(rows.tolist(), scores.tolist(), strict=True)
    ]
    return Matches(pairs, threshold, learned)


@overload
def deduplicate(
    texts: Iterable[str | bytes],
    model: str | Path | Embedder | None = ...,
    *,
    on: None = ...,
    lexical: bool = ...,
    threshold: float | None = ...,
    labels: Iterable[LabelledPair] | None = ...,
    groups: str = ...,
    shows_progress: bool = ...,
) -> Duplicates: ...


@overload
def deduplicate(
    texts: Any,
    model: str | Path | Embedder | None = ...,
    *,
    on: Sequence[str],
    kinds: Mapping[str, str | ColumnKind] | None = ...,
    identifies: Iterable[str] | None = ...,
    threshold: float | None = ...,
    labels: Iterable[Label] | None = ...,
    groups: str = ...,
) -> RecordGroups: ...


def deduplicate(
    texts: Any,
    model: str | Path | Embedder | None = "english",
    *,
    on: Sequence[str] | None = None,
    kinds: Mapping[str, str | ColumnKind] | None = None,
    identifies: Iterable[str] | None = None,
    lexical: bool = True,
    threshold: float | None = None,
    labels: Iterable[Any] | None = None,
    groups: str = "average",
    shows_progress: bool = False,
) -> Duplicates | RecordGroups:
    """Groups the texts, or the rows of a table, that are the same thing.

    Groups are joined as long as the mean score between two of them is at least the threshold; they
    may have any size. The text with the most duplicates is kept. Texts without words are in no
    group. With `on`, the columns of the rows are compared one by one, and scores are probabilities.

    Args:
        texts: Texts: a list, an array, a column of a data frame. With `on`, a table: a data frame
            of pandas or polars, a table of pyarrow, or a mapping of lists.
        model: Run folder, model folder or name of a model; or an embedder; or `None` to compare
            letters only.
        on: Names of the columns that are compared.
        kinds: Kinds of columns, by name: `text`, `name`, `code`, `number`, `date`, `list`,
            or a `ColumnKind`. Default: told from the values.
        identifies: Names of the columns that identify a thing, such as given names, dates of birth
            and codes; the others may change, as addresses do. Default: told from the names and
            values of the columns.
        lexical: Whether letters are compared as well as vectors. Without `on` only.
        threshold: Minimum score. Default: learned from labels, or 0.7 without labels; 0.5 with
            `on`.
        labels: Pairs of texts and whether they match, to learn weights and threshold from. With
            `on`, pairs of row numbers; texts are the cells of a row, joined by spaces.
        groups: `average`, so that parts of a group match on average; or `components`, so that
            rows are in the same group if a chain of pairs connects them.
        shows_progress: Whether progress is shown on standard error, if it is a terminal. Without
            `on` only.

    Raises:
        ConfigError: `texts` is a single string or contains other values, `threshold` is not in
            [0, 1], `groups` is unknown, there is neither a model nor `lexical`, there are too few
            labels, or an argument is given that has no effect with, or without, `on`.
        RunError: The model cannot be loaded.

    Examples:
        >>> deduplicate(["Sony Headphones", "Bosch Drill", "sonny headphones"]).kept
        [0, 1]
    """
    if on is not None:
        _check_columns_only(model, lexical, shows_progress)
        return deduplicate_table(
            texts,
            on,
            kinds=kinds,
            identifies=identifies,
            threshold=threshold,
            labels=labels,
            model=model,
            groups=groups,
        )
    _check_texts_only(kinds=kinds, identifies=identifies)
    check_groups(groups)
    all_texts = strings_of(texts)
    # Equal texts are compared once, and share their group.
    distinct_texts, text_of_row = distinct(all_texts)
    sizes = np.bincount(text_of_row, minlength=len(distinct_texts))
    words = WordLists.of_texts(distinct_texts)
    statistics = TextStatistics.of_words(words, sizes)
    scorer, threshold, learned = _make_scorer(
        all_texts, statistics, model, lexical, labels, threshold, default_threshold=THRESHOLD
    )
    prepared = scorer.prepare(distinct_texts, written=words)
    pairs, scores = similar_pairs(scorer, prepared, threshold, shows_progress=shows_progress)
    num_texts = len(sizes)

    def scores_of_texts(text_pairs: NDArray[np.int64]) -> NDArray[np.floating]:
        return scorer.pair_scores(prepared, prepared, text_pairs, both_ways=True)

    pairs, scores = with_inner_pairs(
        num_texts, pairs, scores, threshold, scores_of_texts, max_rows=MAX_COMPARED
    )
    known = sparse.csr_array((scores, pairs.T), (num_texts, num_texts))

    def scores_of(row_pairs: NDArray[np.int64]) -> NDArray[np.floating]:
        text_pairs = np.sort(text_of_row[row_pairs], axis=1)
        left, right = text_pairs.T
        found = np.asarray(known[left, right])
        found[left == right] = 1
        # The rows of a very large group were not all compared.
        missing = found == 0
        found[missing] = scores_of_texts(text_pairs[missing])
        return found

    linkage = average_linkage(
        num_texts, pairs, scores, threshold, other_score=OTHER_SHARE * threshold
    )
    numbers = group_numbers(groups, linkage, pairs, scores, threshold)
    is_match = scores >= threshold
    pairs = pairs[is_match]
    degrees = degrees_of(pairs, sizes)
    found = make_groups(numbers[text_of_row], degrees[text_of_row], scores_of)
    found = [group for group in found if prepared.num_words[text_of_row[group.rows[0]]]]
    kept = kept_rows(found, len(all_texts))
    weak = []
    if groups == "components":
        _, first_rows = np.unique(text_of_row, return_index=True)
        below = threshold + _WEAK_PART * (1 - threshold)
        for link in weak_links(pairs, scores[is_match], sizes, below):
            ends = {"left": int(first_rows[link.left]), "right": int(first_rows[link.right])}
            weak.append(link._replace(**ends))
    return Duplicates(found, kept, threshold, learned, weak)


def _check_columns_only(
    model: str | Path | Embedder | None, lexical: bool, shows_progress: bool
) -> None:
    """Checks the arguments for texts when columns are compared.

    Raises:
        ConfigError: One is given, and would have no effect.
        RunError: There is no such model.
    """
    if not lexical or shows_progress:
        name = "shows_progress" if lexical else "lexical"
        raise ConfigError(f"`{name}` is for lists of texts. Leave it out, or leave out `on`.")
    if model is not None and not isinstance(model, Embedder):
        read_config(model)


def _check_texts_only(**given: Any) -> None:
    """Checks that no argument for columns is given without `on`.

    Raises:
        ConfigError: One is given, and would have no effect.
    """
    for name, value in given.items():
        if value is not None:
            raise ConfigError(f"`{name}` is for columns. Name them with `on`, or leave it out.")


def _make_scorer(
    texts: Sequence[str],
    statistics: TextStatistics,
    model: str | Path | Embedder | None,
    lexical: bool,
    labels: Iterable[LabelledPair] | None,
    threshold: float | None,
    default_threshold: float,
) -> tuple[TextScorer, float, Learned | None]:
    """Makes a scorer that has learned from labels, if any, and chooses the threshold."""
    if threshold is not None:
        check_fraction("threshold", threshold)
    scorer = TextScorer(texts, model, lexical=lexical, statistics=statistics)
    learned = None
    if labels is not None:
        pairs = list(labels)
        # A string of three letters would pass as a pair with a label.
        if any(isinstance(pair, str) or len(pair) != 3 for pair in pairs):
            raise ConfigError('`labels` must be two texts and 1 or 0 each, as ("tv", "TV set", 1).')
        left = [pair[0] for pair in pairs]
        right = [pair[1] for pair in pairs]
        learned = scorer.learn(left, right, [pair[2] for pair in pairs])
        default_threshold = learned.threshold
    if threshold is None:
        threshold = default_threshold
    return scorer, threshold, learned
