"""What the user sees while a model trains."""

from __future__ import annotations

import math
import time
from typing import Any

import keras

from tf_charagram.data.pipeline.stream import Stream
from tf_charagram.optimizers.exchange import ALONE, Exchange
from tf_charagram.reporting.progress import ProgressLine
from tf_charagram.training.interrupt import Interrupt

_STOPPING = "stopping; Ctrl-C again stops at once"


class TrainingProgress(keras.callbacks.Callback):
    """One moving line with epoch, speed, time left and score; in a log, one line per evaluation.

    Args:
        stream: The batches that are trained on.
        first_step: Steps done before, by the run that is resumed.
        total_steps: Steps of the whole run.
        seconds: Seconds of training before, by the run that is resumed.
        max_seconds: Seconds of training after which it is stopped.
        interrupt: Stops it as well.
        exchange: The other workers; all stop after the same step.

    Attributes:
        seconds: Seconds spent in training, those before included; for all workers those of the
            chief.
    """

    def __init__(
        self, stream: Stream, first_step: int, total_steps: int, *, seconds: float = 0.0,
        max_seconds: float = math.inf, interrupt: Interrupt | None = None,
        exchange: Exchange = ALONE,
    ) -> None:  # fmt: skip
        super().__init__()
        self.seconds = seconds
        self._stream = stream
        self._total_steps = total_steps
        self._max_seconds = max_seconds
        self._interrupt = Interrupt() if interrupt is None else interrupt
        self._exchange = exchange
        self._step = self._first_step = first_step
        self._first_seconds = seconds
        self._clock = time.perf_counter()
        self._loss: float | None = None
        self._scores: dict[str, float | None] = {}
        self._line = ProgressLine(total_steps, first_step)

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
        if self._line.is_shown:
            self._interrupt.announce = self._show
        self._line.__enter__()
        self._show()
        return self

    def __exit__(self, *error: object) -> None:
        self._line.__exit__(*error)

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Starts the clock of one stretch of training."""
        self._clock = time.perf_counter()

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Moves the line."""
        now = time.perf_counter()
        (self.seconds,) = self._exchange.of_chief(self.seconds + now - self._clock)
        self._clock = now
        self._step = int(self.model.step.numpy())
        self.model.stop_training = self.is_out_of_time or self._interrupt.is_wanted_by(
            self._exchange
        )
        self._loss = float((logs or {}).get("loss", 0.0))
        self._show()

    def report(self, record: dict[str, Any]) -> None:
        """Shows an evaluation: on the moving line, or else on one of its own."""
        self._scores = record["scores"]
        self._show()
        if self._line.is_shown:
            return
        facts = [f"epoch {record['epoch']:.2f}", f"loss {record['loss']:.4f}"]
        facts += [_scored(*item) for item in self._scores.items()]
        # A run that was stopped before an evaluation begins with it, and has no speed yet.
        if self._step > self._first_step:
            facts += [self._speed(), f"{self._seconds_left():,.0f} s left"]
        self._line.say("  ".join(facts))

    def _seconds_left(self) -> float:
        examples = self._stream.num_examples
        examples_left = examples(self._total_steps) - examples(self._step)
        left = examples_left / max(self.examples_per_second, 1e-9)
        # Time is checked between steps, so a run ends a little late.
        return max(0.0, min(left, self._max_seconds - self.seconds))

    def _show(self) -> None:
        if self._interrupt.is_wanted:
            self._line.update(_STOPPING, (), completed=self._step)
            return
        epochs = self._total_steps / self._stream.steps_per_epoch
        head = f"epoch {self._step / self._stream.steps_per_epoch:.2f} of {epochs:g}"
        facts = [] if self._loss is None else [self._speed()]
        facts += [_scored(*item) for item in list(self._scores.items())[:1]]
        facts += [] if self._loss is None else [f"loss {self._loss:.4f}"]
        facts += [_scored(*item) for item in list(self._scores.items())[1:]]
        self._line.update(head, facts, completed=self._step)

    def _speed(self) -> str:
        return f"{self.examples_per_second:,.0f} {self._stream.unit}/s"


def _scored(name: str, score: float | None) -> str:
    return f"{name} {'-' if score is None else f'{score:.2f}'}"
