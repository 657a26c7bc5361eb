"""Threads that a run computes with."""

from __future__ import annotations

from contextlib import suppress

import tensorflow as tf

from tf_charagram.encoders import encoder_class
from tf_charagram.encoders.base import is_padded
from tf_charagram.training.settings import RunConfig


def _default_threads(config: RunConfig) -> int | None:
    """Returns the best number of threads per operation for a run; `None` is one per core.

    Operations on words, on averages of a few words, and on frozen features are so small that
    threads wait for each other longer than they work. Different operations still run in parallel.
    """
    if config.freeze == "encoder":
        return 1
    encoder = encoder_class(config.encoder)
    is_small = config.task == "words" or encoder.vectorizer == "words"
    return 1 if is_small and not is_padded(encoder) else None


def set_threads(config: RunConfig) -> None:
    """Sets the best number of threads per operation for a run."""
    limit_threads(_default_threads(config))


def limit_threads(number: int | None) -> None:
    """Sets the number of threads per operation, unless TensorFlow has started computing.

    Args:
        number: Number of threads; `None` leaves one per core.
    """
    if number is None:
        return
    # In a notebook or another program, TensorFlow may have started computing.
    with suppress(RuntimeError):
        tf.config.threading.set_intra_op_parallelism_threads(number)
