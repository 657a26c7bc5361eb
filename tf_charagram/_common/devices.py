"""The CPU, on which text becomes ids and rows are summed, also on a machine with a GPU."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import tensorflow as tf

P = ParamSpec("P")
R = TypeVar("R")

#: Exists in every process.
CPU = "CPU:0"


def on_cpu(function: Callable[P, R]) -> Callable[P, R]:
    """Runs the operations of a function on `CPU:0`, whatever the device scope of the caller.

    A GPU has no kernels for strings and look-up tables, and TensorFlow mixes up tensors if several
    threads run single operations on it. A scope belongs to a thread, and a thread starts without
    one, so the scope is entered in the function itself. Variables stay on their devices.

    Args:
        function: Must not be a generator, which would leave the scope to its consumer.
    """

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with tf.device(CPU):
            return function(*args, **kwargs)

    return run
