"""Runs a search to its end: alone, with workers here, or as the chief of workers elsewhere."""

from __future__ import annotations

import json

from tf_charagram.errors import RunError
from tf_charagram.files.json_files import read_json
from tf_charagram.tasks import make_task
from tf_charagram.training.run import TrainingRun
from tf_charagram.training.run_folder import RunFolder
from tf_charagram.training.settings import RunConfig
from tf_charagram.tuning.chief import Role, serve_until_done
from tf_charagram.tuning.display import Display
from tf_charagram.tuning.local import run_local
from tf_charagram.tuning.oracles import open_oracle
from tf_charagram.tuning.results import Result, read_results, write_tables
from tf_charagram.tuning.search import Search, SearchFolder
from tf_charagram.tuning.spaces import settings_of
from tf_charagram.tuning.trials import prune
from tf_charagram.tuning.tuner import TrialTuner


class Bookkeeper:
    """Keeps tables, disk and display up to date; the folders of the trials are what is true.

    Args:
        search: The search.
        folder: Where it lives.
        keep: How many models to keep.
        display: Where to show it.
    """

    def __init__(self, search: Search, folder: SearchFolder, keep: int, display: Display) -> None:
        self._search = search
        self._folder = folder
        self._keep = keep
        self._display = display
        self._num_results = -1

    def __call__(self) -> None:
        """Looks at what has ended since the last time."""
        results = read_results(self._folder)
        if len(results) != self._num_results:
            write_tables(self._search, self._folder, results)
            prune(self._folder, results, self._keep)
            self._num_results = len(results)
        self._display.show(results)


def run_search(
    search: Search,
    folder: SearchFolder,
    *,
    keep: int = 3,
    num_workers: int = 1,
    role: Role | None = None,
) -> list[Result]:
    """Runs all trials that have not ended yet.

    Args:
        search: The search.
        folder: Where it lives.
        keep: How many models to keep.
        num_workers: Processes that run trials; 1 is this one.
        role: That of a chief whose workers are started by hand, or `None`.

    Returns:
        The results of all trials, in order.

    Raises:
        CharagramError: What concerns all trials.
        KeyboardInterrupt: It can be resumed.
    """
    oracle = open_oracle(search, folder)
    with Display(search, folder) as display:
        keep_books = Bookkeeper(search, folder, keep, display)
        keep_books()
        if role is not None:
            serve_until_done(oracle, role.address, keep_books)
        elif num_workers > 1:
            run_local(search, folder, oracle, num_workers, keep_books)
        else:
            TrialTuner(search, oracle, folder, keep_books).search()
    return read_results(folder)


def train_winner(search: Search, folder: SearchFolder, winner: Result, epochs: float) -> None:
    """Trains a combination on all data and exports it; goes on with a run that was stopped.

    Args:
        search: The search.
        folder: Where it lives.
        winner: The trial whose values to take.
        epochs: For how long.

    Raises:
        CharagramError: See `TrainingRun`; or there is another winner, which is not replaced.
    """
    config = search.final_config(winner.values, folder.winner, epochs)
    _check_earlier_winner(config, RunFolder(folder.winner), [*settings_of(winner.values), "epochs"])
    TrainingRun(make_task(config), resume=True, overwrite=False).run(resume=True)


def _check_earlier_winner(config: RunConfig, earlier: RunFolder, names: list[str]) -> None:
    """Checks that the winner of an earlier call, if there is one, has the same settings."""
    try:
        old = read_json(earlier.config)["settings"]
    except (OSError, ValueError, LookupError, TypeError):
        return  # `TrainingRun` says what is wrong with it.
    new = json.loads(json.dumps(config.to_dict()))
    changed = [f"{n} was {old.get(n)}, is {new.get(n)}" for n in names if old.get(n) != new.get(n)]
    if changed:
        raise RunError(
            f"{earlier.path} holds an earlier winner: {', '.join(changed)}. Move it away, and give "
            "the same command with --resume."
        )
