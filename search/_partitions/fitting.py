"""The steps that fit weights of columns, and of rows as a whole, to some of the candidates."""

from __future__ import annotations

from typing import cast

import numpy as np

from tf_charagram._files.json_files import write_json
from tf_charagram.search._pairs.flat_arrays import Flags, Ids, distinct_integers, paired
from tf_charagram.search._partitions.comparing import ColumnComparison
from tf_charagram.search._partitions.files import load_array, pairs_in, save_array
from tf_charagram.search._partitions.job import (
    FIT,
    ROW_MATCHES,
    Job,
    comparison_of,
    counts_of,
    first_rows_of,
)
from tf_charagram.search._partitions.keys import mixed
from tf_charagram.search._partitions.pairing import candidates_of, chunk_of, with_copies
from tf_charagram.search.linkage._fellegi_sunter.linking import NUM_COPIES, unseen_copies
from tf_charagram.search.linkage._fellegi_sunter.rivals import Sample
from tf_charagram.search.linkage.linker import Linker

# Left rows to whose candidates weights are fitted.
_NUM_FITTED = 20_000


def fit(job: Job, number: int) -> None:
    """Fits the weights of columns to the candidates of some rows."""
    comparison = comparison_of(job)
    notes: list[str] = []
    telling: list[int] = []
    unseen = None
    hidden = 0.0
    unclear = 0.0
    if isinstance(comparison, ColumnComparison):
        notes = _fit_columns(job, comparison)
        telling = comparison.telling
        unseen = comparison.unseen
        hidden = comparison.hidden
        unclear = comparison.unclear
    shares = {"unseen": unseen, "hidden": hidden, "unclear": unclear}
    write_json(job.path(FIT), {"notes": notes, "telling": telling, **shares})


def _fit_columns(job: Job, comparison: ColumnComparison) -> list[str]:
    """Fits weights and writes them; returns notes about the columns."""
    is_chosen = _fitted_rows(job)
    pairs = _fitted_pairs(job, is_chosen)
    num_others = (job.num_rows - 1) / 2
    num_left = job.num_left()
    if num_left is not None:
        num_others = job.num_rows - num_left
        # The better partners of right rows may be any left rows.
        pairs = np.concatenate([pairs, _other_candidates(job, pairs, is_chosen)])
    chunk = chunk_of(job, pairs)
    num_equal = np.bincount(first_rows_of(job), minlength=job.num_rows)
    of_tables = np.split(num_equal[np.unique(pairs)], [chunk.num_left or 0])
    is_own = is_chosen[pairs[:, 0]]
    left, right = chunk.pairs[is_own].T
    fitted = [distinct_integers(left)]
    if chunk.num_left is not None:
        fitted.append(distinct_integers(right) - chunk.num_left)
    sample = Sample(is_own, fitted, of_tables, 1)
    notes = comparison.fit(chunk, counts_of(job), int(is_chosen.sum()), num_others, sample)
    if num_left is None and not comparison.telling and comparison.unseen is not None:
        # Rows that have candidates have rarer values than others.
        rows = np.flatnonzero(is_chosen)[:NUM_COPIES]
        copies = comparison.probabilities(chunk_of(job, paired(rows, rows)), counts_of(job))
        comparison.hidden = unseen_copies(copies)
        comparison.unseen = max(comparison.unseen, comparison.hidden)
    linker = Linker(
        job.on,
        kinds=dict(zip(job.on, comparison.kinds, strict=True)),
        identifies=[column.name for column in comparison.columns if column.is_identifying],
        threshold=job.threshold,
        groups=job.groups,
        model=job.model,
    )
    linker.mixture = comparison.mixture
    linker.save(job.path("linker.json"))
    write_json(job.path("recoded.json"), {"recoded": comparison.recoded})
    return notes


def fit_rows(job: Job, number: int) -> None:
    """Learns how different the words of rows that match may be."""
    comparison = cast(ColumnComparison, comparison_of(job))
    pairs = _fitted_pairs(job, _fitted_rows(job))
    comparison.fit_rows(chunk_of(job, pairs), counts_of(job))
    save_array(job.path(ROW_MATCHES), comparison.row_matches)


def _fitted_rows(job: Job) -> Flags:
    """Chooses the left rows to whose candidates weights are fitted."""
    total = job.ends[0]
    share = min(_NUM_FITTED / max(total, 1), 1)
    hashes = mixed(np.arange(total, dtype=np.uint64), 0)
    is_chosen: Flags = hashes <= share * (2**64 - 1)
    return is_chosen


def _fitted_pairs(job: Job, is_left: Flags) -> Ids:
    """Returns the candidates of some left rows, and these rows themselves if they have copies."""
    pairs = with_copies(job, candidates_of(job, is_left), 0, len(is_left))
    return pairs[is_left[pairs[:, 0]]]


def _other_candidates(job: Job, pairs: Ids, is_left: Flags) -> Ids:
    """Returns the candidates of the right rows of pairs with other left rows."""
    is_right = np.zeros(job.num_rows, bool)
    is_right[pairs[:, 1]] = True
    is_near = np.zeros(len(is_left), bool)
    for path in job.files("pairs"):
        left, right = pairs_in(load_array(path), job.num_rows).T
        is_near[left[is_right[right]]] = True
    others = candidates_of(job, is_near & ~is_left)
    return others[is_right[others[:, 1]]]
