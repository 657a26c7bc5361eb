"""The steps of a job, in order; each task of a step writes one file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tf_charagram.search._partitions.answers import choose_partners, find_inner, group, score_inner
from tf_charagram.search._partitions.counting import (
    count,
    count_wholes,
    merge_counts,
    merge_wholes,
    merge_words,
    num_told_rows,
    read,
    sample,
)
from tf_charagram.search._partitions.fitting import fit, fit_rows
from tf_charagram.search._partitions.in_memory import is_in_memory, link
from tf_charagram.search._partitions.job import FIRST_ROWS, FIT, ROW_MATCHES, ROW_STATISTICS, Job
from tf_charagram.search._partitions.pairing import emit_keys, pair, score
from tf_charagram.search._partitions.writing import write


class Step(NamedTuple):
    """A step of a job.

    Attributes:
        name: What it does, for progress.
        run: Does one of its tasks.
        num_tasks: Returns the number of its tasks, once the steps before it are done.
        path: Returns the file that says that a task is done.
    """

    name: str
    run: Callable[[Job, int], None]
    num_tasks: Callable[[Job], int]
    path: Callable[[Job, int], Path]


def _one(job: Job) -> int:
    return 1


def _one_if_told(job: Job) -> int:
    return min(num_told_rows(job), 1)


def _partitions(job: Job) -> int:
    return job.num_partitions


def _row_parts(job: Job) -> int:
    return len(job.row_files("cells").paths)


def _one_if_in_memory(job: Job) -> int:
    return int(is_in_memory(job))


def steps_of(job: Job) -> Sequence[Step]:
    """Returns the steps of a job, in order; those for more or for fewer rows have no tasks."""

    def array(step: str) -> Callable[[Job, int], Path]:
        return lambda job, number: job.file(step, number)

    def file(name: str) -> Callable[[Job, int], Path]:
        return lambda job, number: job.path(name)

    def done(folder: str, digits: int = 5) -> Callable[[Job, int], Path]:
        return lambda job, number: job.path(folder, f"{number:0{digits}}.json")

    steps = [
        Step("choosing a sample", sample, lambda job: 2 if job.right else 1, done("sample", 1)),
        Step("counting", count, _row_parts, done("rows")),
        Step("adding up counts", merge_counts, _partitions, array("counted")),
        Step("finding copies", merge_words, _one, file(FIRST_ROWS)),
        Step("emitting keys", emit_keys, _row_parts, array("keys")),
        Step("pairing rows", pair, _partitions, array("pairs")),
        Step("fitting weights", fit, _one, file(FIT)),
        Step("counting words of rows", count_wholes, num_told_rows, array("row_hashes")),
        Step("adding up words of rows", merge_wholes, _one_if_told, file(ROW_STATISTICS)),
        Step("fitting rows", fit_rows, _one_if_told, file(ROW_MATCHES)),
        Step("comparing pairs", score, _partitions, array("edges")),
    ]
    if job.right:
        steps.append(Step("choosing partners", choose_partners, _one, file("partners.npy")))
    else:
        steps += [
            Step("connecting rows", find_inner, _one, file("inner.npy")),
            Step("comparing connected rows", score_inner, _partitions, array("inner")),
            Step("grouping", group, _one, file("groups.npy")),
        ]
    result = "partners.npy" if job.right else "groups.npy"
    return [
        Step("reading", read, lambda job: len(job.inputs), done("read")),
        Step("comparing in memory", link, _one_if_in_memory, file(result)),
        *(step._replace(num_tasks=_unless_in_memory(step.num_tasks)) for step in steps),
        Step("writing", write, lambda job: len(job.left), Job.output_of),
    ]


def _unless_in_memory(num_tasks: Callable[[Job], int]) -> Callable[[Job], int]:
    return lambda job: 0 if is_in_memory(job) else num_tasks(job)
