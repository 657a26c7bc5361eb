"""`charagram tune`: searches settings, a short training run per trial, and trains the best."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console

from tf_charagram.cli.commands import run_command
from tf_charagram.cli.flags import QUIET, SettingsParser, settings_flags, switch
from tf_charagram.cli.run_flags import make_run_parser, parse_run
from tf_charagram.errors import ConfigError, TrainingError
from tf_charagram.reporting.progress import is_quiet, quiet
from tf_charagram.reporting.quiet_tensorflow import load_tensorflow
from tf_charagram.settings import types_of
from tf_charagram.tasks import make_task
from tf_charagram.training.settings import RunConfig
from tf_charagram.tuning.config import TuneConfig
from tf_charagram.tuning.making import make_search
from tf_charagram.tuning.search import Search, SearchFolder

if TYPE_CHECKING:
    from tf_charagram.tuning.chief import Role

#: The flags that `--help` shows.
_FIRST = (
    "task", "data", "eval_data", "select", "out", "encoder", "space", "tuner", "max_trials",
    "finish", "plan", "resume", "init", "preset",
)  # fmt: skip
_FLAGS = (
    QUIET,
    switch("plan", "say what would be run and how long it takes", "search"),
    switch("resume", "go on with the search in --out", "search"),
    switch("overwrite", "replace the search in --out", "search"),
)
#: The meaning of flags of `train` for this command.
_HELP = {
    "out": "folder of the search [runs/tune-TASK-ENCODER-N with the next free N]",
    "select": "set whose score trials are compared by [must be given]",
}


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
    """Plans, works or searches, as the flags say."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
    load_tensorflow()
    # One process trains many models, and TensorFlow warns of each that it traces.
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    from tf_charagram.training.processor import set_threads

    set_threads(config)
    search = make_search(settings, config, given)
    from tf_charagram.tuning.chief import ID, role

    own_role = role()
    if own_role is not None and settings.workers > 1:
        raise ConfigError(
            "`workers` are processes of this machine, and "
            f"{ID}={own_role.tuner_id} is for a search on several. Leave out one of the two."
        )
    if own_role is not None and not own_role.is_chief:
        return _work(own_role, search, config.out)
    # Names of folders and of sets may have brackets, and colons as around the name of an emoji.
    console = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
    if values["plan"]:
        _plan(console, search, settings.workers)
        return 0
    folder = _open(search, config.out, values["resume"], values["overwrite"])
    from tf_charagram.tuning.plan import which_trials

    if not is_quiet():
        console.print(f"{which_trials(search)} -> {folder.path}")
    try:
        with folder.lock:
            _run(console, search, settings, folder, own_role)
    except KeyboardInterrupt:
        console.print(
            f"Stopped; what was done is in {folder.path}. Go on with the same command and "
            f"--out {folder.path} --resume"
        )
        return 130
    return 0


def _open(search: Search, out: str | None, resume: bool, overwrite: bool) -> SearchFolder:
    """Returns the folder of a search, with what is searched in it."""
    from tf_charagram.training.inherited_settings import check_init

    name = f"tune-{search.config.task}-{search.config.encoder}"
    folder = SearchFolder.open(out, name, resume=resume, overwrite=overwrite)
    if overwrite and search.config.init is not None:
        check_init(search.config.init, folder.path)
    folder.begin(_checked(search, folder))  # type: ignore[arg-type]
    return folder  # type: ignore[return-value]


def _checked(search: Search, folder: SearchFolder) -> dict[str, Any]:
    """Returns what identifies a search, once the folder is known to have no other."""
    from tf_charagram.training.run_folder import run_config

    config = search.config
    task = make_task(config)
    task.find_sets()
    identity = run_config(
        search.settings(), task.input_files(config), task.checksum_of_set(config.select)
    )
    folder.check_config(identity)
    return identity


def _work(own_role: Role, search: Search, out: str | None) -> int:
    """Runs a worker that was started by hand."""
    from tf_charagram.tuning.worker import run_worker, wait_for_chief

    if out is None:
        raise ConfigError("A worker needs --out, the folder of the chief.")
    wait_for_chief(own_role)
    # The chief keeps the folder.
    folder = SearchFolder(out)
    folder.read_search()
    _checked(search, folder)
    run_worker(own_role, search, folder)
    return 0


def _plan(console: Console, search: Search, num_workers: int) -> None:
    """Prints what would be run."""
    from tf_charagram.tuning.display import space_table
    from tf_charagram.tuning.plan import estimate, trial_table, which_trials

    console.print(which_trials(search))
    console.print(trial_table(search) if search.tuner == "grid" else space_table(search))
    expected = estimate(search)
    trials = "" if search.num_trials else ", for as many whole trials as there are combinations"
    console.print(
        f"{expected.num_examples:,} {expected.unit}; a trial of {search.config.epochs:g} epochs "
        "with the first values takes about "
        f"{expected.seconds(search, search.num_trials or search.size):,.0f} s\n"
        f"about {expected.seconds(search, num_workers) / 60:,.1f} minutes in all{trials}"
    )


def _run(
    console: Console,
    search: Search,
    settings: TuneConfig,
    folder: SearchFolder,
    own_role: Role | None,
) -> None:
    """Runs the search and what comes after it."""
    from tf_charagram.tuning.results import best
    from tf_charagram.tuning.running import run_search, train_winner

    results = run_search(
        search, folder, keep=settings.keep, num_workers=settings.workers, role=own_role
    )
    try:
        from tf_charagram.tuning.plots import write_plots
    except ImportError:
        console.print("No plots without matplotlib: pip install 'tf-charagram[plots]'")
    else:
        write_plots(folder.path / "plots", search, results)
    winner = best(results)
    for name in ("results.csv", "results.json", "results.md"):
        console.print(str(folder.path / name))
    if winner is None:
        raise TrainingError(f"No trial was completed; see {folder.path / 'results.md'}.")
    console.print(f"Best: trial {winner.id}, {search.config.select} {winner.score:.2f}")
    if settings.finish is not None:
        train_winner(search, folder, winner, settings.finish)
        console.print(f"Trained for {settings.finish:g} epochs: {folder.winner}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(tune, arguments)
