"""Trains the runs of the tables, each by `charagram train` in its own process."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from research.papers.runs import RUNS, Run, Subset
from research.papers.sources import RoleData
from tf_charagram._files.json_files import read_json
from tf_charagram._files.writing import sha256_of, whole_file
from tf_charagram.data._tables.scored import set_name
from tf_charagram.errors import ConfigError, DataError, RunError
from tf_charagram.tasks.paraphrase._corpus.corpus import pairs_files
from tf_charagram.training._loop.run_folder import RunFolder

#: The sets that a task is scored on: roles of files, or all evaluation sets of the folder.
_SCORED_ON = {
    "pos": ("tagged-dev", "tagged-test"),
    "similarity": ("sick-dev", "sick-test"),
    "entailment": ("sick-dev", "sick-test"),
    "sentiment": ("sst-dev", "sst-test"),
}


@dataclass(frozen=True)
class Limits:
    """Limits that make runs shorter than the papers'.

    Attributes:
        max_epochs: Maximum number of epochs.
        max_minutes: Maximum minutes of training.

    Raises:
        ConfigError: A limit is not above 0.
    """

    max_epochs: float | None = None
    max_minutes: float | None = None

    def __post_init__(self) -> None:
        for name in ("max_epochs", "max_minutes"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ConfigError(f"`{name}` must be above 0. Received: {name}={value}")

    def epochs(self, run: Run) -> float:
        """Returns the number of epochs of a run."""
        return run.epochs if self.max_epochs is None else min(run.epochs, self.max_epochs)

    def flags(self, run: Run) -> list[str]:
        """Returns the flags of `charagram train` that limit a run."""
        flags = []
        if self.max_epochs is not None and self.max_epochs < run.epochs:
            flags += ["--epochs", f"{self.max_epochs:g}"]
        if self.max_minutes is not None:
            flags += ["--max-minutes", f"{self.max_minutes:g}"]
        return flags


UNLIMITED = Limits()


def run_order(names: Sequence[str]) -> list[Run]:
    """Returns runs, each after the one it starts from."""
    ordered: dict[str, Run] = {}
    for name in names:
        chain = [RUNS[name]]
        while chain[-1].init:
            chain.append(RUNS[chain[-1].init])
        ordered.update({run.name: run for run in reversed(chain)})
    return list(ordered.values())


def roles_of(run: Run) -> tuple[str, ...]:
    """Returns the roles of the training and evaluation data of a run."""
    trained_on = (run.data.role,) if isinstance(run.data, Subset) else run.data
    return (*trained_on, *_SCORED_ON.get(run.task, ()))


def run_folder(out: Path, name: str) -> RunFolder:
    """Returns the folder of a run."""
    return RunFolder(out / "runs" / name)


def is_trained(out: Path, name: str) -> bool:
    """Returns whether a run has finished and has scores."""
    return run_folder(out, name).metrics.is_file()


def train_command(
    run: Run, folder: Path, sources: dict[str, RoleData], out: Path, limits: Limits = UNLIMITED
) -> list[str]:
    """Returns the `charagram train` command of a run, without `charagram`.

    Args:
        run: The run.
        folder: The folder with all data.
        sources: What was found in it.
        out: The folder of all runs.
        limits: Limits of the run.

    Raises:
        DataError: The data of the run is not there.
    """
    for role in roles_of(run):
        if role not in sources:
            raise DataError(folder, f"has no data for {role}, which the run {run.name} needs")
    names = (
        [str(_subset_file(run.data, sources, out))]
        if isinstance(run.data, Subset)
        else [name for role in run.data for name in sources[role].names]
    )
    command = ["train", "--task", run.task, "--encoder", run.encoder]
    if run.settings:
        command += ["--config", str(_settings_file(run, out))]
    for name in names:
        command += ["--data", name]
    if run.task in ("words", "sentences"):
        command.append("--no-header")
    command += _evaluation_flags(run, folder, sources)
    if run.init:
        command += ["--init", str(run_folder(out, run.init).path)]
    return [
        *command,
        *run.flags,
        *limits.flags(run),
        "--output",
        str(run_folder(out, run.name).path),
    ]


def train(
    run: Run, folder: Path, sources: dict[str, RoleData], out: Path, limits: Limits,
    say: Callable[[str], object],
) -> None:  # fmt: skip
    """Trains a run or resumes it, unless it has finished.

    Afterwards deletes the files that no table reads: checkpoints, SavedModel, TensorBoard's.

    Args:
        run: The run.
        folder: The folder with all data.
        sources: What was found in it.
        out: The folder of all runs.
        limits: Limits of the run.
        say: Is called with the command.

    Raises:
        DataError: The data of the run is not there.
        RunError: The run was started with other epochs, or the command failed; its own message
            is on standard error.
    """
    if is_trained(out, run.name):
        return
    begun = run_folder(out, run.name)
    old, new = _epochs_of(begun), f"{limits.epochs(run):g}"
    if old not in (None, new):
        raise RunError(
            f"The run {run.name} was started with {old} epochs, not {new}. Give the same "
            f"--max-epochs, or delete {begun.path} to start it again."
        )
    command = train_command(run, folder, sources, out, limits)
    if begun.config.is_file():
        command.append("--resume")
    say("charagram " + " ".join(command))
    if status := _run([sys.executable, "-m", "research", "charagram", *command]):
        raise RunError(
            f"The run {run.name} ended with status {status}. The same command resumes it."
        )
    trained = run_folder(out, run.name)
    for path in (trained.checkpoints, trained.saved_model.parent, trained.tensorboard):
        shutil.rmtree(path, ignore_errors=True)


def _epochs_of(folder: RunFolder) -> str | None:
    """Returns the number of epochs in the settings of a run; `None` if unknown."""
    try:
        return f"{read_json(folder.config)['settings']['epochs']:g}"
    except (OSError, ValueError, LookupError, TypeError):
        return None  # `charagram train` will report the problem.


def _run(command: Sequence[str]) -> int:
    """Runs a command; returns its exit status."""
    with subprocess.Popen(command) as child:
        try:
            return child.wait()
        except KeyboardInterrupt:
            # Ctrl-C reached it, too: it exits once it has saved a checkpoint.
            child.wait()
            raise


def _evaluation_flags(run: Run, folder: Path, sources: dict[str, RoleData]) -> Iterator[str]:
    roles = _SCORED_ON.get(run.task)
    if roles is None:
        yield from ("--eval-data", str(folder))
        return
    for role in roles:
        yield from ("--eval-data", sources[role].names[0])
    yield from ("--select", set_name(sources[roles[0]].names[0]))


def _subset_file(subset: Subset, sources: dict[str, RoleData], out: Path) -> Path:
    """Returns the file of a subset of the pairs, written on first use.

    Raises:
        RunError: It cannot be written.
    """
    order = "random" if subset.is_random else "ordered"
    digest = _digest(sources[subset.role])
    path = out / "data" / f"{subset.role}-{digest}-{order}-{subset.halvings}.tsv"
    if path.is_file():
        return path
    pairs = list(sources[subset.role].pairs())
    if subset.is_random:
        order_of = np.random.default_rng(0).permutation(len(pairs))
        pairs = [pairs[index] for index in order_of]
    with whole_file(path, "w") as file:
        kept = pairs[: subset.size(len(pairs))]
        file.writelines(f"{left}\t{right}\n" for left, right in kept)
    return path


def _settings_file(run: Run, out: Path) -> Path:
    """Writes the settings of a run without a flag to a file for `--config`.

    Raises:
        RunError: It cannot be written.
    """
    path = out / "settings" / f"{run.name}.yaml"
    with whole_file(path, "w") as file:
        yaml.safe_dump(run.settings, file)
    return path


def _digest(source: RoleData) -> str:
    """Returns a checksum of the files of a source."""
    hashes = [sha256_of(file) for name in source.names for file in pairs_files(name)]
    return hashlib.sha256("".join(hashes).encode()).hexdigest()[:8]
