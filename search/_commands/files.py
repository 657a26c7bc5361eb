"""The part of `charagram match` and `dedupe` for files of any size."""

from __future__ import annotations

import json
import math
import os
import sys
from argparse import Namespace
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tf_charagram.cli._flags.flags import Parser
from tf_charagram.data._tables.lines import STDIN
from tf_charagram.data._tables.table_reading import format_of
from tf_charagram.errors import ConfigError, DataError
from tf_charagram.search._commands.records import (
    given_kinds,
    given_names,
    say_estimates,
    say_named_kinds,
    say_scores,
    tell,
)

if TYPE_CHECKING:
    from tf_charagram.search.linkage.estimates import Estimate

# Flags that need all rows at once, and flags of folders only.
_AT_ONCE = (
    "labels",
    "explain",
    "key",
    "drop",
    "yes",
    "into",
    "merge",
    "alternatives",
)
_FOR_FOLDERS = ("resume", "ray", "json")


def add_folder_flags(parser: Parser) -> None:
    """Adds flags for an output that is a folder."""
    group = parser.add_argument_group("for files of any size, with --output FOLDER/")
    group.add_argument("--resume", action="store_true", help="continue a run that was stopped")
    group.add_argument(
        "--ray", metavar="ADDRESS", help="run on a Ray cluster; auto: of this machine; local: start"
    )
    group.add_argument(
        "--json",
        action="store_true",
        help="write the summary, and on standard error the progress, as lines of JSON",
    )


def is_folder(parser: Parser, values: Namespace, *inputs: str) -> bool:
    """Tells whether the output is a folder; checks the flags.

    Raises:
        ConfigError: A flag would have no effect, or several files need a folder.
    """
    output = values.output
    if output.endswith("/") or os.path.isdir(output):
        parser.refuse(values, _AT_ONCE, "needs all rows at once: write to a file")
        return True
    parser.refuse(values, _FOR_FOLDERS, "is for a folder: give one, such as --output clean/")
    for path in inputs:
        # A path without a file may be a pattern.
        if os.path.isdir(path) or (not os.path.exists(path) and glob(path)):
            raise ConfigError(f"{path} is several files: give a folder, such as --output clean/")
    if output != STDIN and not Path(output).suffix:
        raise ConfigError(f"--output must be a file such as {output}.csv, or a folder, {output}/")
    return False


def files_of(pattern: str) -> list[str]:
    """Returns the files of a path, a folder, or a pattern such as `folder/*.parquet`.

    Raises:
        DataError: There is no file.
    """
    given = pattern
    if os.path.isdir(pattern):
        pattern = str(Path(pattern, "*"))
    # The name of a file may look like a pattern.
    paths = [pattern] if os.path.exists(pattern) else sorted(glob(pattern))
    paths = [path for path in paths if os.path.isfile(path)]
    if os.path.isdir(given):
        # Notes and hidden files of other programs are no tables.
        paths = [path for path in paths if format_of(path) or path.endswith((".txt", ".txt.gz"))]
    if not paths:
        raise DataError(pattern, "no such file. Put patterns in quotes, such as 'folder/*.parquet'")
    return paths


def options_of(values: Namespace) -> dict[str, Any]:
    """Returns the arguments that `deduplicate_files` and `match_files` have in common.

    Raises:
        ConfigError: A value of `--column` has no colon.
    """
    from tf_charagram.search._commands.search import model_of

    return {
        "model": model_of(values),
        "on": values.on,
        "kinds": dict(given_kinds(values)),
        "identifies": None if values.identifies is None else given_names(values.identifies),
        "lexical": not values.vectors_only,
        "threshold": values.threshold,
        "reading": {
            "header": not values.no_header,
            "encoding": values.encoding,
            "on_bad_line": values.on_bad_line,
        },
        "resume": values.resume,
        "overwrite": values.overwrite,
        "ray": values.ray,
        "shows_progress": not values.json,
        "report": _report if values.json else None,
    }


def _report(progress: dict[str, Any]) -> None:
    tell(json.dumps(progress))
    sys.stderr.flush()


def _estimate(facts: dict[str, Any]) -> Estimate:
    from tf_charagram.search.linkage.estimates import Estimate

    known = dict(facts)
    for name in ("precision", "recall"):
        if known[name] is None:
            known[name] = math.nan
    return Estimate(**known)


def say(values: Namespace, summary: dict[str, Any]) -> None:
    """Writes the summary: a sentence, or JSON on standard output."""
    if values.json:
        sys.stdout.write(json.dumps(summary) + "\n")
        return
    if "kinds" in summary:
        say_named_kinds(summary["kinds"], summary["identifies"])
    for note in summary["notes"]:
        tell(note)
    say_estimates(list(map(_estimate, summary["estimates"])), summary["threshold"])
    say_scores(summary["scores"])
    seconds = sum(summary["seconds"].values())
    if "num_groups" in summary:
        found = (
            f"{summary['num_kept']:,} of {summary['num_rows']:,} rows kept, groups of duplicates: "
            f"{summary['num_groups']:,}"
        )
    else:
        found = (
            f"{summary['num_matched']:,} of {summary['num_rows']:,} rows matched in "
            f"{summary['num_pairs']:,} pairs"
        )
    rate = summary["num_rows"] / max(seconds, 1e-3)
    tell(f"{found}, in {seconds:,.0f} s, {rate:,.0f} rows/s -> {values.output}")
