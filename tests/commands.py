"""Runs commands in this process, which is fast, or in a process of their own."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partialmethod
from pathlib import Path
from typing import Any

import numpy as np

from tf_charagram.cli import COMMANDS, main

#: Small and quick, but with more than one checkpoint.
QUICK = ("--dim", "8", "--epochs", "2", "--evaluations-per-epoch", "1", "--batch-size", "10")


def call(command: str, *arguments: Any) -> int:
    """Runs a command in this process; returns its exit status."""
    try:
        return main([command, *map(str, arguments)])
    except SystemExit as end:
        return int(end.code or 0)


def config_flag(folder: Path, **settings: Any) -> tuple[str, str]:
    """Returns the flag for settings that have no flag of their own."""
    path = folder / "settings.yaml"
    path.write_text(json.dumps(settings))
    return "--config", str(path)


def process(command: str, *arguments: Any) -> list[str]:
    """Returns the command line of a command."""
    name = ("tf_charagram.cli", command) if command in COMMANDS else (f"tf_charagram.{command}",)
    return [sys.executable, "-m", *name, *map(str, arguments)]


def environment(**variables: str) -> dict[str, str]:
    """Returns the environment of a child process."""
    return {**os.environ, "PYTHONUNBUFFERED": "1", "CUDA_VISIBLE_DEVICES": "-1", **variables}


def run(
    command: Sequence[str], *, cwd: Path, timeout: float = 300, **kwargs: Any
) -> subprocess.CompletedProcess[str]:
    """Runs a command line to its end."""
    return subprocess.run(
        command, cwd=cwd, timeout=timeout, env=environment(), text=True, encoding="utf-8",
        **{"capture_output": True, **kwargs},
    )  # fmt: skip


def saved_weights(folder: Path) -> dict[str, Any]:
    """Returns the weights of the model in a run folder, by name."""
    with np.load(folder / "model" / "weights.npz") as arrays:
        return {name: arrays[name] for name in arrays.files}


def has_gpu() -> bool:
    """Returns whether TensorFlow trains on a GPU in this process."""
    import tensorflow as tf

    return bool(tf.config.list_physical_devices("GPU"))


def assert_same_training(found: Any, expected: Any, name: str = "") -> None:
    """Checks that two trainings led to the same values: to the bit, or up to rounding on a GPU.

    A GPU adds the gradients of a row with atomic operations, in another order each time. So the
    last bits of its sums differ between equal runs, and every step enlarges the difference. The
    tolerance is below the length of a usual step, so that a lost step is still found.

    Args:
        found: Array, variable or number of one training.
        expected: That of the other.
        name: Name of the weight, for the message.
    """
    found, expected = np.asarray(found), np.asarray(expected)
    if has_gpu():
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4, err_msg=name)
    else:
        np.testing.assert_array_equal(found, expected, err_msg=name, strict=True)
        assert found.tobytes() == expected.tobytes(), name


def assert_same_weights(folder: Path, other: Path) -> None:
    """Checks that the models of two runs have the same weights, as two equal trainings do."""
    expected, found = saved_weights(other), saved_weights(folder)
    assert sorted(found) == sorted(expected)
    for name, array in expected.items():
        assert_same_training(found[name], array, name)


def assert_close_weights(folder: Path, other: Path) -> None:
    """Checks that the models of two runs have the same weights, up to rounding."""
    expected, found = saved_weights(other), saved_weights(folder)
    assert sorted(found) == sorted(expected)
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, rtol=0, atol=1e-5, err_msg=name)


def interrupt_training_at(monkeypatch: Any, step: int) -> None:
    """Interrupts training at a step, as by Ctrl-C."""
    from tf_charagram.training._loop.loop import TrainingLoop

    train_until = TrainingLoop._train_until

    def interrupted(self, stop, progress):
        if stop < step:
            return train_until(self, stop, progress)
        train_until(self, step, progress)
        raise KeyboardInterrupt

    monkeypatch.setattr(TrainingLoop, "_train_until", interrupted)


def leave_out_export(monkeypatch: Any) -> None:
    """Skips the SavedModel of runs, which takes as long as a short training."""
    from tf_charagram.training.run import TrainingRun

    monkeypatch.setattr(TrainingRun, "run", partialmethod(TrainingRun.run, export=False))


def stop_before(
    number: int, stop: Callable[[], None], setattr_: Callable[[Any, str, Any], None]
) -> list[int]:
    """Stops a call of the functions that rename and delete files.

    Args:
        number: Number of the call.
        stop: Called instead of it; raises an error or ends the process.
        setattr_: Replaces a function.

    Returns:
        The numbers of all calls so far.
    """
    numbers: list[int] = []

    def stopping(function: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            numbers.append(len(numbers))
            if numbers[-1] == number:
                stop()
            return function(*args, **kwargs)

        return call

    for name in ("replace", "rename", "unlink"):
        setattr_(os, name, stopping(getattr(os, name)))
    return numbers


@contextmanager
def full_disk(bytes_allowed: int) -> Iterator[None]:
    """Limits the size of files of this process, as if the disk were full."""
    # Python ignores the signal that comes with it, so writing is an error.
    assert signal.getsignal(signal.SIGXFSZ) is signal.SIG_IGN
    before, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_allowed, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, hard))
