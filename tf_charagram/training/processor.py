"""Threads and number types that a run computes with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import tensorflow as tf

from tf_charagram.encoders import encoder_class
from tf_charagram.encoders.base import is_padded
from tf_charagram.training.settings import RunConfig

# TensorFlow's graph rewriter changes only operations known to tolerate it: matrix products,
# convolutions and operations between them, not sums, logarithms or losses.
_BFLOAT16_OPTION = "auto_mixed_precision_onednn_bfloat16"
# As Linux names them.
_BFLOAT16_INSTRUCTIONS = {"avx512_bf16", "amx_bf16"}


def default_threads(config: RunConfig) -> int | None:
    """Returns the best number of threads per operation for a run; `None` is one per core.

    Operations on words, on averages of a few words, and on frozen features are so small that
    threads wait for each other longer than they work. Different operations still run in parallel.
    """
    if getattr(config, "freeze", False):
        return 1
    encoder = encoder_class(config.encoder)
    is_small = config.task == "words" or encoder.vectorizer == "words"
    return 1 if is_small and not is_padded(encoder) else None


def set_threads(config: RunConfig) -> None:
    """Sets the best number of threads per operation for a run."""
    limit_threads(default_threads(config))


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


@contextmanager
def products_in(dtype: str) -> Iterator[None]:
    """Sets the type of matrix products and convolutions in graphs that run inside.

    Args:
        dtype: `"float32"`; or `"bfloat16"`, which has no effect on a CPU without instructions for
            it, where it is slower, nor with a GPU, whose float32 products already go through its
            tensor cores as TF32.
    """
    before = tf.config.optimizer.get_experimental_options().get(_BFLOAT16_OPTION, False)
    is_faster = has_bfloat16_instructions() and not tf.config.list_physical_devices("GPU")
    use_bfloat16 = dtype == "bfloat16" and is_faster
    tf.config.optimizer.set_experimental_options({_BFLOAT16_OPTION: use_bfloat16})
    try:
        yield
    finally:
        tf.config.optimizer.set_experimental_options({_BFLOAT16_OPTION: before})


@cache
def has_bfloat16_instructions() -> bool:
    """Whether the CPU has instructions for products in bfloat16; false if unknown."""
    try:
        words = Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    except OSError:
        return False
    return not _BFLOAT16_INSTRUCTIONS.isdisjoint(words)
