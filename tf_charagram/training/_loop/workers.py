"""The processes that train one model together: their strategy, their chief, when they stop."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any

import numpy as np
import tensorflow as tf

from tf_charagram.errors import ConfigError
from tf_charagram.training._loop.loop import TrainingLoop
from tf_charagram.training._loop.progress import Interrupt, TrainingProgress
from tf_charagram.training._loop.replicas import lost_workers

_ROLES = ("chief", "worker")
_EXAMPLE = (
    '{"cluster": {"worker": ["host-a:2222", "host-b:2222"]}, '
    '"task": {"type": "worker", "index": 0}}'
)
# A float64 holds integers of 52 bits exactly.
_DIGEST_DIGITS = 52 // 4


def make_strategy() -> tf.distribute.Strategy:
    """Returns the strategy of this process.

    Several workers in `TF_CONFIG` train together, each on all its GPUs. Otherwise all GPUs of this
    machine do if there are several; else it is the default strategy. With several workers,
    TensorFlow must not have computed anything before.

    Raises:
        ConfigError: `TF_CONFIG` is not as TensorFlow defines it.
    """
    if _num_workers() > 1:
        return tf.distribute.MultiWorkerMirroredStrategy()
    gpus = _gpus()
    return tf.distribute.MirroredStrategy(gpus) if len(gpus) > 1 else tf.distribute.get_strategy()


def _num_workers() -> int:
    try:
        cluster = tf.distribute.cluster_resolver.TFConfigClusterResolver().cluster_spec()
        return sum(cluster.num_tasks(role) for role in cluster.jobs if role in _ROLES)
    except (ValueError, TypeError, AttributeError) as error:
        raise ConfigError(f"`TF_CONFIG` must be JSON such as {_EXAMPLE} ({error}).") from error


def _gpus() -> list[str]:
    return [device.name for device in tf.config.list_logical_devices("GPU")]


class Workers:
    """The processes that train one model together; usually only this one.

    Args:
        strategy: The strategy of this process.

    Attributes:
        strategy: The strategy.
        is_chief: Whether this process evaluates and writes the run folder.
    """

    def __init__(self, strategy: tf.distribute.Strategy) -> None:
        self.strategy = strategy
        resolver = strategy.cluster_resolver
        roles = [] if resolver is None else resolver.cluster_spec().jobs
        chief = ("chief" if "chief" in roles else "worker", 0)
        self.is_chief = not roles or (resolver.task_type, resolver.task_id) == chief
        self._has_others = bool(roles)
        self._gathered = self._on_replicas(_gathered)
        self._of_first = self._on_replicas(_of_first)

    def interrupt(self) -> Interrupt:
        """Returns a handler of Ctrl-C that stops all workers after the same step."""
        return _SharedInterrupt(self.gather) if self._has_others else Interrupt()

    def gather(self, numbers: Sequence[float]) -> np.ndarray:
        """Returns the numbers of all replicas, float64 `(num_replicas, n)`, the chief first."""
        with lost_workers():
            return self._gathered(tf.constant(numbers, tf.float64)).numpy()

    def check_equal(self, identity: Mapping[str, Any]) -> None:
        """Checks that all workers train the same model on the same data.

        Args:
            identity: What must be equal, as JSON.

        Raises:
            ConfigError: It differs. All workers raise it.
        """
        if not self._has_others:
            return
        # Replicas exchange numbers only, so the first digits of a checksum are compared.
        digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
        if np.ptp(self.gather([int(digest[:_DIGEST_DIGITS], 16)])):
            raise ConfigError(
                "The workers of `TF_CONFIG` differ in settings, data files or versions. Start the "
                "same command on all of them, with copies of the same files."
            )

    def share(self, variables: Sequence[tf.Variable]) -> None:
        """Gives variables the values they have in the chief."""
        for variable in variables if self._has_others else ():
            # Collective operations know no unsigned integers, such as the states of seeds.
            dtype = variable.dtype if variable.dtype.is_floating else tf.int64
            with lost_workers():
                value = self._of_first(tf.cast(variable.read_value(), dtype))
            variable.assign(tf.cast(value, variable.dtype))

    def _on_replicas(self, function: Callable[[tf.Tensor], tf.Tensor]) -> Any:
        """Returns a function that runs on all replicas and has the same result on each."""

        def run(value: tf.Tensor) -> tf.Tensor:
            results = self.strategy.run(function, args=(value,))
            return self.strategy.experimental_local_results(results)[0]

        return tf.function(run, autograph=False, reduce_retracing=True)


def _gathered(numbers: tf.Tensor) -> tf.Tensor:
    return tf.distribute.get_replica_context().all_gather(numbers[tf.newaxis], axis=0)


def _of_first(value: tf.Tensor) -> tf.Tensor:
    context = tf.distribute.get_replica_context()
    is_first = tf.equal(context.replica_id_in_sync_group, 0)
    return context.all_reduce("SUM", tf.where(is_first, value, tf.zeros_like(value)))


class _SharedInterrupt(Interrupt):
    """Stops several processes after the same step, when Ctrl-C is pressed in one of them.

    Ctrl-C takes effect when the processes next ask each other. In between, a process that stops
    would leave the others waiting. The time of training is that of the chief.

    Args:
        gather: Returns the numbers of all processes, `(num_processes, n)`, the chief first.
    """

    def __init__(self, gather: Callable[[Sequence[float]], np.ndarray]) -> None:
        super().__init__()
        self._gather = gather
        self._is_pressed = False

    def agreed(self, seconds: float) -> float:
        """Asks the others whether to stop; returns the seconds of the chief."""
        answers = self._gather([seconds, float(self._is_pressed)])
        self.is_wanted = bool(answers[:, 1].any())
        return float(answers[0, 0])

    def _record(self, number: int, frame: FrameType | None) -> None:
        if self._is_pressed:
            raise KeyboardInterrupt
        self._is_pressed = True
        self.announce()


class FollowingLoop(TrainingLoop):
    """Trains for the steps of the chief, which evaluates and writes.

    The run folder is a temporary one, with nothing but the steps of the history.
    """

    def resume(self) -> bool:
        """Does nothing, because the state comes from the chief."""
        return False

    def run(self) -> TrainingProgress:
        """Trains to the end.

        Raises:
            TrainingError: The loss is not finite, or the weights have grown too large.
            KeyboardInterrupt: Ctrl-C was pressed in a worker.
        """
        progress = self.make_progress()
        with progress, self._interrupt:
            for stop in self._stops():
                if not progress.is_out_of_time:
                    self._train_until(stop, progress)
                    self.folder.append_history({"step": self.step})
        return progress
