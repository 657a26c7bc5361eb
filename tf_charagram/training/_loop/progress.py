"""Progress while a model trains, on the terminal and for TensorBoard; Ctrl-C between two steps."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import keras
import tensorflow as tf

from tf_charagram._common.reporting import ProgressLine
from tf_charagram._files.writing import tensorflow_writing
from tf_charagram.training._loop.stream import Stream

_STOPPING = "stopping; Ctrl-C again stops at once"
_DEFAULT_HANDLERS: dict[int, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
}


def _write_message() -> None:
    # Not through `sys.stderr`, which may be in the middle of a write.
    os.write(2, b"\nStopping after this step; Ctrl-C again stops at once.\n")


class Interrupt:
    """Context manager that records Ctrl-C and SIGTERM, so that training stops between two steps.

    A `KeyboardInterrupt` raised inside a destructor or a C++ callback is dropped, and one raised
    while a file is written leaves half of it. A second signal is raised at once. Has no effect
    outside the main thread, the only one that gets signals.

    Attributes:
        is_wanted: Whether Ctrl-C was pressed.
        announce: Called when Ctrl-C is pressed. Default: writes a line to standard error.
    """

    def __init__(self) -> None:
        self.is_wanted = False
        self.announce: Callable[[], object] = _write_message
        self._handled: list[int] = []

    def __enter__(self) -> Interrupt:
        # A handler of another program stays, and so does an ignored signal, as under `nohup`.
        if threading.current_thread() is threading.main_thread():
            for number, default in _DEFAULT_HANDLERS.items():
                if signal.getsignal(number) == default:
                    signal.signal(number, self._record)
                    self._handled.append(number)
        return self

    def __exit__(self, *error: object) -> None:
        self._leave()

    def check(self) -> None:
        """Raises `KeyboardInterrupt` if Ctrl-C was pressed."""
        if self.is_wanted:
            self._leave()
            raise KeyboardInterrupt

    def _record(self, number: int, frame: FrameType | None) -> None:
        if self.is_wanted:
            raise KeyboardInterrupt
        self.is_wanted = True
        self.announce()

    def _leave(self) -> None:
        while self._handled:
            number = self._handled.pop()
            signal.signal(number, _DEFAULT_HANDLERS[number])


class TrainingProgress(keras.callbacks.Callback):
    """Shows one moving line with epoch, speed and score; in a log, one line per evaluation.

    Args:
        stream: The batches.
        first_step: Steps done before, if the run is resumed.
        total_steps: Steps of the whole run.
        seconds: Seconds of training before, if the run is resumed.
        max_seconds: Seconds of training after which the run is stopped.
        interrupt: Also stops the run.

    Attributes:
        seconds: Seconds of training of the whole run.
    """

    def __init__(
        self,
        stream: Stream,
        first_step: int,
        total_steps: int,
        *,
        seconds: float = 0.0,
        max_seconds: float = math.inf,
        interrupt: Interrupt | None = None,
    ) -> None:
        super().__init__()
        self.seconds = seconds
        self._stream = stream
        self._total_steps = total_steps
        self._max_seconds = max_seconds
        self._interrupt = Interrupt() if interrupt is None else interrupt
        self._step = self._first_step = first_step
        self._first_seconds = seconds
        self._clock = time.perf_counter()
        self._loss: float | None = None
        self._scores: dict[str, float | None] = {}
        self._line = ProgressLine(total_steps, first_step)

    @property
    def _examples_per_second(self) -> float:
        """Speed of training, without evaluations and checkpoints."""
        before = self._stream.num_examples(self._first_step)
        now = self._stream.num_examples(self._step)
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
        """Starts the clock of a stretch of training."""
        self._clock = time.perf_counter()

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Moves the line, and stops training if it is interrupted or out of time."""
        now = time.perf_counter()
        self.seconds += now - self._clock
        self._clock = now
        self._step = int(self.model.step.numpy())
        self.model.stop_training = self.is_out_of_time or self._interrupt.is_wanted
        self._loss = float((logs or {}).get("loss", 0.0))
        self._show()

    def report(self, record: dict[str, Any]) -> None:
        """Shows an evaluation: on the moving line, or else on a line of its own."""
        self._scores = record["scores"]
        self._show()
        if self._line.is_shown:
            return
        facts = [f"epoch {record['epoch']:.2f}", f"loss {record['loss']:.4f}"]
        facts += [_scored(name, score) for name, score in self._scores.items()]
        # A run that was stopped before an evaluation starts with it, and has no speed yet.
        if self._step > self._first_step:
            facts += [self._speed(), f"{self._seconds_left():,.0f} s left"]
        self._line.say("  ".join(facts))

    def _seconds_left(self) -> float:
        total = self._stream.num_examples(self._total_steps)
        done = self._stream.num_examples(self._step)
        seconds_left = (total - done) / max(self._examples_per_second, 1e-9)
        # The time is checked between steps, so a run ends a little late.
        return max(0.0, min(seconds_left, self._max_seconds - self.seconds))

    def _show(self) -> None:
        if self._interrupt.is_wanted:
            self._line.update(_STOPPING, (), completed=self._step)
            return
        steps_per_epoch = self._stream.steps_per_epoch
        epoch = self._step / steps_per_epoch
        head = f"epoch {epoch:.2f} of {self._total_steps / steps_per_epoch:g}"
        facts = [_scored(name, score) for name, score in self._scores.items()]
        # The end of the line is cut first: the loss is less important than the first score.
        if self._loss is not None:
            facts.insert(1, f"loss {self._loss:.4f}")
            facts.insert(0, self._speed())
        self._line.update(head, facts, completed=self._step)

    def _speed(self) -> str:
        return f"{self._examples_per_second:,.0f} {self._stream.unit}/s"


class Scalars:
    """Writes scalars for TensorBoard.

    Args:
        folder: The log folder. Earlier events are deleted, because TensorBoard would show both
            points of a step that a resumed run repeats.
        history: Records of the evaluations before.

    Raises:
        RunError: It cannot be written.
    """

    def __init__(self, folder: Path, history: Sequence[Mapping[str, Any]] = ()) -> None:
        self._folder = folder
        for path in folder.glob("events.out.tfevents.*"):
            path.unlink()
        with tensorflow_writing(folder):
            self._writer = tf.summary.create_file_writer(str(folder))
        for record in history:
            self.write(record["step"], {"loss": record.get("loss"), **record.get("scores", {})})

    def write(self, step: int, values: Mapping[str, float | None]) -> None:
        """Writes name -> value, skipping `None`.

        Raises:
            RunError: They cannot be written, for instance because the disk is full.
        """
        with tensorflow_writing(self._folder), self._writer.as_default(step=step):
            for name, value in values.items():
                if value is not None:
                    tf.summary.scalar(name, value)
            self._writer.flush()


def _scored(name: str, score: float | None) -> str:
    """Returns a name and its score; a set may have no score, if all its predictions are equal."""
    text = "-" if score is None else f"{score:.2f}"
    return f"{name} {text}"
