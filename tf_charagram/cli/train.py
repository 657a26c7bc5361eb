"""`charagram train`: trains a model and leaves a run folder with a SavedModel."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console

from tf_charagram._common.lazy import load_tensorflow
from tf_charagram._common.reporting import history_table, is_quiet, quiet, table_console
from tf_charagram.cli._flags.run_flags import make_run_parser, parse_run
from tf_charagram.cli._flags.settings_parser import QUIET, SettingsParser, switch
from tf_charagram.tasks import make_task
from tf_charagram.training.settings import RunConfig

if TYPE_CHECKING:
    from tf_charagram.training.run import TrainingRun


_FLAGS = (
    switch("resume", "resume the run in --output", "run"),
    switch("overwrite", "replace the run in --output", "run"),
    QUIET,
    switch("json", "end with one line of JSON", "run"),
)


def make_parser(
    task: str = "words", encoder: str = "charagram", show_all: bool = False
) -> SettingsParser:
    """Returns the parser for a task and an encoder."""
    purpose = "Trains a model and leaves a run folder with a SavedModel."
    return make_run_parser("train", purpose, task, encoder, _FLAGS, show_all=show_all)


def train(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    config, values, _ = parse_run(arguments, make_parser)
    with quiet(values["quiet"]):
        return _train(config, values)


def _train(config: RunConfig, values: dict[str, Any]) -> int:
    """Trains a model and prints the results."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
    load_tensorflow()
    from tf_charagram.training._loop.processor import set_threads
    from tf_charagram.training.run import TrainingRun

    set_threads(config)
    # With --json, standard output has only the line of JSON.
    console = table_console(stderr=values["json"])
    run = TrainingRun(make_task(config), resume=values["resume"], overwrite=values["overwrite"])
    if not is_quiet():
        _introduce(run, console)
    try:
        metrics = run.run(resume=values["resume"])
    except KeyboardInterrupt:
        _advise_to_resume(run, console, overwrite=values["overwrite"])
        return 130
    if not is_quiet():
        _print_results(run, console)
    for name, path in metrics["paths"].items():
        console.print(f"{name:12} {path}", soft_wrap=True, markup=False)
    if values["json"]:
        sys.stdout.write(json.dumps(metrics) + "\n")
    return 0


def _introduce(run: TrainingRun, console: Console) -> None:
    """Prints the data and the folder of a run, and the step it resumes from."""
    console.print(f"{run.describe()} -> {run.folder.path}", markup=False)

    def say(has_checkpoint: bool) -> None:
        start = f"Resumes at step {run.loop.step:,} of {run.loop.total_steps:,}."
        console.print(start if has_checkpoint else "There is no checkpoint: starts at step 0.")

    # Only the run knows whether a checkpoint can be read.
    run.on_resume = say


def _advise_to_resume(run: TrainingRun, console: Console, *, overwrite: bool) -> None:
    loop = run.loop
    state = "before the first step"
    if loop.step:
        state = f"at step {loop.step:,} of {loop.total_steps:,}; the state is saved"
    # With --overwrite again, the state would be deleted.
    instead = " instead of --overwrite" if overwrite else ""
    console.print(
        f"Stopped {state}. "
        f"To resume: the same command with --output {run.folder.path} --resume{instead}",
        markup=False,
    )


def _print_results(run: TrainingRun, console: Console) -> None:
    if run.loop.step < run.loop.total_steps:
        console.print(
            f"Time was up at step {run.loop.step:,} of {run.loop.total_steps:,}. To resume: the "
            f"same command with a larger --max-minutes, --output {run.folder.path} and --resume",
            markup=False,
        )
    if console.is_terminal:
        history = run.folder.read_history()
        console.print(history_table(history, run.config.select, console.width))
    for table in run.tables():
        console.print(table)
