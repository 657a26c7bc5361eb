"""What the tasks of a job share: settings, paths, counts and weights."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tf_charagram._files.json_files import read_json, write_json
from tf_charagram.data._tables.table_reading import read_tables
from tf_charagram.data._tables.tables import Table
from tf_charagram.search._partitions.comparing import ColumnComparison, TextComparison
from tf_charagram.search._partitions.files import Counts, RowFiles, load_array
from tf_charagram.search.linkage.estimates import Estimate
from tf_charagram.search.linkage.linker import Linker
from tf_charagram.search.scoring import TextScorer
from tf_charagram.search.statistics import TextStatistics

#: For each row, the first row of its table that is equal.
FIRST_ROWS = "first.npy"
#: Notes about columns, the columns that make the row as a whole, and the share of the matches that
#: may look like random pairs.
FIT = "fit.json"
#: Expected precision and recall.
ESTIMATES = "estimates.json"
#: Counts of the words of rows as a whole.
ROW_STATISTICS = "row_statistics.npz"
#: Log-odds by rows of pairs that match by their columns.
ROW_MATCHES = "row_matches.npy"
_COMPARED_BY = (FIRST_ROWS, FIT, ROW_STATISTICS, ROW_MATCHES)
# Rows of a file of rows.
_FILE_ROWS = 200_000
# Formats that are written for formats that are read; others are files of lines.
_SUFFIXES = {
    ".csv": ".csv",
    ".tsv": ".tsv",
    ".tab": ".tsv",
    ".json": ".jsonl",
    ".jsonl": ".jsonl",
    ".ndjson": ".jsonl",
    ".parquet": ".parquet",
}


@dataclass(frozen=True)
class Job:
    """Inputs, settings and output.

    Attributes:
        left: Files of the table, or of the left one.
        right: Files of the right table; empty to group the rows of one table.
        output: Folder of the result.
        on: Names or numbers of columns; none or one for texts.
        on_right: The same of the right table.
        kinds: Names and kinds of columns.
        identifies: Names of the columns that identify a thing, or `None`.
        threshold: Minimum score.
        groups: `average` or `components`.
        one_to_one: Whether each row has at most one partner.
        model: Run folder, model folder or name of a model; or `None`.
        lexical: Whether letters of texts are compared.
        num_partitions: Number of parts into which keys and pairs are divided.
        header: Whether CSV and TSV have the names of the columns in the first line.
        encoding: The encoding of text files, or `None`.
        on_bad_line: `error` or `skip`.
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    output: str
    on: tuple[str, ...]
    on_right: tuple[str, ...]
    kinds: tuple[tuple[str, str], ...]
    identifies: tuple[str, ...] | None
    threshold: float
    groups: str
    one_to_one: bool
    model: str | None
    lexical: bool
    num_partitions: int
    header: bool
    encoding: str | None
    on_bad_line: str

    @property
    def inputs(self) -> tuple[str, ...]:
        """All files."""
        return (*self.left, *self.right)

    @property
    def is_text(self) -> bool:
        """Whether rows are compared as texts."""
        return len(self.on) < 2

    def path(self, *names: str) -> Path:
        """Returns a path in the folder of the steps."""
        return Path(self.output, "steps", *names)

    def file(self, step: str, number: int) -> Path:
        """Returns the array that a task writes."""
        return self.path(step, f"{number:05}.npy")

    def files(self, step: str) -> list[Path]:
        """Returns the arrays that all tasks of a step wrote."""
        return sorted(self.path(step).glob("*.npy"))

    def tables(self, number: int) -> Iterator[Table]:
        """Reads an input in parts."""
        return read_tables(
            self.inputs[number],
            _FILE_ROWS,
            header=self.header,
            encoding=self.encoding,
            on_bad_line=self.on_bad_line,
            columns=self.on_of(number),
        )

    def on_of(self, number: int) -> tuple[str, ...]:
        """Returns the compared columns of an input."""
        return self.on_right if number >= len(self.left) else self.on

    def side_of(self, number: int) -> int:
        """Returns 0 for files of rows of the left table, 1 for the right one."""
        path = self.row_files("cells").paths[number]
        return int(input_of(path) >= len(self.left))

    def output_of(self, number: int) -> Path:
        """Returns the file that is written for an input."""
        return Path(self.output, _output_names(self.left)[number])

    def row_files(self, name: str = "rows") -> RowFiles:
        """Returns the files of rows, of which those called `right` have all cells of right rows."""
        return _row_files(self, name)

    @property
    def num_rows(self) -> int:
        """Number of rows of all tables."""
        return len(self.row_files("cells"))

    def num_left(self) -> int | None:
        """Returns the number of rows of the left table, or `None` if there is one table."""
        if not self.right:
            return None
        files = self.row_files("cells")
        num_files = sum(input_of(path) < len(self.left) for path in files.paths)
        return int(files.starts[num_files])

    @property
    def ends(self) -> list[int]:
        """The row after the last one of each table."""
        num_left = self.num_left()
        return [self.num_rows] if num_left is None else [num_left, self.num_rows]

    def bounds(self, number: int, total: int) -> tuple[int, int]:
        """Returns where a partition of a range starts and ends."""
        size = self.num_partitions
        return number * total // size, (number + 1) * total // size


