"""`deduplicate_files` and `match_files`: groups and partners of rows in files of any size."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tf_charagram.data._tables.table_reading import names_in_files
from tf_charagram.data._tables.tables import column_position
from tf_charagram.errors import ConfigError, check_positive, unknown_name
from tf_charagram.models._storage.locations import read_config
from tf_charagram.search._pairs.grouping import check_groups
from tf_charagram.search._partitions.job import Job
from tf_charagram.search._partitions.run import run_job
from tf_charagram.search.linkage._columns.kinds import KINDS
from tf_charagram.search.linkage.answers import checked_threshold

# Bytes of the inputs for each partition, so that a task needs a few hundred megabytes.
_PARTITION_BYTES = 4_000_000


def deduplicate_files(
    inputs: str | Path | Iterable[str | Path],
    output: str | Path,
    model: str | Path | None = "english",
    *,
    on: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    identifies: Iterable[str] | None = None,
    lexical: bool = True,
    threshold: float | None = None,
    groups: str = "average",
    num_partitions: int | None = None,
    reading: Mapping[str, Any] | None = None,
    **running: Any,
) -> dict[str, Any]:
    """Groups the rows of files of any size that are the same thing.

    Up to 20,000 rows are compared in memory, by `deduplicate`. More rows are paired if they have
    rare words, values or parts of them in common, and compared as `deduplicate` does; the result
    does not depend on the number of partitions. Equal rows count once.

    Args:
        inputs: A file, or files with the same columns: CSV, TSV, JSON lines, Parquet, or texts.
        output: Folder that gets a file for each input, with the columns `group`, `kept` and
            `score`. While it works, it has a folder of steps, of about ten times the size.
        model: Model whose vectors compare single texts, and rows where titles tell things apart.
        on: Columns, by name or number from 1. One or none: rows are compared as texts.
        kinds: Kinds of columns, by name. Default: told from a sample of the rows.
        identifies: Names of the columns that identify a thing. Default: told from the sample.
        lexical: Whether letters of texts are compared.
        threshold: Minimum score. Default: 0.5, or 0.7 without `lexical`.
        groups: `average` or `components`.
        num_partitions: Number of parts that are worked on one by one. Default: by the size of the
            inputs.
        reading: `header`, `encoding` and `on_bad_line` of `read_table`.
        running: `resume`, `overwrite`, `ray`, `shows_progress` and `report` of `run_job`.

    Returns:
        `num_rows`, `num_kept`, `num_groups`, a histogram of `scores` in 20 equal parts, `kinds` and
        `identifies` of several columns, `notes` about them, `estimates` of precision and recall,
        and `seconds` by step.

    Raises:
        ConfigError: An argument is out of range, or pyarrow is not installed.
        DataError: An input cannot be read, or has changed.
        RunError: The folder cannot be used, or another process writes to it.
    """
    check_groups(groups)
    job = _job(_paths_of(inputs), (), output, model, on, on, kinds, identifies, lexical, threshold)
    return _run(job, num_partitions, reading, running, groups=groups)


def match_files(
    left: str | Path | Iterable[str | Path],
    right: str | Path | Iterable[str | Path],
    output: str | Path,
    model: str | Path | None = "english",
    *,
    on: Sequence[str] = (),
    on_right: Sequence[str] | None = None,
    kinds: Mapping[str, str] | None = None,
    identifies: Iterable[str] | None = None,
    lexical: bool = True,
    threshold: float | None = None,
    one_to_one: bool = False,
    num_partitions: int | None = None,
    reading: Mapping[str, Any] | None = None,
    **running: Any,
) -> dict[str, Any]:
    """Matches the rows of files of any size, as `match` does.

    A pair is written if it is the best one of its left or of its right row. Up to 20,000 rows are
    compared in memory; more rows as by `deduplicate_files`.

    Args:
        left: A file, or files with the same columns.
        right: Another file, or files with the same columns.
        output: Folder that gets a file for each left file. Its rows are pairs, with all columns of
            the left row, `score`, and all columns of the right row; or left rows without a partner,
            with empty cells.
        model: Model whose vectors compare single texts, and rows where titles tell things apart.
        on: Columns, by name or number from 1. One or none: rows are compared as texts.
        on_right: The same of the right files. Default: as `on`.
        kinds: Kinds of columns, by name. Default: told from a sample of the rows.
        identifies: Names of the columns that identify a thing. Default: told from the sample.
        lexical: Whether letters of texts are compared.
        threshold: Minimum score. Default: 0.5, or 0.7 without `lexical`.
        one_to_one: Whether each row has at most one partner; pairs with the largest scores come
            first.
        num_partitions: Number of parts that are worked on one by one. Default: by the size of the
            inputs.
        reading: `header`, `encoding` and `on_bad_line` of `read_table`.
        running: `resume`, `overwrite`, `ray`, `shows_progress` and `report` of `run_job`.

    Returns:
        `num_rows` of the left files, `num_matched` of them, `num_pairs`, a histogram of `scores` in
        20 equal parts, `kinds` and `identifies` of several columns, `notes` about them, `estimates`
        of precision and recall, and `seconds` by step.

    Raises:
        ConfigError: An argument is out of range, or pyarrow is not installed.
        DataError: An input cannot be read, or has changed.
        RunError: The folder cannot be used, or another process writes to it.
    """
    on_right = on if on_right is None else on_right
    right = _paths_of(right)
    if not right:
        raise ConfigError("`right` must name at least one file. Received: no file")
    options = on, on_right, kinds, identifies, lexical, threshold
    job = _job(_paths_of(left), right, output, model, *options)
    return _run(job, num_partitions, reading, running, one_to_one=one_to_one)


def _paths_of(files: str | Path | Iterable[str | Path]) -> tuple[str, ...]:
    """Returns the paths of one file or of many."""
    return (str(files),) if isinstance(files, str | Path) else tuple(map(str, files))


def _job(
    left: tuple[str, ...],
    right: tuple[str, ...],
    output: str | Path,
    model: str | Path | None,
    on: Sequence[str],
    on_right: Sequence[str],
    kinds: Mapping[str, str] | None,
    identifies: Iterable[str] | None,
    lexical: bool,
    threshold: float | None,
) -> dict[str, Any]:
    """Checks arguments; returns the first settings of a job."""
    if not left:
        raise ConfigError("`inputs` must name at least one file. Received: no file")
    if isinstance(on, str) or len(on) != len(on_right):
        raise ConfigError(
            "`on` and `on_right` must name the same number of columns. "
            f"Received: on={on!r}, on_right={on_right!r}"
        )
    is_text = len(on) < 2
    threshold = checked_threshold(threshold, lexical)
    if is_text:
        if kinds or identifies is not None:
            name = "kinds" if kinds else "identifies"
            raise ConfigError(f"`{name}` is for several columns. Name them with `on`.")
        if model is None and not lexical:
            raise ConfigError("Give a `model`, or leave `lexical` on: there is nothing to compare.")
    else:
        if not lexical:
            raise ConfigError("`lexical` is for texts. Leave it out, or name one column in `on`.")
        for kind in (kinds or {}).values():
            if kind not in KINDS:
                raise ConfigError(unknown_name("kind of column", kind, KINDS))
    if model is not None:
        read_config(model)
    return {
        "left": left,
        "right": right,
        "output": os.fspath(output),
        "on": tuple(on),
        "on_right": tuple(on_right),
        "kinds": tuple((kinds or {}).items()),
        "identifies": None if identifies is None else tuple(identifies),
        "threshold": threshold,
        "model": None if model is None else str(model),
        "lexical": lexical,
    }


def _with_names(settings: dict[str, Any], reading: Mapping[str, Any]) -> dict[str, Any]:
    """Names columns as the files do: by number, files with other orders would be mixed up."""
    given = settings["on"]
    on = names_in_files(settings["left"], given, reading)
    on_right = on
    if settings["right"]:
        hint = ""
        if settings["on_right"] == given:
            hint = " If its columns have other names, give them with --on-right (on_right=)."
        on_right = names_in_files(settings["right"], settings["on_right"], reading, hint)
    if len(set(on)) < len(on):
        raise ConfigError(f"`on` must name a column once. Received: {', '.join(given)}")

    def name_of(column: str) -> str:
        if column in given:
            return on[given.index(column)]
        position = column_position(on, column)
        if position is None or column.isdecimal():
            raise ConfigError(unknown_name("column", column, on))
        return on[position]

    identifies = settings["identifies"]
    return {
        **settings,
        "on": on,
        "on_right": on_right,
        "kinds": tuple((name_of(column), kind) for column, kind in settings["kinds"]),
        "identifies": None if identifies is None else tuple(map(name_of, identifies)),
    }


def _run(
    settings: dict[str, Any],
    num_partitions: int | None,
    reading: Mapping[str, Any] | None,
    running: dict[str, Any],
    groups: str = "average",
    one_to_one: bool = False,
) -> dict[str, Any]:
    if num_partitions is None:
        inputs = (*settings["left"], *settings["right"])
        size = sum(os.stat(path).st_size for path in inputs)
        num_partitions = max(size // _PARTITION_BYTES, 1)
    check_positive(num_partitions=num_partitions)
    options = {"header": True, "encoding": None, "on_bad_line": "error", **(reading or {})}
    settings = _with_names(settings, options)
    options |= {"groups": groups, "one_to_one": one_to_one, "num_partitions": num_partitions}
    job = Job(**settings, **options)
    return run_job(job, **running)
