"""What a person sees while a model trains."""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import keras
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from tf_charagram.data.pipeline.stream import Stream
from tf_charagram.training.interrupt import Interrupt


class TrainingProgress(keras.callbacks.Callback):
    """A bar with epoch, loss, speed and time left, on standard error; in a log file, no bar.

    Args:
        stream: The batches that are trained on.
        first_step: Steps done before, by the run that is resumed.
        total_steps: Steps of the whole run.
        seconds: Seconds of training before, by the run that is resumed.
        max_seconds: Seconds of training after which it is stopped.
        interrupt: Stops it too.

    Attributes:
        seconds: Seconds spent in training, those before included.
    """

    def __init__(
        self, stream: Stream, first_step: int, total_steps: int, *, seconds: float = 0.0,
        max_seconds: float = math.inf, interrupt: Interrupt | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.console = Console(stderr=True, file=sys.stderr)
        self.seconds = seconds
        self._stream = stream
        self._total_steps = total_steps
        self._max_seconds = max_seconds
        self._interrupt = Interrupt() if interrupt is None else interrupt
        self._step = self._first_step = first_step
        self._first_seconds = seconds
        self._clock = time.perf_counter()
        self._progress = Progress(
            TextColumn("epoch {task.fields[epoch]:.2f}"),
            BarColumn(),
            TextColumn("loss {task.fields[loss]:.4f}"),
            TextColumn(f"{{task.fields[speed]:,.0f}} {stream.unit}/s"),
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
    def examples_per_second(self) -> float:
        """Speed of training since this process began, without evaluations and checkpoints."""
        before, now = map(self._stream.num_examples, (self._first_step, self._step))
        return (now - before) / max(self.seconds - self._first_seconds, 1e-9)

    @property
    def is_out_of_time(self) -> bool:
        """Whether the training time is used up."""
        return self.seconds >= self._max_seconds

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
        self.seconds += now - self._clock
        self._clock = now
        self._step = int(self.model.step.numpy())
        self.model.stop_training = self.is_out_of_time or self._interrupt.is_wanted
        self._progress.update(
            self._task, completed=self._step, epoch=self._step / self._stream.steps_per_epoch,
            loss=float((logs or {}).get("loss", 0.0)), speed=self.examples_per_second,
        )  # fmt: skip

    def report(self, record: dict[str, Any]) -> None:
        """Prints one line about an evaluation."""
        scores = "  ".join(f"{name} {_number(score)}" for name, score in record["scores"].items())
        examples = self._stream.num_examples
        examples_left = examples(self._total_steps) - examples(self._step)
        left = min(
            examples_left / max(self.examples_per_second, 1e-9), self._max_seconds - self.seconds
        )
        self.console.print(
            f"epoch {record['epoch']:.2f}  loss {record['loss']:.4f}  {scores}  "
            f"{self.examples_per_second:,.0f} {self._stream.unit}/s  {left:,.0f} s left",
            highlight=False,
            soft_wrap=True,
        )


def _number(score: float | None) -> str:
    return "-" if score is None else f"{score:.2f}"
