"""`match` finds the partners of texts in another list, `deduplicate` equal things in one list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tf_charagram.data.readers.pairs import LabelledPair
from tf_charagram.errors import ConfigError
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.search.candidates import best_pairs
from tf_charagram.search.learning import Learned
from tf_charagram.search.scoring import TextScorer
from tf_charagram.text.tensors import decoded, rows_by_text, texts_of

#: Minimum score of duplicates.
THRESHOLD = 0.7
# Similar texts that are looked at, of which others may take some.
_NUM_PARTNERS = 20


class Match(NamedTuple):
    """Two texts that belong together, by their rows in both lists, and their score."""

    left: int
    right: int
    score: float


class Matches(NamedTuple):
    """The result of `match`.

    Attributes:
        pairs: The matches, by left rows.
        threshold: Minimum score.
        learned: The threshold that was learned from labels, with precision and recall.
    """

    pairs: list[Match]
    threshold: float
    learned: Learned | None


class Group(NamedTuple):
    """Texts that are the same thing.

    Attributes:
        rows: Their rows; the first one is kept.
        scores: The score of each with the first one.
    """

    rows: list[int]
    scores: list[float]


class Duplicates(NamedTuple):
    """The result of `deduplicate`.

    Attributes:
        groups: Groups of at least two texts, by their smallest rows.
        kept: Rows that are left if one of each group is kept, ascending.
        threshold: As for `Matches`.
        learned: As for `Matches`.
    """

    groups: list[Group]
    kept: list[int]
    threshold: float
    learned: Learned | None


def match(
    left: Iterable[str | bytes], right: Iterable[str | bytes],
    model: str | Path | TextEmbedder | None = "english", *, lexical: bool = True,
    threshold: float | None = None, one_to_one: bool = False,
    labels: Iterable[LabelledPair] | None = None, shows_progress: bool = False,
) -> Matches:  # fmt: skip
    """Finds the best right text for each left one.

    Args:
        left: Texts: a list, an array, a column of a data frame.
        right: Texts.
        model: As for `TextScorer`, like `lexical`.
        lexical: Whether letters are compared as well.
        threshold: Minimum score. Default: that learned from labels, else 0.
        one_to_one: Whether a right text has at most one partner; pairs with the largest scores
            come first. Only the 20 best right texts of each left one are looked at.
        labels: Pairs of texts and whether they match, to learn weights and threshold from.
        shows_progress: Whether progress is shown on standard error, if it is a terminal.

    Raises:
        ConfigError: A list is a single string or contains other values, `threshold` is not in
            [0, 1], there is neither a model nor `lexical`, or there are too few labels.
        RunError: The model cannot be loaded.

    Example:
        >>> match(["sonny hedphones"], ["Bosch Drill", "Sony Headphones"]).pairs[0].right
        1
    """
    sides = [[*map(decoded, texts_of(t, name))] for t, name in ((left, "left"), (right, "right"))]
    scorer, threshold, learned = _scorer([*sides[0], *sides[1]], model, lexical, threshold, labels)
    lefts, rights = map(scorer.prepare, sides)
    pairs, scores = best_pairs(
        scorer, lefts, rights, _NUM_PARTNERS if one_to_one else 1, threshold,
        shows_progress=shows_progress,
    )  # fmt: skip
    matches = [
        Match(one, other, score)
        for (one, other), score in zip(pairs.tolist(), scores.tolist(), strict=True)
    ]
    if one_to_one:
        taken: tuple[set[int], set[int]] = (set(), set())
        candidates, matches = sorted(matches, key=lambda pair: -pair.score), []
        for pair in candidates:
            if pair.left not in taken[0] and pair.right not in taken[1]:
                matches.append(pair)
                taken[0].add(pair.left)
                taken[1].add(pair.right)
        matches.sort()
    return Matches(matches, threshold, learned)


def deduplicate(
    texts: Iterable[str | bytes], model: str | Path | TextEmbedder | None = "english", *,
    lexical: bool = True, threshold: float | None = None,
    labels: Iterable[LabelledPair] | None = None, shows_progress: bool = False,
) -> Duplicates:  # fmt: skip
    """Groups the texts that are the same thing.

    Texts with the most duplicates come first: each is kept, and those that are similar to it form
    its group. So all texts of a group have at least the threshold with the one that is kept.
    Texts without words are in no group.

    Args:
        texts: Texts: a list, an array, a column of a data frame.
        model: As for `TextScorer`, like `lexical`.
        lexical: Whether letters are compared as well.
        threshold: Minimum score. Default: that learned from labels, else 0.7.
        labels: As for `match`.
        shows_progress: As for `match`.

    Raises:
        ConfigError: As for `match`.
        RunError: The model cannot be loaded.

    Example:
        >>> deduplicate(["Sony Headphones", "Bosch Drill", "sonny headphones"]).kept
        [0, 1]
    """
    found = [*map(decoded, texts_of(texts, "texts"))]
    threshold = THRESHOLD if threshold is None and labels is None else threshold
    scorer, threshold, learned = _scorer(found, model, lexical, threshold, labels)
    rows_of = rows_by_text(found)
    prepared = scorer.prepare([*rows_of])
    pairs, scores = best_pairs(
        scorer, prepared, prepared, _NUM_PARTNERS, threshold, _NUM_PARTNERS,
        shows_progress=shows_progress,
    )  # fmt: skip
    # Scores differ a little with the side.
    similar: list[dict[int, float]] = [{} for _ in rows_of]
    for (one, other), score in zip(pairs.tolist(), scores.tolist(), strict=True):
        for a, b in ((one, other), (other, one)):
            similar[a][b] = max(score, similar[a].get(b, 0.0))
    equal = [*rows_of.values()]
    groups = []
    for representative, *others in _stars(similar, [*map(len, equal)]):
        scores_of = {representative: 1.0}
        scores_of |= {other: similar[representative][other] for other in others}
        rows = [(row, score) for one, score in scores_of.items() for row in equal[one]]
        if len(rows) > 1 and prepared.words[representative]:
            groups.append(Group(*map(list, zip(*rows, strict=True))))
    groups.sort(key=lambda group: min(group.rows))
    dropped = {row for group in groups for row in group.rows[1:]}
    kept = [row for row in range(len(found)) if row not in dropped]
    return Duplicates(groups, kept, threshold, learned)


def _stars(similar: Sequence[Mapping[int, float]], sizes: Sequence[int]) -> Iterator[list[int]]:
    """Yields groups of texts, each with all texts that are similar to its first one.

    The text that is similar to the most rows comes first (Aslam, Pelekhov and Rus, *The Star
    Clustering Algorithm*, 2004).

    Args:
        similar: For each text, the similar ones.
        sizes: Number of rows of each text.
    """
    degrees = [sum(sizes[other] for other in {*others, one}) for one, others in enumerate(similar)]
    is_free = [True] * len(similar)
    for one in sorted(range(len(similar)), key=lambda one: (-degrees[one], one)):
        if is_free[one]:
            is_free[one] = False
            group = [one, *(other for other in similar[one] if is_free[other])]
            for other in group:
                is_free[other] = False
            yield group


def _scorer(
    texts: Sequence[str], model: str | Path | TextEmbedder | None, lexical: bool,
    threshold: float | None, labels: Iterable[LabelledPair] | None,
) -> tuple[TextScorer, float, Learned | None]:  # fmt: skip
    if threshold is not None and not 0 <= threshold <= 1:
        raise ConfigError(f"`threshold` must be in [0, 1]. Received: {threshold}")
    scorer = TextScorer(texts, model, lexical=lexical)
    if labels is None:
        return scorer, threshold or 0.0, None
    pairs = [*labels]
    if any(isinstance(pair, str) or len(pair) != 3 for pair in pairs):
        raise ConfigError('`labels` must be two texts and 1 or 0 each, as ("tv", "TV set", 1).')
    learned = scorer.learn(
        [left for left, _, _ in pairs], [right for _, right, _ in pairs], [n for _, _, n in pairs]
    )
    return scorer, learned.threshold if threshold is None else threshold, learned
