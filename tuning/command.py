"""`charagram tune`: searches settings, a short training run per trial, and trains the best."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from tf_charagram.cli.commands import run_command
from tf_charagram.cli.flags import QUIET, SettingsParser, settings_flags, switch
from tf_charagram.cli.run_flags import make_run_parser, parse_run
from tf_charagram.errors import ConfigError, RunError, TrainingError
from tf_charagram.files.json_files import read_json
from tf_charagram.reporting import is_quiet, load_tensorflow, quiet
from tf_charagram.settings import types_of
from tf_charagram.tasks import make_task
from tf_charagram.training.run_folder import RunFolder
from tf_charagram.training.settings import RunConfig
from tf_charagram.tuning.search import Search, SearchFolder, TuneConfig, make_search
from tf_charagram.tuning.spaces import label, settings_of

#: The flags that `--help` shows.
_FIRST = (
    "task", "data", "eval_data", "select", "out", "encoder", "space", "tuner", "max_trials",
    "finish", "plan", "resume", "init", "preset",
)  # fmt: skip
_FLAGS = (
    QUIET,
    switch("plan", "show the trials without running them", "search"),
    switch("resume", "continue the search in --out", "search"),
    switch("overwrite", "replace the search in --out", "search"),
)
#: The meaning of flags of `train` for this command.
_HELP = {
    "out": "folder of the search [runs/tune-TASK-ENCODER-N with the next free N]",
    "select": "set whose score trials are compared by [must be given]",
}
_MAX_ROWS = 100


def make_parser(
    task: str = "words", encoder: str = "charagram", show_all: bool = False
) -> SettingsParser:
    """Returns the parser: how to search, the settings of the task and of the encoder."""
    purpose = (
        "Searches settings, a short training run per trial, and trains the best. A flag for a "
        "field of the space fixes it: it is not searched."
    )
    parser = make_run_parser(
        "tune", purpose, task, encoder, [*settings_flags(TuneConfig), *_FLAGS],
        show_all=show_all, skip=("epochs",), first=_FIRST,
    )  # fmt: skip
    for action in parser._actions:
        action.help = _HELP.get(action.dest, action.help)
    return parser


def tune(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    config, values, given = parse_run(arguments, make_parser)
    settings = TuneConfig(**{name: values[name] for name in types_of(TuneConfig)})
    with quiet(values["quiet"]):
        return _tune(config, settings, values, given)


def _tune(config: RunConfig, settings: TuneConfig, values: dict[str, Any], given: set[str]) -> int:
    """Plans a search, works for a chief, or runs a search."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
    load_tensorflow()
    # TensorFlow warns of every model that is traced.
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    from tf_charagram.training.processor import set_threads
    from tf_charagram.tuning.workers import ID, role, run_worker

    set_threads(config)
    search = make_search(settings, config, given)
    # Names of folders and sets may contain markup.
    console = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
    if values["plan"]:
        console.print(describe_trials(search))
        console.print(_trial_table(search))
        return 0
    name = role()
    if name is not None and settings.workers > 1:
        raise ConfigError(f"`workers` are processes on this machine. Leave it out with {ID}.")
    if name is not None and "chief" not in name:
        if config.out is None:
            raise ConfigError("A worker needs --out, the folder of the chief.")
        folder = SearchFolder(config.out)
        _check_identity(search, folder)
        run_worker(folder.read_search(), folder)
        return 0
    folder = _open(search, config.out, values["resume"], values["overwrite"])
    if not is_quiet():
        console.print(f"{describe_trials(search)} -> {folder.path}")
    try:
        with folder.lock:
            _run(console, search, settings, folder, is_chief=name is not None)
    except KeyboardInterrupt:
        console.print(f"Stopped. Continue with the same command and --out {folder.path} --resume")
        return 130
    return 0


def describe_trials(search: Search) -> str:
    """Returns the number of trials, and which part of the space they are."""
    if search.tuner == "hyperband":
        limit = "" if search.max_trials is None else f", at most {search.max_trials:,} trials"
        return f"{search.size:,} combinations, searched by Hyperband{limit}"
    number = search.num_trials
    if number == search.size:
        return f"{number:,} trials, all combinations"
    how = {"grid": "the first ones", "random": "at random", "bayesian": "one by one"}
    return f"{number:,} trials of {search.size:,} combinations, {how[search.tuner]}"


