"""The training loop: stretches of `fit`, and between them evaluation, selection, checkpoint."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
import tensorflow as tf

from tf_charagram.data.pipeline.stream import Segment, Stream
from tf_charagram.errors import RunError, TrainingError
from tf_charagram.optimizers.exchange import ALONE, Exchange
from tf_charagram.training.checkpoints import Checkpoints
from tf_charagram.training.interrupt import Interrupt
from tf_charagram.training.kept_model import KeptModel, Savable
from tf_charagram.training.precision import products_in
from tf_charagram.training.progress import TrainingProgress
from tf_charagram.training.run_folder import RunFolder
from tf_charagram.training.settings import RunConfig
from tf_charagram.training.step_model import StepModel
from tf_charagram.training.tensorboard import Scalars

#: Steps run without going back to Python; the bar moves, and Ctrl-C is heard, this often.
STEPS_PER_EXECUTION = 50
# Sums of weights are squared for a cosine; single precision ends at 3.4e38.
_LARGEST_WEIGHT = 1e15

#: Score of each set by its name; `None` where there is none.
Scores: TypeAlias = dict[str, float | None]


def total_steps(stream: Stream, epochs: float) -> int:
    """Returns the number of steps of a run over this many epochs."""
    return max(1, round(epochs * stream.steps_per_epoch))


@dataclass
class TrainingLoop:
    """Trains a model on a stream of batches and leaves the chosen weights in the run folder.

    Attributes:
        product: What is trained, as it is saved.
        model: The model around its layers, compiled.
        stream: The batches.
        score: Scores the weights as they are now; calls its argument often, which raises an error
            if the run is to stop.
        folder: Where everything is written.
        epochs: Passes over the pairs.
        evaluations_per_epoch: Evaluations per epoch.
        select: Set whose best score decides which weights are kept, or `"last"`.
        checkpoint_every_s: Seconds between checkpoints, which are written after evaluations; one
            holds the table three times, so writing it can take longer than the training between.
        max_minutes: Training time after which the run ends early, or `None`.
        dtype: What steps compute in where that is faster; see `products_in`.
        checkpoint_at_end: Whether to write one at the end in any case, from which a longer run can
            go on.
        exchange: The other workers. All run the loop, step by step together; the chief alone
            scores the weights and writes what is to stay.
    """

    product: Savable
    model: StepModel
    stream: Stream
    score: Callable[[Callable[[], None]], Scores]
    folder: RunFolder
    epochs: float
    evaluations_per_epoch: int
    select: str
    checkpoint_every_s: float
    max_minutes: float | None = None
    dtype: str = "float32"
    checkpoint_at_end: bool = True
    exchange: Exchange = ALONE

    @classmethod
    def from_config(
        cls,
        config: RunConfig,
        product: Savable,
        model: StepModel,
        stream: Stream,
        score: Callable[[Callable[[], None]], Scores],
        folder: RunFolder,
        exchange: Exchange = ALONE,
    ) -> Self:
        """Returns the loop for the settings of a run; arguments as the attributes."""
        return cls(
            product, model, stream, score, folder, config.epochs, config.evaluations_per_epoch,
            config.select, config.checkpoint_every_s, config.max_minutes, config.dtype,
            exchange=exchange,
        )  # fmt: skip

    def __post_init__(self) -> None:
        """Collects what a checkpoint holds."""
        self._interrupt = Interrupt()
        self._kept = KeptModel(self.product, self.folder, self.select)
        self._seconds = tf.Variable(0.0, dtype=tf.float64, trainable=False)
        state = [*self.model.checkpoint_variables, self._seconds]
        self.checkpoints = Checkpoints(self.folder.checkpoints, state)

    @property
    def step(self) -> int:
        """Steps done so far."""
        return int(self.model.step.numpy())

    @property
    def total_steps(self) -> int:
        """Steps of the whole run."""
        return total_steps(self.stream, self.epochs)

    def resume(self) -> bool:
        """Restores the newest checkpoint; returns whether there was one."""
        is_chief = self.exchange.is_chief
        has_checkpoint = is_chief and self.checkpoints.restore_latest() is not None
        if is_chief and not has_checkpoint and self._has_ended():
            raise RunError(
                f"The run in {self.folder.path} has ended, and its checkpoints are gone, so it "
                "cannot go on. Start again with --overwrite, or go on from its model with --init."
            )
        is_restored = self.exchange.any(has_checkpoint)
        if is_restored:
            self.model.take_over_state()
            self.exchange.copy_from_chief([self._seconds])
        self.folder.trim_history(self.step)
        (recorded,) = self.exchange.of_chief(self._recorded_step())
        if recorded and not is_chief:
            self.folder.append_history({"step": int(recorded), "scores": {}})
        return is_restored

    def run(self) -> TrainingProgress:
        """Trains to the end.

        Raises:
            TrainingError: The loss is not finite, and the weights are those before that step; or
                the weights have grown too large.
            KeyboardInterrupt: After a checkpoint was written.
        """
        scalars = Scalars(self.folder.tensorboard, self.folder.read_history())
        progress = TrainingProgress(
            self.stream, self.step, self.total_steps, seconds=float(self._seconds.numpy()),
            max_seconds=math.inf if self.max_minutes is None else 60 * self.max_minutes,
            interrupt=self._interrupt, exchange=self.exchange,
        )  # fmt: skip
        saved = time.monotonic()
        with progress, self._saved_on_interrupt(progress), self._interrupt:
            for stop in self._stops():
                if progress.is_out_of_time and self.step == self._recorded_step():
                    if self.exchange.is_chief:
                        self._kept.end_early()
                    break
                loss = self._train_until(stop, progress)
                is_last = self.step >= self.total_steps or progress.is_out_of_time
                record = self._record(loss, progress.seconds)
                if self.exchange.is_chief:
                    self._kept.update(record, is_last)
                self.folder.append_history(record)
                (waited,) = self.exchange.of_chief(time.monotonic() - saved)
                is_due = waited >= self.checkpoint_every_s
                if is_due or (is_last and self.checkpoint_at_end):
                    self._save(progress)
                    saved = time.monotonic()
                scalars.write(self.step, {"loss": loss, **record["scores"]})
                progress.report(record)
                self._check_interrupt()
                if is_last:
                    break
        return progress

    def _has_ended(self) -> bool:
        """Returns whether the folder holds a finished run, which leaves a checkpoint of its end."""
        return self.checkpoint_at_end and self.folder.metrics.is_file()

    def release(self) -> None:
        """Frees the memory of the optimizer, for Adam that of two tables; no step can follow."""
        parts = [part for table in self.model.cut_tables for part in table.parts]
        for variable in [*self.model.optimizer.variables, *parts]:
            if len(variable.shape) > 1:
                nothing = tf.zeros([0], variable.dtype)
                tf.raw_ops.AssignVariableOp(resource=variable.value.handle, value=nothing)

    def _record(self, loss: float, seconds: float) -> dict[str, Any]:
        """Returns one line of the history."""
        return {
            "step": self.step,
            "epoch": round(self.step / self.stream.steps_per_epoch, 4),
            "examples": self.stream.num_examples(self.step),
            "seconds": round(seconds, 3),
            "loss": loss,
            "scores": self.evaluate(),
        }

    def evaluate(self) -> Scores:
        """Scores the weights as they are now; the other workers wait for the chief."""
        scores: Scores = {}
        if self.exchange.is_chief:
            try:
                scores = self.score(self._interrupt.check)
            except KeyboardInterrupt:
                if self.exchange.is_alone:
                    raise
                self._interrupt.is_wanted = True
        self._check_interrupt()
        return scores

    def _check_interrupt(self) -> None:
        """Raises `KeyboardInterrupt` in all workers if Ctrl-C was pressed in one."""
        if self._interrupt.is_wanted_by(self.exchange):
            self._interrupt.check()

    def _save(self, progress: TrainingProgress) -> None:
        self._seconds.assign(progress.seconds)
        with self.model.assembled_state():
            if self.exchange.is_chief:
                self.checkpoints.save(self.step)

    @contextmanager
    def _saved_on_interrupt(self, progress: TrainingProgress) -> Iterator[None]:
        try:
            yield
        except (KeyboardInterrupt, TrainingError):
            self._save(progress)
            raise

    def _stops(self) -> Iterator[int]:
        """Yields the steps at which to evaluate: all that the history has no record of.

        The first may be the current step, if the run was interrupted before its evaluation.
        """
        interval = self.stream.steps_per_epoch / self.evaluations_per_epoch
        recorded, number, stop = self._recorded_step(), 0, 0
        while stop < self.total_steps:
            number += 1
            stop = min(round(number * interval), self.total_steps)
            if stop > recorded and stop >= self.step:
                yield stop
                recorded = stop

    def _recorded_step(self) -> int:
        return max((record["step"] for record in self.folder.read_history()), default=0)

    def _train_until(self, stop: int, progress: TrainingProgress) -> float:
        """Trains up to a step; returns the mean loss since the last one in the history."""
        tracker = self.model.loss_tracker
        if self.step == self._recorded_step():
            tracker.reset_state()
        for segment in self.stream.segments(self.step, stop - self.step):
            if not progress.is_out_of_time:
                self._fit(segment, progress)
                self._check_interrupt()
        self.model.assemble()
        self._check_weights()
        return float(tracker.result())

    def _fit(self, segment: Segment, progress: TrainingProgress) -> None:
        """Trains for the steps of a segment."""
        # `train_on` resets the tracker, which holds the steps since the last evaluation.
        variables = self.model.loss_tracker.variables
        before = [variable.numpy() for variable in variables]
        self.model.loss_tracker.reset_state()
        try:
            with products_in(self.dtype), self.exchange.watched():
                self.model.train_on(self.stream, segment, [progress])
        except tf.errors.InvalidArgumentError as error:
            if "not finite" not in str(error):
                raise
            raise TrainingError(
                f"The loss or its gradient is not finite at step {self.step}. The weights of the "
                f"step before are in {self.folder.checkpoints}. Try a smaller --learning-rate, or "
                "--clip-norm 1."
            ) from error
        finally:
            for variable, value in zip(variables, before, strict=True):
                variable.assign_add(value)

    def _check_weights(self) -> None:
        """Raises `TrainingError` if the last update, which no loss has seen, spoilt the weights."""
        # Not the maximum of `tf.abs`, which would be another table.
        ends = [
            float(end)
            for weight in self.model.all_weights
            for end in (tf.reduce_max(weight.value), -tf.reduce_min(weight.value))
        ]
        largest = np.nan if np.isnan(ends).any() else max(ends)
        if not largest <= _LARGEST_WEIGHT:
            raise TrainingError(
                f"The weights have grown up to {largest:.3g} at step {self.step}, too large to "
                "compute with. Try a smaller --learning-rate, or --clip-norm 1."
            )
