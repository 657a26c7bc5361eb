"""How many threads one operation may use."""

from __future__ import annotations

import tensorflow as tf

from tf_charagram.config import RunConfig
from tf_charagram.encoders import encoder_class


def default_threads(config: RunConfig) -> int | None:
    """Returns the threads that suit a run best, or `None` for one for each core.

    Operations on words, on averages of a few words, and on the vectors that a head alone learns
    from are so small that threads wait for each other longer than they work; different operations
    still run side by side.
    """
    if getattr(config, "freeze", False):
        return 1
    encoder = encoder_class(config.encoder)
    is_small = config.task == "words" or encoder.vectorizer == "words"
    return 1 if is_small and not getattr(encoder, "is_padded", False) else None


def set_threads(config: RunConfig) -> None:
    """Sets the threads that a run asks for, or that suit it best."""
    limit_threads(config.threads or default_threads(config))


def limit_threads(number: int | None) -> None:
    """Sets the threads of an operation for this process, if TensorFlow has not begun to work.

    Args:
        number: How many; `None` leaves one for each core.
    """
    if number is None:
        return
    try:
        tf.config.threading.set_intra_op_parallelism_threads(number)
    except RuntimeError:  # It has, as in a notebook or under another program.
        return