def _trial_table(search: Search) -> Table:
    """Returns the trials of a grid, or the space of other tuners."""
    if search.tuner != "grid":
        table = Table("field", "values")
        for name, choices in search.space.items():
            table.add_row(name, "  ".join(map(label, choices)))
        return table
    number = search.num_trials or 0
    table = Table("trial", *search.space)
    for index in range(min(number, _MAX_ROWS)):
        table.add_row(str(index), *map(label, search.combination(index).values()))
    if number > _MAX_ROWS:
        table.caption = f"and {number - _MAX_ROWS:,} more"
    return table


def _open(search: Search, out: str | None, resume: bool, overwrite: bool) -> SearchFolder:
    """Returns the folder of a search, with its settings written."""
    from tf_charagram.tasks.defaults import check_init

    name = f"tune-{search.config.task}-{search.config.encoder}"
    folder = SearchFolder.open(out, name, resume=resume, overwrite=overwrite)
    if overwrite and search.config.init is not None:
        check_init(search.config.init, folder.path)
    folder.begin(_check_identity(search, folder))  # type: ignore[arg-type]
    return folder  # type: ignore[return-value]


def _check_identity(search: Search, folder: SearchFolder) -> dict[str, Any]:
    """Returns settings and checksums of a search.

    Raises:
        RunError: The folder has another search.
    """
    from tf_charagram.training.run_folder import run_config

    config = search.config
    task = make_task(config)
    task.find_sets()
    identity = run_config(search.settings(), task.input_files(config))
    folder.check_config(identity)
    return identity


def _run(
    console: Console, search: Search, settings: TuneConfig, folder: SearchFolder, is_chief: bool
) -> None:
    """Runs a search and trains the winner."""
    from tf_charagram.tuning.results import best, read_results

    run_search(search, folder, settings.keep, settings.workers, is_chief=is_chief)
    winner = best(read_results(folder))
    for name in ("results.csv", "results.json"):
        console.print(str(folder.path / name))
    if winner is None:
        raise TrainingError(f"No trial was completed; see {folder.path / 'results.csv'}.")
    console.print(f"Best: trial {winner.id}, {search.config.select} {winner.score:.2f}")
    if settings.finish is not None:
        train_winner(search, folder, winner.values, settings.finish)
        console.print(f"Trained for {settings.finish:g} epochs: {folder.winner}")


def run_search(
    search: Search,
    folder: SearchFolder,
    keep: int = 3,
    num_workers: int = 1,
    *,
    is_chief: bool = False,
) -> None:
    """Runs all trials that have not ended.

    Args:
        search: The search.
        folder: Its folder.
        keep: Number of models to keep.
        num_workers: Number of processes; 1 is this process.
        is_chief: Whether to serve workers on other machines.

    Raises:
        CharagramError: An error that does not depend on the values of a trial.
        KeyboardInterrupt: The search can be resumed.
    """
    from tf_charagram.tuning.oracles import open_oracle
    from tf_charagram.tuning.results import prune, read_results, write_tables
    from tf_charagram.tuning.trials import TrialTuner
    from tf_charagram.tuning.workers import run_workers, serve_workers

    shown = {result.id for result in read_results(folder)}
    num_written = -1

    def report() -> None:
        """Updates tables, deletes models, and prints a line per finished trial."""
        nonlocal num_written
        results = read_results(folder)
        if len(results) != num_written:
            write_tables(search, folder, results)
            prune(folder, results, keep)
            num_written = len(results)
        for result in results:
            if result.id not in shown and not is_quiet():
                sys.stderr.write(result.describe(search.config.select) + "\n")
            shown.add(result.id)

    oracle = open_oracle(search, folder)
    report()
    if is_chief:
        serve_workers(oracle, report)
    elif num_workers > 1:
        run_workers(folder, oracle, num_workers, report)
    else:
        TrialTuner(search, oracle, folder, report).search()


def train_winner(
    search: Search, folder: SearchFolder, values: dict[str, Any], epochs: float
) -> None:
    """Trains and exports a combination on all data; resumes a stopped run.

    Args:
        search: The search.
        folder: Its folder.
        values: Field -> value.
        epochs: Epochs to train.

    Raises:
        CharagramError: As for `TrainingRun`; or the folder has another winner.
    """
    from tf_charagram.training.run import TrainingRun

    config = search.final_config(values, folder.winner, epochs)
    earlier = RunFolder(folder.winner)
    if earlier.config.is_file():
        old = read_json(earlier.config)["settings"]
        new = json.loads(json.dumps(config.to_dict()))
        names = [*settings_of(values), "epochs"]
        changed = [f"{n} was {old.get(n)}, is {new[n]}" for n in names if old.get(n) != new[n]]
        if changed:
            raise RunError(f"{earlier.path} has another winner: {', '.join(changed)}. Move it.")
    TrainingRun(make_task(config), resume=True, overwrite=False).run(resume=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(tune, arguments)
