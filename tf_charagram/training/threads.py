"""How many threads one operation may use."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import tensorflow as tf

from tf_charagram.encoders import encoder_class
from tf_charagram.encoders.base import is_padded
from tf_charagram.text.batches import num_threads
from tf_charagram.training.settings import RunConfig


def default_threads(config: RunConfig) -> int | None:
    """Returns the threads that suit a run best, or `None` for one per core.

    Operations on words, on averages of a few words, and on the vectors that a head alone learns
    from are so small that threads wait for each other longer than they work; different operations
    still run side by side, but for those of a head alone, see `FeatureModel`.
    """
    if getattr(config, "freeze", False):
        return 1
    encoder = encoder_class(config.encoder)
    is_small = config.task == "words" or encoder.vectorizer == "words"
    return 1 if is_small and not is_padded(encoder) else None


def set_threads(config: RunConfig, num_processes: int = 1) -> None:
    """Sets the threads that a run asks for, or that suit it best.

    Args:
        config: Its settings.
        num_processes: How many of its workers share the cores of this machine.
    """
    number = config.threads or default_threads(config)
    if num_processes > 1:
        number = number or max(1, num_threads() // num_processes)
        # Operations that wait for another to end would take the core of another worker.
        _unless_begun(tf.config.threading.set_inter_op_parallelism_threads, 1)
    limit_threads(number)


def limit_threads(number: int | None) -> None:
    """Sets the threads of an operation for this process, if TensorFlow has not begun to work.

    Args:
        number: How many; `None` leaves one per core.
    """
    if number is not None:
        _unless_begun(tf.config.threading.set_intra_op_parallelism_threads, number)


def _unless_begun(setting: Callable[[int], None], number: int) -> None:
    # TensorFlow has begun to work in a notebook, or under another program.
    with suppress(RuntimeError):
        setting(number)
