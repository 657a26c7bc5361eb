"""Links of texts or rows as partners, and as groups."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tf_charagram.errors import ConfigError, check_fraction
from tf_charagram.search._pairs.average_linkage import Linkage, average_linkage, group_numbers
from tf_charagram.search._pairs.flat_arrays import Flags, Ids, are_first, distinct_integers
from tf_charagram.search._pairs.grouping import (
    Group,
    WeakLink,
    chosen_one_to_one,
    degrees_of,
    kept_rows,
    make_groups,
    weak_links,
)
from tf_charagram.search._pairs.learning import Learned
from tf_charagram.search.linkage._columns.frames import join_rows, with_new_column
from tf_charagram.search.linkage._fellegi_sunter.linking import (
    Evidence,
    Links,
)
from tf_charagram.search.linkage._fellegi_sunter.text_odds import TextOdds
from tf_charagram.search.linkage.estimates import THRESHOLDS, Estimate, estimate

# Minimum probability of a match, and minimum cosine where vectors alone are compared.
_THRESHOLD = 0.5
_MIN_COSINE = 0.7
# Pairs that are less probable count for no estimate.
_MIN_POSSIBLE = 1e-6
# Groups that hang on a pair below this probability are worth a look. Texts hardly have as much:
# theirs are weak in this part of the probabilities from the threshold to 1.
_WEAK = 0.9
_WEAK_PART = 1 / 3


class Match(NamedTuple):
    """Two texts or rows that belong together, by their rows in both tables, and their score."""

    left: int
    right: int
    score: float


@dataclass
class Matches:
    """The result of `match`.

    Attributes:
        pairs: The matches, by left rows, the most probable first.
        threshold: Minimum probability of the pairs.
        estimates: Expected precision and recall, at the threshold and at others.
        learned: Precision and recall on held-out labels, or `None` without labels.
        links: All candidates.
    """

    pairs: list[Match]
    threshold: float
    estimates: list[Estimate]
    learned: Learned | None
    links: Links = field(compare=False)

    def __repr__(self) -> str:
        # All pairs of large tables would fill a notebook.
        return f"Matches(num_pairs={len(self.pairs)}, threshold={self.threshold:g})"

    def alternatives(self, row: int, k: int = 3) -> list[Match]:
        """Returns the k most probable right rows of a left row, however improbable."""
        rows = self.links.pairs[:, 0]
        first, last = np.searchsorted(rows, [row, row + 1])
        order = np.argsort(-self.links.probabilities[first:last], kind="stable")
        return _matches(self.links, first + order[:k])

    def explain(self, row: int, right: int | None = None) -> list[Evidence]:
        """Returns the evidence for the best partner of a left row, or for another right row.

        Raises:
            ConfigError: No right row is given, and the left row has no candidate.
        """
        if right is None:
            best = self.alternatives(row, 1)
            if not best:
                raise ConfigError(f"Row {row} has nothing in common with any right row.")
            right = best[0].right
        return self.links.explain(row, right)

    def join(self, left: Any, right: Any) -> Any:
        """Joins the rows of both tables side by side, a row for each pair.

        Args:
            left: The left table that was matched.
            right: The right table.

        Returns:
            A table of the same type with all columns of both and `score`. A right column whose name
            is taken ends in `_right`.
        """
        pairs = [(pair.left, pair.right) for pair in self.pairs]
        return join_rows(left, right, pairs, [pair.score for pair in self.pairs])


@dataclass
class Duplicates:
    """The result of `deduplicate`.

    Attributes:
        groups: Groups of at least two rows, by their smallest rows.
        kept: Rows that are left if each group keeps its first row, ascending.
        threshold: Minimum probability of the pairs that make the groups.
        estimates: Expected precision and recall of the pairs in groups.
        learned: Precision and recall on held-out labels, or `None` without labels.
        weak_links: Pairs of rows that alone connect two parts of a group of `components`, and that
            may be wrong.
        links: All candidates.
    """

    groups: list[Group]
    kept: list[int]
    threshold: float
    estimates: list[Estimate]
    learned: Learned | None
    weak_links: list[WeakLink]
    links: Links = field(compare=False)

    def __repr__(self) -> str:
        return f"Duplicates(num_groups={len(self.groups)}, threshold={self.threshold:g})"

    def explain(self, left: int, right: int) -> list[Evidence]:
        """Returns the evidence for two rows."""
        return self.links.explain(left, right)

    def table(self, table: Any) -> Any:
        """Returns the table that was deduplicated with the columns `group` and `kept`.

        `group` is the number of the group, from 1, and 0 for a row without duplicates. If the table
        has such a column, the new one is `group_2`.
        """
        num_rows = len(self.links.columns[0].left)
        numbers = np.zeros(num_rows, np.int64)
        for number, group in enumerate(self.groups, start=1):
            numbers[group.rows] = number
        is_kept = np.zeros(num_rows, bool)
        is_kept[self.kept] = True
        numbered = with_new_column(table, "group", numbers.tolist())
        return with_new_column(numbered, "kept", is_kept.tolist())


def matches_of(links: Links, threshold: float, *, one_to_one: bool = False) -> Matches:
    """Chooses the pairs that are the best of one of their rows, with a minimum probability."""
    column = links.telling_column
    chosen, estimates = answers_of(
        links.pairs,
        links.probabilities,
        _have_same_cells(links),
        threshold,
        one_to_one=one_to_one,
        unseen=links.unseen,
        unclear=links.unclear,
        num_rows=(len(column.left), len(column.right)),
        texts=(column.left, column.right) if links.unseen is None else None,
    )
    return Matches(_matches(links, chosen), threshold, estimates, links.learned, links)


def answers_of(
    pairs: Ids,
    probabilities: NDArray[np.floating],
    is_same: Flags,
    threshold: float,
    *,
    one_to_one: bool,
    unseen: float | None,
    unclear: float,
    num_rows: tuple[int, int],
    texts: tuple[Ids, Ids] | None,
) -> tuple[Ids, list[Estimate]]:
    """Chooses the best pairs of two tables, and estimates precision and recall.

    Args:
        pairs: Rows of both tables, `(num_pairs, 2)`, sorted.
        probabilities: Their probabilities, `(num_pairs,)`.
        is_same: Whether the first cells of their rows are equal to the letter.
        threshold: Minimum probability.
        one_to_one: Whether each row is in one pair at most.
        unseen: Share of the matches that are no pairs, or `None` if it is not known.
        unclear: Share of the matches that may be none.
        num_rows: Number of rows of both tables.
        texts: The text of each row of two lists, or `None` for tables.

    Returns:
        The indices of the pairs, by left rows, the best ones first; and the estimates.
    """
    chosen = _best_partners(pairs, probabilities, is_same, one_to_one=one_to_one)
    best = probabilities[chosen].astype(np.float64)
    # A row hardly has more partners: the sum of many tiny probabilities tells nothing.
    estimates = estimate(
        best,
        best,
        sorted({*THRESHOLDS, threshold}),
        unseen=unseen,
        unclear=unclear,
        rows=pairs[chosen],
        num_rows=num_rows,
        texts=texts,
    )
    chosen = chosen[best >= threshold]
    order = _best_first(pairs[chosen, 0], probabilities[chosen], is_same[chosen])
    return chosen[order], estimates


def _matches(links: Links, chosen: Ids) -> list[Match]:
    """Returns the pairs with some indices, in their order."""
    rows = links.pairs[chosen].tolist()
    probabilities = links.probabilities[chosen].tolist()
    found = zip(rows, probabilities, strict=True)
    return [Match(left, right, probability) for (left, right), probability in found]


def checked_threshold(threshold: float | None, lexical: bool = True) -> float:
    """Returns a threshold, or the default one.

    Args:
        threshold: Minimum score, or `None`.
        lexical: Whether letters are compared, so that scores are probabilities and no cosines.

    Raises:
        ConfigError: It is not in [0, 1].
    """
    if threshold is None:
        return _THRESHOLD if lexical else _MIN_COSINE
    check_fraction("threshold", threshold)
    return threshold


def _have_same_cells(links: Links) -> Flags:
    """Tells pairs whose first cells, or texts, are equal to the letter, `(num_pairs,)`."""
    column = links.telling_column
    left, right = links.pairs.T
    is_same = column.left[left] == column.right[right]
    for pair in np.flatnonzero(is_same).tolist():
        is_same[pair] = column.left_cells[left[pair]] == column.right_cells[right[pair]]
    return is_same


def _best_partners(
    pairs: Ids, probabilities: NDArray[np.floating], is_same: Flags, *, one_to_one: bool
) -> Ids:
    """Chooses the pairs that are the best ones of one of their rows; returns ascending indices."""
    if one_to_one:
        return chosen_one_to_one(pairs, probabilities)
    best = []
    for rows in pairs.T:
        order = _best_first(rows, probabilities, is_same)
        best.append(order[are_first(rows[order])])
    return distinct_integers(np.concatenate(best))


def _best_first(rows: Ids, probabilities: NDArray[np.floating], is_same: Flags) -> Ids:
    """Orders pairs by a row of each, the best ones first; returns their indices.

    The same text wins; other pairs with equal probabilities stay in order.
    """
    return np.lexsort((~is_same, -probabilities, rows))


def groups_of(links: Links, threshold: float, groups: str) -> Duplicates:
    """Makes groups of the rows of a table."""
    num_rows = len(links.columns[0].left)
    if num_rows:
        links.add_inner_pairs(threshold)
    probabilities = links.probabilities
    linkage = average_linkage(num_rows, links.pairs, probabilities, min(*THRESHOLDS, threshold))
    numbers = group_numbers(groups, linkage, links.pairs, probabilities, threshold)
    is_probable = probabilities >= threshold
    pairs = links.pairs[is_probable]
    sizes = np.ones(num_rows, np.int64)
    found = make_groups(numbers, degrees_of(pairs, sizes), links.probabilities_of)
    kept = kept_rows(found, num_rows)
    weak = []
    if groups == "components":
        is_text = isinstance(links.mixture, TextOdds)
        below = threshold + _WEAK_PART * (1 - threshold) if is_text else _WEAK
        weak = weak_links(pairs, probabilities[is_probable], sizes, below)
    estimates = group_estimates(
        linkage,
        links.pairs,
        probabilities,
        threshold,
        groups,
        unseen=links.unseen,
        hidden=links.hidden,
        unclear=links.unclear,
    )
    return Duplicates(found, kept, threshold, estimates, links.learned, weak, links)


def group_estimates(
    linkage: Linkage,
    pairs: Ids,
    probabilities: NDArray[np.floating],
    threshold: float,
    groups: str,
    *,
    unseen: float | None,
    hidden: float,
    unclear: float,
    counts: Ids | None = None,
    copies: NDArray[np.floating] | None = None,
) -> list[Estimate]:
    """Estimates precision and recall of the pairs in groups, at the threshold and at others.

    Two rows of a group that differ are the same if the rows around them are, and two rows that are
    alike are not if the rows around them differ.

    Args:
        linkage: Average linkage of the rows.
        pairs: Pairs of rows, `(num_pairs, 2)`.
        probabilities: Their probabilities, `(num_pairs,)`.
        threshold: Minimum probability.
        groups: `average` or `components`.
        unseen: Share of the matches that are no pairs, or `None` if it is not known.
        hidden: Matches that are known to look like random pairs, for each one that does not.
        unclear: Share of the matches that may be none.
        counts: Number of pairs that each pair stands for. Default: 1.
        copies: Probabilities of pairs of equal rows, of which `pairs` has the first ones only.
    """
    counts = np.ones(len(pairs), np.int64) if counts is None else counts
    alike = np.zeros(0) if copies is None else copies
    # The others are most pairs, and hardly add up to one match.
    is_possible = np.maximum(probabilities, linkage.joined) > _MIN_POSSIBLE
    possible = probabilities[is_possible]
    joined = linkage.joined[is_possible]
    left, right = pairs[is_possible].T
    counts = counts[is_possible]
    raised = np.maximum(possible, joined)
    lowered = np.minimum(possible, joined)
    found = []
    for each in sorted({*THRESHOLDS, threshold}):
        numbers = group_numbers(groups, linkage, pairs, probabilities, each)
        is_inside = numbers[left] == numbers[right]
        of_pairs = np.where(is_inside, raised, lowered).repeat(counts)
        all_pairs = np.append(of_pairs, alike)
        is_shown = np.append(is_inside.repeat(counts), alike >= each)
        shown = all_pairs[is_shown]
        [own] = estimate(shown, all_pairs, [0.0], unseen=unseen, hidden=hidden, unclear=unclear)
        found.append(own._replace(threshold=each))
    return found
