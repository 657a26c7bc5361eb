"""`charagram tune`: searches settings, a short training run per trial, and trains the best."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console

from tf_charagram._common.lazy import load_tensorflow
from tf_charagram._common.reporting import is_quiet, quiet
from tf_charagram.cli._flags.run_flags import make_run_parser, parse_run
from tf_charagram.cli._flags.settings_parser import QUIET, SettingsParser, settings_flags, switch
from tf_charagram.errors import TrainingError
from tf_charagram.settings import types_of
from tf_charagram.tasks import make_task
from tf_charagram.tuning._search.search import Search, SearchFolder, TuneConfig, make_search
from tf_charagram.tuning._search.spaces import label

#: The flags that `--help` shows.
_FIRST = (
    "task",
    "data",
    "eval_data",
    "select",
    "output",
    "encoder",
    "space",
    "tuner",
    "max_trials",
    "epochs",
    "finish",
    "plan",
    "resume",
    "init",
    "preset",
)
_FLAGS = (
    QUIET,
    switch("plan", "show the space to search, and stop", "search"),
    switch("resume", "continue the search in --output", "search"),
    switch("overwrite", "replace the search in --output", "search"),
)
#: The meaning of flags of `train` for this command.
_HELP = {
    "epochs": "epochs of a trial; can be a fraction [words, distill: 1; sentences, pos: 5; others: "
    "10]",
    "output": "folder of the search [runs/tune-TASK-ENCODER-N with the next free N]",
    "select": "set whose score trials are compared by [must be given]",
}


def _make_parser(
    task: str = "words", encoder: str = "charagram", show_all: bool = False
) -> SettingsParser:
    """Returns the parser: how to search, the settings of the task and of the encoder."""
    purpose = (
        "Searches settings, a short training run per trial, and trains the best. A flag for a "
        "field of the space fixes it: it is not searched."
    )
    parser = make_run_parser(
        "tune",
        purpose,
        task,
        encoder,
        [*settings_flags(TuneConfig), *_FLAGS],
        show_all=show_all,
        first=_FIRST,
    )
    # These mean another thing than for `train`.
    for action in parser._actions:
        if action.dest in _HELP:
            action.help = _HELP[action.dest]
    return parser


def tune(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    config, values, given = parse_run(arguments, _make_parser)
    settings = TuneConfig(**{name: values[name] for name in types_of(TuneConfig)})
    with quiet(values["quiet"]):
        logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
        load_tensorflow()
        # TensorFlow warns of every model that is traced.
        logging.getLogger("tensorflow").setLevel(logging.ERROR)
        from tf_charagram.training._loop.processor import set_threads

        set_threads(config)
        return _tune(make_search(settings, config, given), values)


def _tune(search: Search, values: dict[str, Any]) -> int:
    """Shows the space, or runs a search."""
    # Names of folders and sets may contain markup.
    console = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
    # Hyperband decides on the number while it runs.
    number = "" if search.num_trials is None else f"{search.num_trials:,} "
    summary = f"{number}trials of {search.size:,} combinations, {search.settings.tuner}"
    if values["plan"]:
        console.print(summary)
        for name, choices in search.space.items():
            labels = [label(choice) for choice in choices]
            console.print(f"  {name:24}  {'  '.join(labels)}")
        return 0
    folder = _open(search, values)
    if not is_quiet():
        console.print(f"{summary} -> {folder.path}")
    try:
        with folder.lock:
            run_search(search, folder)
            _finish(search, folder, console)
    except KeyboardInterrupt:
        console.print(
            f"Stopped. Continue with the same command and --output {folder.path} --resume"
        )
        return 130
    return 0


def _open(search: Search, values: dict[str, Any]) -> SearchFolder:
    """Returns the folder of a search, with its settings written."""
    from tf_charagram.tasks._shared.defaults import check_init

    folder = SearchFolder.open(
        values["output"],
        f"tune-{search.config.task}-{search.config.encoder}",
        resume=values["resume"],
        overwrite=values["overwrite"],
    )
    if values["overwrite"] and search.config.init is not None:
        check_init(search.config.init, folder.path)
    identity = search.identity()
    folder.check_config(identity)
    folder.begin(identity)
    return folder  # type: ignore[return-value]


def run_search(search: Search, folder: SearchFolder) -> None:
    """Runs all trials that have not ended.

    Raises:
        CharagramError: An error that does not depend on the values of a trial.
        KeyboardInterrupt: The search can be resumed.
    """
    from tf_charagram.tuning._search.trials import TrialTuner, write_results

    TrialTuner(search, folder).search()
    write_results(search, folder)


def _finish(search: Search, folder: SearchFolder, console: Console) -> None:
    """Shows the best trial; trains it again and exports it if asked for."""
    from tf_charagram.training.run import TrainingRun
    from tf_charagram.tuning._search.trials import best_first, read_results

    table = folder.path / "results.csv"
    console.print(str(table))
    results = best_first(read_results(folder))
    if not results or results[0].score is None:
        raise TrainingError(f"No trial was completed; see {table}.")
    best = results[0]
    console.print(f"Best: trial {best.id}, {search.config.select} {best.score:.2f}")
    epochs = search.settings.finish
    if epochs is not None:
        config = search.config.replace(
            **best.values, output=str(folder.winner), epochs=epochs, max_minutes=None
        )
        TrainingRun(make_task(config), resume=True, overwrite=False).run(resume=True)
        console.print(f"Trained to epoch {epochs:g}: {folder.winner}")
