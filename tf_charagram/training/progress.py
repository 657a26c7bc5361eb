"""What a person sees while a model trains."""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import keras
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


class TrainingProgress(keras.callbacks.Callback):
    """A bar with epoch, loss, speed and time left, on standard error; in a log file, no bar.

    Args:
        first_step: Steps done before, by the run that is resumed.
        total_steps: Steps of the whole run.
        steps_per_epoch: Steps of one epoch.
        batch_size: Pairs a step.
        max_seconds: Seconds of training after which it is stopped.
    """

    def __init__(
        self, first_step: int, total_steps: int, steps_per_epoch: int, batch_size: int,
        max_seconds: float = math.inf,
    ) -> None:  # fmt: skip
        super().__init__()
        self.console = Console(stderr=True, file=sys.stderr)
        self._total_steps = total_steps
        self._steps_per_epoch = steps_per_epoch
        self._batch_size = batch_size
        self._max_seconds = max_seconds
        self._step = first_step
        self._start: float = first_step
        self._seconds = 0.0
        self._clock = time.perf_counter()
        self._progress = Progress(
            TextColumn("epoch {task.fields[epoch]:.2f}"),
            BarColumn(),
            TextColumn("loss {task.fields[loss]:.4f}"),
            TextColumn("{task.fields[speed]:,.0f} pairs/s"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self._task = self._progress.add_task(
            "train", total=total_steps, completed=first_step, epoch=0.0, loss=0.0, speed=0.0
        )

    @property
    def pairs_per_second(self) -> float:
        """Speed of training alone, without evaluations and checkpoints."""
        return (self._step - self._start) * self._batch_size / max(self._seconds, 1e-9)

    @property
    def seconds(self) -> float:
        """Time spent in training alone."""
        return self._seconds

    @property
    def is_out_of_time(self) -> bool:
        """Whether the training time is used up."""
        return self._seconds >= self._max_seconds

    def __enter__(self) -> TrainingProgress:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Starts the clock of one stretch of training."""
        self._clock = time.perf_counter()

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Moves the bar."""
        now = time.perf_counter()
        self._seconds += now - self._clock
        self._clock = now
        self._step = int(self.model.step.numpy())
        self.model.stop_training = self.is_out_of_time
        self._progress.update(
            self._task, completed=self._step, epoch=self._step / self._steps_per_epoch,
            loss=float((logs or {}).get("loss", 0.0)), speed=self.pairs_per_second,
        )  # fmt: skip

    def report(self, record: dict[str, Any]) -> None:
        """Prints one line about an evaluation."""
        scores = "  ".join(f"{name} {_number(score)}" for name, score in record["scores"].items())
        pairs_left = (self._total_steps - self._step) * self._batch_size
        left = min(pairs_left / max(self.pairs_per_second, 1e-9), self._max_seconds - self._seconds)
        self.console.print(
            f"epoch {record['epoch']:.2f}  loss {record['loss']:.4f}  {scores}  "
            f"{self.pairs_per_second:,.0f} pairs/s  {left:,.0f} s left",
            highlight=False,
            soft_wrap=True,
        )


def _number(score: float | None) -> str:
    return "-" if score is None else f"{score:.2f}"
