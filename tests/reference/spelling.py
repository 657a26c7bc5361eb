"""Edit distance by its recursive definition, and recall by sorting all answers."""

from collections.abc import Collection, Sequence
from functools import cache


def osa_distance(left: str, right: str) -> int:
    """Returns the optimal string alignment distance.

    Examples:
        >>> osa_distance("ca", "abc"), osa_distance("teh", "the")
        (3, 1)
    """

    @cache
    def distance(i: int, j: int) -> int:
        """Returns the distance of the first i letters from the first j."""
        if i == 0 or j == 0:
            return i + j
        ways = [
            distance(i - 1, j) + 1,
            distance(i, j - 1) + 1,
            distance(i - 1, j - 1) + (left[i - 1] != right[j - 1]),
        ]
        if i > 1 and j > 1 and left[i - 2 : i] == right[j - 2 : j][::-1]:
            ways.append(distance(i - 2, j - 2) + 1)
        return min(ways)

    return distance(len(left), len(right))


def rank(scores: Sequence[float], right: Collection[int], own: int) -> int:
    """Returns the number of answers before the first right one.

    Args:
        scores: `(num_words,)`; of equal ones the first comes first.
        right: Positions of the right answers.
        own: A position that is no answer; -1 for none.
    """
    order = sorted(
        (-float(score), position) for position, score in enumerate(scores) if position != own
    )
    return next(index for index, (_, position) in enumerate(order) if position in right)


def recall(ranks: Sequence[int], k: int) -> float:
    """Returns the share of ranks below k, x 100."""
    return 100 * sum(rank < k for rank in ranks) / len(ranks)
