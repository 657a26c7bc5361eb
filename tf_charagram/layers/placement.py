"""Where operations run that read variables, and whether they copy them."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import tensorflow as tf


def beside(value: tf.Tensor | tf.IndexedSlices | tf.Variable) -> AbstractContextManager[Any]:
    """Returns a context whose operations run on the device that a value was asked to be on.

    TensorFlow would run what has no device on its first one, and move values there and back.
    """
    return tf.device(value.device) if value.device else nullcontext()


def read_in_place(variable: tf.Variable) -> None:
    """Makes reads of a variable not copy it, as they do after its rows were updated."""
    tf.raw_ops.DisableCopyOnRead(resource=variable.handle)
