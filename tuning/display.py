"""What a person sees while a search runs: a table on a terminal, else one line per trial."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Column, Table

from tf_charagram.reporting.progress import is_quiet
from tf_charagram.training.run_folder import RunFolder
from tf_charagram.tuning.results import Result, ranked
from tf_charagram.tuning.search import Search, SearchFolder
from tf_charagram.tuning.spaces import label

_MOST_ROWS = 15
# Of the columns that all tables have, and of one for a field of the space.
_WIDTH, _FIELD_WIDTH = 40, 9


class Display:
    """Shows the trials of a search on standard error; entered while the search runs.

    Args:
        search: The search.
        folder: Where it lives.
    """

    def __init__(self, search: Search, folder: SearchFolder) -> None:
        self._search = search
        self._folder = folder
        # The stream as it is now: while a trial runs, standard error is a file of its own.
        self._console = Console(file=sys.stderr, highlight=False, soft_wrap=True, emoji=False)
        self._is_live = self._console.is_terminal and not is_quiet()
        self._live = Live(
            console=self._console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
        )
        self._shown: set[str] = set()

    def __enter__(self) -> Display:
        if self._is_live:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def show(self, results: Sequence[Result]) -> None:
        """Shows trials that have ended, and on a terminal those that run."""
        if self._is_live:
            self._live.update(self._table(results), refresh=True)
            return
        for result in results:
            if result.id not in self._shown and not is_quiet():
                self._console.print(escape(self._line(result)))
        self._shown.update(result.id for result in results)

    def _line(self, result: Result) -> str:
        values = " ".join(f"{name}={label(value)}" for name, value in result.values.items())
        score = "-" if result.score is None else f"{result.score:.2f}"
        reason = "" if result.reason is None else f"  {' '.join(result.reason.split())}"
        return (
            f"trial {result.id}  {result.status}  {self._search.config.select} {score}  {values}  "
            f"{result.seconds:.0f} s{reason}"
        )

    def _table(self, results: Sequence[Result]) -> Table:
        """Returns the best trials, and below them those that run."""
        total = self._search.num_trials
        fields = list(self._search.space)
        is_wide = self._console.width >= _WIDTH + _FIELD_WIDTH * len(fields)
        columns = fields if is_wide else [Column("values", min_width=_FIELD_WIDTH, overflow="fold")]
        table = Table(
            "trial", *columns, escape(self._search.config.select), "epochs", "s", "",
            title=f"{len(results)} of {'?' if total is None else total} trials",
        )  # fmt: skip
        for result in ranked(results)[:_MOST_ROWS]:
            score = "-" if result.score is None else f"{result.score:.2f}"
            values = [label(result.values[name]) for name in fields]
            if not is_wide:
                pairs = zip(fields, values, strict=True)
                values = [" ".join(f"{name}={value}" for name, value in pairs)]
            note = "" if result.reason is None else escape(f"{result.status}: {result.reason}")
            table.add_row(
                result.id,
                *map(escape, values),
                score,
                f"{result.epochs:g}",
                f"{result.seconds:.0f}",
                note,
            )
        table.add_section()
        ended = {result.id for result in results}
        for path in sorted(self._folder.trials.glob("*/")):
            records = RunFolder(path).read_history() if path.name not in ended else []
            if records:
                score = records[-1]["scores"][self._search.config.select]
                blank = [""] * len(columns)
                table.add_row(
                    path.name, *blank, "-" if score is None else f"{score:.2f}",
                    f"{records[-1]['epoch']:g}", f"{records[-1]['seconds']:.0f}", "running",
                )  # fmt: skip
        return table


def space_table(search: Search) -> Table:
    """Returns what is searched: each field and its values."""
    table = Table("field", "values", title=f"{search.size:,} combinations")
    for name, choices in search.space.items():
        table.add_row(name, "  ".join(map(label, choices)))
    return table
