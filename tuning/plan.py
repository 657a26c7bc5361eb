"""What a search would run, and about how long it would take."""

from __future__ import annotations

import dataclasses
import math
import time
from contextlib import redirect_stderr
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.table import Table

from tf_charagram.tasks import make_task
from tf_charagram.training.loop import STEPS_PER_EXECUTION
from tf_charagram.training.run import TrainingRun
from tf_charagram.tuning.search import Search
from tf_charagram.tuning.spaces import label

_MOST_ROWS = 100


def which_trials(search: Search) -> str:
    """Says how many trials a search has, and which part of the space they are."""
    if search.tuner == "hyperband":
        most = "" if search.max_trials is None else f", at most {search.max_trials:,} trials"
        return f"{search.size:,} combinations, drawn and thinned out by Hyperband{most}"
    number = search.num_trials
    if number == search.size:
        return f"{number:,} trials, all combinations"
    how = {
        "grid": "the first in the order of the grid", "random": "at random",
        "bayesian": "chosen one by one",
    }[search.tuner]  # fmt: skip
    return f"{number:,} trials of {search.size:,} combinations, {how}"


def trial_table(search: Search) -> Table:
    """Returns the trials of a grid in order, the first hundred of more."""
    number = search.num_trials or 0
    table = Table("trial", *search.space)
    for index in range(min(number, _MOST_ROWS)):
        values = search.combination(index).values()
        table.add_row(str(index), *map(label, values))
    if number > _MOST_ROWS:
        table.caption = f"and {number - _MOST_ROWS:,} more"
    return table


@dataclasses.dataclass(frozen=True)
class Estimate:
    """How long trials take, from a short run of the first combination.

    Attributes:
        reading: Seconds until pairs are read and turned into ids, once for all trials.
        fixed: Seconds of each trial that do not depend on its length.
        per_example: Seconds for each example trained on.
        num_examples: How many an epoch has.
        unit: What they are called, for instance `"pairs"`.
    """

    reading: float
    fixed: float
    per_example: float
    num_examples: int
    unit: str

    def seconds(self, search: Search, num_workers: int = 1) -> float:
        """Returns about how long a search takes that runs whole trials."""
        examples = search.config.epochs * self.num_examples
        limit = math.inf if search.config.max_minutes is None else 60 * search.config.max_minutes
        trials = -(-(search.num_trials or search.size) // num_workers)
        return self.reading + trials * (self.fixed + min(self.per_example * examples, limit))


def estimate(search: Search) -> Estimate:
    """Trains the first combination for two stretches of steps and times the second.

    Raises:
        CharagramError: It cannot be trained.
    """
    with TemporaryDirectory() as place:
        config = search.trial_config(search.combination(0), Path(place) / "run")
        with open(Path(place) / "log.txt", "w", encoding="utf-8") as log, redirect_stderr(log):
            start = time.perf_counter()
            run = TrainingRun(make_task(config), resume=False, overwrite=False)
            run.stream.open()
            reading = time.perf_counter() - start
            # One stretch is an evaluation: two of them train about this many steps each.
            stretches = max(1, run.stream.steps_per_epoch // STEPS_PER_EXECUTION)
            run.loop.evaluations_per_epoch, run.loop.epochs = stretches, 2 / stretches
            run.loop.max_minutes = None
            start = time.perf_counter()
            run.run(resume=False, export=False)
            seconds = time.perf_counter() - start
        first, second = run.folder.read_history()
    examples = second["examples"] - first["examples"]
    per_example = (second["seconds"] - first["seconds"]) / examples
    fixed = max(0.0, seconds - per_example * second["examples"])
    if not run.task.shares_examples:
        reading, fixed = 0.0, reading + fixed
    num_examples = run.stream.num_examples(run.stream.steps_per_epoch)
    return Estimate(reading, fixed, per_example, num_examples, run.stream.unit)