@lru_cache(maxsize=4)
def _output_names(inputs: tuple[str, ...]) -> list[str]:
    """Names the files that are written for inputs; numbers tell equal names apart."""
    parts = []
    for path in map(Path, inputs):
        name = Path(path.name.lower().removesuffix(".gz"))
        stem = path.name[: len(name.stem)]
        parts.append((stem, _SUFFIXES.get(name.suffix, ".csv")))
    # Some file systems take `A.csv` and `a.csv` for the same file.
    counts = Counter((stem + suffix).lower() for stem, suffix in parts)
    names = []
    for number, (stem, suffix) in enumerate(parts, start=1):
        if counts[(stem + suffix).lower()] > 1:
            # An input may have such a number in its own name.
            while (stem + suffix).lower() in counts:
                stem += f"-{number}"
            counts[(stem + suffix).lower()] = 1
        names.append(stem + suffix)
    return names


def fit_of(job: Job) -> dict[str, Any]:
    """Returns the result of `fit`: notes, and shares of matches that are `unseen` or `unclear`."""
    facts: dict[str, Any] = read_json(job.path(FIT))
    return facts


def save_estimates(job: Job, estimates: Sequence[Estimate]) -> None:
    """Writes estimates; unknown values become `None`, as JSON has no NaN."""
    rows = []
    for each in estimates:
        facts = each._asdict()
        for name in ("precision", "recall"):
            if math.isnan(facts[name]):
                facts |= {name: None, f"{name}_bounds": None}
        rows.append(facts)
    write_json(job.path(ESTIMATES), rows)


def input_of(path: Path) -> int:
    """Returns the number of the input that a file of cells was read from."""
    return int(path.name[:5])


@lru_cache(maxsize=4)
def _row_files(job: Job, name: str) -> RowFiles:
    return RowFiles(job.path(name))


@lru_cache(maxsize=1)
def counts_of(job: Job) -> Counts:
    """Returns the counts of all rows."""
    return Counts(np.concatenate([load_array(path) for path in job.files("counted")]))


def comparison_of(job: Job) -> TextComparison | ColumnComparison:
    """Returns the comparison of rows, with all that the steps so far have counted and fitted."""
    done = frozenset(name for name in _COMPARED_BY if job.path(name).is_file())
    make = _text_comparison if job.is_text else _column_comparison
    return make(job, done)


@lru_cache(maxsize=1)
def _text_comparison(job: Job, done: frozenset[str]) -> TextComparison:
    scorer = None
    if FIRST_ROWS in done:
        texts = [text for [side] in _samples(job) for text in side]
        statistics = TextStatistics.load(job.path("statistics.npz"))
        scorer = TextScorer(texts, job.model, lexical=job.lexical, statistics=statistics)
    return TextComparison(scorer, job.threshold)


@lru_cache(maxsize=1)
def _column_comparison(job: Job, done: frozenset[str]) -> ColumnComparison:
    sides = _samples(job)
    present = [0] * len(job.on)
    if FIRST_ROWS in done:
        facts = job.row_files().facts
        present = np.sum([each["num_present"] for each in facts], axis=0).tolist()
    mixture = Linker.load(job.path("linker.json")).mixture if FIT in done else None
    kinds = dict(job.kinds)
    comparison = ColumnComparison(
        job.on, sides, kinds, job.identifies, present, job.threshold, mixture
    )
    if FIT in done:
        comparison.recoded = read_json(job.path("recoded.json"))["recoded"]
        comparison.telling = fit_of(job)["telling"]
    if ROW_STATISTICS in done:
        texts = [text for side in sides for text in comparison.texts_of(side)]
        statistics = TextStatistics.load(job.path(ROW_STATISTICS))
        comparison.row_scorer = TextScorer(texts, job.model, statistics=statistics)
    if ROW_MATCHES in done:
        comparison.row_matches = load_array(job.path(ROW_MATCHES))
    return comparison


def _samples(job: Job) -> list[list[list[str]]]:
    """Returns the cells of each column in the sample of each table."""
    files = RowFiles(job.path("sample"))
    return [files.cells(number) for number in range(len(files.paths))]


@lru_cache(maxsize=1)
def first_rows_of(job: Job) -> NDArray[np.uint32]:
    """Returns for each row the first row of its table that is equal."""
    return load_array(job.path(FIRST_ROWS))


def forget() -> None:
    """Drops the contents of files of another run."""
    caches = (_row_files, counts_of, _text_comparison, _column_comparison, first_rows_of)
    for cache in caches:
        cache.cache_clear()
