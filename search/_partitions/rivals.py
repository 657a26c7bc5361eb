"""What other pairs tell about a pair: other partners of its rows, and how many texts have any."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from tf_charagram.search._pairs.flat_arrays import Array, Ids
from tf_charagram.search._partitions.comparing import ColumnComparison
from tf_charagram.search._partitions.files import PAIRS, load_arrays, pairs_in
from tf_charagram.search._partitions.job import Job, comparison_of, first_rows_of
from tf_charagram.search.linkage._fellegi_sunter.rows import PairRivals
from tf_charagram.search.linkage._fellegi_sunter.text_odds import (
    Partners,
    list_prior,
    mutual_evidence,
    rival_evidence,
    with_prior,
)

# Rows that have no texts are not equal.
_MIN_EQUAL = 0.9
# Values that rounding made 0 or 1.
_MIN_VALUE = 1e-6


def has_rivals(job: Job) -> bool:
    """Tells whether the other partners of rows count, as they do in memory."""
    comparison = comparison_of(job)
    if isinstance(comparison, ColumnComparison) and comparison.text_number is None:
        return comparison.row_scorer is not None
    return bool(job.right) and job.lexical


def text_hashes(job: Job) -> NDArray[np.uint64]:
    """Returns the hash of the text, or of the row as a whole, of each row; 0 without one."""
    return load_arrays(job.files("hashes" if job.is_text else "row_hashes"), np.uint64)


def edges_of(job: Job, step: str = "edges") -> NDArray[Any]:
    """Returns the pairs that a step has compared, and their probabilities."""
    return load_arrays(job.files(step), PAIRS)


def with_rivals(job: Job, records: NDArray[Any]) -> NDArray[Any]:
    """Returns pairs with their probabilities, as other pairs make them more or less probable."""
    by_texts = comparison_of(job).text_number is not None
    if not (by_texts or has_rivals(job)):
        return records
    found = records.copy()
    if has_rivals(job):
        rivals, mutual = _rivals_of(job)
        log_odds = _log_odds(records)
        scores = rivals.scores(_table_pairs(job, records))
        found["value"] = expit(log_odds + rival_evidence(log_odds, scores, mutual))
    elif not job.right:
        found["value"] = with_prior(records["value"], prior_of(job))
    if by_texts:
        # Equal texts are the same.
        left, right = load_arrays(job.files("hashes"), np.uint64)[pairs_in(records, job.num_rows).T]
        found["value"][(left == right) & (records["value"] > _MIN_EQUAL)] = 1
    return found


@lru_cache(maxsize=1)
def prior_of(job: Job) -> float:
    """Returns the log-odds that are added to all pairs of a list, once they are compared."""
    if not job.lexical:
        return 0.0
    edges = edges_of(job)
    hashes, texts, counts = np.unique(text_hashes(job), return_inverse=True, return_counts=True)
    # Rows without words.
    counts[hashes == 0] = 0
    pairs = texts[pairs_in(edges, job.num_rows)]
    return list_prior(Partners.of(len(counts), pairs, edges["value"]), counts)


# Inner pairs of groups have the same rivals as candidates.
@lru_cache(maxsize=1)
def _rivals_of(job: Job) -> tuple[PairRivals, float]:
    """Returns the other partners of rows, and the evidence for best pairs of both rows."""
    edges = edges_of(job)
    num_left = job.num_left()
    # Rows with the same text as a whole are no rivals; copies of texts are no candidates.
    texts = np.arange(job.num_rows)
    by_texts = comparison_of(job).text_number is not None
    if not by_texts:
        _, texts = np.unique(text_hashes(job), return_inverse=True)
    tables = texts[:num_left], texts[num_left or 0 :]
    pairs = _table_pairs(job, edges)
    rivals = PairRivals(tables, pairs, edges["value"], is_one_table=num_left is None)
    mutual = 0.0
    if by_texts:
        log_odds = _log_odds(edges)
        alone = expit(log_odds + rival_evidence(log_odds, rivals.scores(pairs), 0.0))
        mutual = mutual_evidence(pairs, alone, _present(job))
    return rivals, mutual


def _table_pairs(job: Job, records: NDArray[Any]) -> Ids:
    """Returns pairs with right rows counted from the first right row on."""
    return pairs_in(records, job.num_rows) - np.array([0, job.num_left() or 0])


def _log_odds(records: NDArray[Any]) -> Array:
    values = records["value"].astype(np.float64)
    return logit(np.clip(values, _MIN_VALUE, 1 - _MIN_VALUE))


def _present(job: Job) -> list[Ids]:
    """Returns the distinct texts of both tables that have words, by their rows."""
    hashes = load_arrays(job.files("hashes"), np.uint64)
    is_text = (first_rows_of(job) == np.arange(len(hashes))) & (hashes != 0)
    return [np.flatnonzero(side) for side in np.split(is_text, [job.num_left() or 0])]


def forget_rivals() -> None:
    """Drops what pairs of another run told."""
    _rivals_of.cache_clear()
    prior_of.cache_clear()
