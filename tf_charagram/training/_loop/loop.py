"""The training loop: stretches of `fit`, with evaluation, selection and checkpoints in between."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
import tensorflow as tf

from tf_charagram.errors import RunError, TrainingError
from tf_charagram.training._loop.checkpoints import Checkpoints, KeptModel
from tf_charagram.training._loop.progress import Interrupt, Scalars, TrainingProgress
from tf_charagram.training._loop.run_folder import RunFolder
from tf_charagram.training._loop.steps import RunSegment
from tf_charagram.training._loop.stream import Segment, Stream
from tf_charagram.training.settings import RunConfig
from tf_charagram.training.step_model import StepModel

#: Steps run without returning to Python; progress and Ctrl-C are handled this often.
STEPS_PER_EXECUTION = 50
# A cosine squares sums of weights; single precision ends at 3.4e38.
_MAX_WEIGHT = 1e15

#: Score of each set by name; `None` if a set has no score.
Scores: TypeAlias = dict[str, float | None]


def total_steps(stream: Stream, epochs: float) -> int:
    """Returns the number of steps of a run over this many epochs."""
    return max(1, round(epochs * stream.steps_per_epoch))


class TrainingLoop:
    """Trains a model on a stream of batches and leaves the selected weights in the run folder.

    Args:
        config: Settings of the run.
        product: The model that is saved.
        model: The compiled model that trains the layers of `product`.
        stream: The batches.
        run_segment: Trains `model` for a segment of the stream.
        score: Scores the current weights; calls its argument often, which raises an error to stop
            the run.
        folder: The run folder.

    Attributes:
        checkpoint_at_end: Whether the end writes a checkpoint, from which a longer run can go on.
        state: The variables of a checkpoint.
    """

    def __init__(
        self,
        config: RunConfig,
        product: Any,
        model: StepModel,
        stream: Stream,
        run_segment: RunSegment,
        score: Callable[[Callable[[], None]], Scores],
        folder: RunFolder,
    ) -> None:
        self.config = config
        self.model = model
        self.stream = stream
        self.folder = folder
        self.checkpoint_at_end = True
        self._run_segment = run_segment
        self._score = score
        self._kept = KeptModel(product, folder, config.select)
        self._interrupt = Interrupt()
        self._seconds = tf.Variable(0.0, dtype=tf.float64, trainable=False)
        self.state = [*model.checkpoint_variables, self._seconds]
        self.checkpoints = Checkpoints(folder.checkpoints, self.state)

    @property
    def step(self) -> int:
        """Steps done so far."""
        return int(self.model.step.numpy())

    @property
    def total_steps(self) -> int:
        """Steps of the whole run."""
        return total_steps(self.stream, self.config.epochs)

    def resume(self) -> bool:
        """Restores the newest checkpoint; returns whether there was one."""
        has_checkpoint = self.checkpoints.restore_latest() is not None
        has_ended = self.checkpoint_at_end and self.folder.metrics.is_file()
        if has_ended and not has_checkpoint:
            raise RunError(
                f"The run in {self.folder.path} has ended, and its checkpoints are gone, so it "
                "cannot go on. Start again with --overwrite, or go on from its model with --init."
            )
        # Evaluations after the checkpoint are repeated.
        self.folder.trim_history(self.step)
        if self.step == self._recorded_step():
            self.model.loss_tracker.reset_state()
        return has_checkpoint

    def run(self) -> TrainingProgress:
        """Trains to the end.

        Raises:
            TrainingError: The loss is not finite, and the weights are as before that step; or the
                weights have grown too large.
            KeyboardInterrupt: After a checkpoint was written.
        """
        scalars = Scalars(self.folder.tensorboard, self.folder.read_history())
        progress = self.make_progress()
        saved = time.monotonic()
        with progress, self._saved_on_interrupt(progress), self._interrupt:
            for stop in self._stops():
                if progress.is_out_of_time and self.step == self._recorded_step():
                    self._kept.end_early()
                    break
                loss = self._train_until(stop, progress)
                is_last = self.step >= self.total_steps or progress.is_out_of_time
                record = self._record(loss, progress.seconds)
                self._kept.update(record["scores"], is_last)
                self.folder.append_history(record)
                # With Adam, a checkpoint holds the table three times, so writing it may take longer
                # than the training between two evaluations.
                is_due = time.monotonic() - saved >= self.config.checkpoint_every_s
                if is_due or (is_last and self.checkpoint_at_end):
                    self._save(progress)
                    saved = time.monotonic()
                scalars.write(self.step, {"loss": loss, **record["scores"]})
                progress.report(record)
                self._interrupt.check()
                if is_last:
                    break
        return progress

    def make_progress(self) -> TrainingProgress:
        """Returns the progress of the rest of the run."""
        max_minutes = self.config.max_minutes
        return TrainingProgress(
            self.stream,
            self.step,
            self.total_steps,
            seconds=float(self._seconds.numpy()),
            max_seconds=math.inf if max_minutes is None else 60 * max_minutes,
            interrupt=self._interrupt,
        )

    def release(self) -> None:
        """Frees the memory of the moments, two tables with Adam; no step can follow."""
        strategy = self.model.distribute_strategy
        for variable in self.model.optimizer.variables:
            if len(variable.shape) > 1:
                nothing = tf.zeros([0], variable.dtype)
                for copy in strategy.experimental_local_results(variable.value):
                    tf.raw_ops.AssignVariableOp(resource=copy.handle, value=nothing)

    def _record(self, loss: float, seconds: float) -> dict[str, Any]:
        """Evaluates the weights; returns a line of the history."""
        return {
            "step": self.step,
            "epoch": round(self.step / self.stream.steps_per_epoch, 4),
            "examples": self.stream.num_examples(self.step),
            "seconds": round(seconds, 3),
            "loss": loss,
            "scores": self._score(self._interrupt.check),
        }

    def _save(self, progress: TrainingProgress) -> None:
        self._seconds.assign(progress.seconds)
        self.checkpoints.save(self.step)

    @contextmanager
    def _saved_on_interrupt(self, progress: TrainingProgress) -> Iterator[None]:
        try:
            yield
        except (KeyboardInterrupt, TrainingError):
            self._save(progress)
            raise

    def _stops(self) -> Iterator[int]:
        """Yields the steps at which to evaluate, without the steps in the history.

        The first may be the current step, if the run was interrupted before its evaluation.
        """
        interval = self.stream.steps_per_epoch / self.config.evaluations_per_epoch
        recorded = self._recorded_step()
        number = 0
        stop = 0
        while stop < self.total_steps:
            number += 1
            # Multiplied, not added up, so that rounding errors do not add up either.
            stop = min(round(number * interval), self.total_steps)
            if stop > recorded and stop >= self.step:
                yield stop
                recorded = stop

    def _recorded_step(self) -> int:
        """Returns the step of the last evaluation in the history, or 0."""
        return max((record["step"] for record in self.folder.read_history()), default=0)

    def _train_until(self, stop: int, progress: TrainingProgress) -> float:
        """Trains up to a step; returns the mean loss since the last step in the history."""
        tracker = self.model.loss_tracker
        if self.step == self._recorded_step():
            tracker.reset_state()
        for segment in self.stream.segments(self.step, stop - self.step):
            if not progress.is_out_of_time:
                self._fit(segment, progress)
                self._interrupt.check()
        self._check_weights()
        return float(tracker.result())

    def _fit(self, segment: Segment, progress: TrainingProgress) -> None:
        """Trains for the steps of a segment."""
        # Every segment resets the tracker, which holds the steps since the last evaluation.
        variables = self.model.loss_tracker.variables
        before = [variable.numpy() for variable in variables]
        self.model.loss_tracker.reset_state()
        try:
            self._run_segment(segment, [progress])
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
        """Raises `TrainingError` if the last update, which no loss has seen, has diverged."""
        # The maximum of `tf.abs` would need memory for another table.
        ends: list[float] = []
        for weight in self.model.all_weights:
            ends.append(float(tf.reduce_max(weight.value)))
            ends.append(float(-tf.reduce_min(weight.value)))
        # Python's `max` would drop NaN.
        largest = np.nan if np.isnan(ends).any() else max(ends)
        if not largest <= _MAX_WEIGHT:
            raise TrainingError(
                f"The weights have grown up to {largest:.3g} at step {self.step}, too large to "
                "compute with. Try a smaller --learning-rate, or --clip-norm 1."
            )
