"""What a step computes in: products in bfloat16 where the processor has instructions for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import tensorflow as tf

# TensorFlow's graph rewriter changes only what it knows to tolerate it: products of matrices and
# convolutions and what lies between them, not sums, logarithms or losses.
_OPTION = "auto_mixed_precision_onednn_bfloat16"
# As Linux names them.
_INSTRUCTIONS = {"avx512_bf16", "amx_bf16"}


@contextmanager
def products_in(dtype: str) -> Iterator[None]:
    """Lets graphs that run inside compute products of matrices and convolutions in a type.

    Args:
        dtype: `"float32"`; or `"bfloat16"`, which changes nothing on a CPU without instructions for
            it, where it is slower, nor beside a GPU, whose products in float32 already go through
            its tensor cores, as TF32.
    """
    before = tf.config.optimizer.get_experimental_options().get(_OPTION, False)
    is_faster = has_instructions() and not tf.config.list_physical_devices("GPU")
    tf.config.optimizer.set_experimental_options({_OPTION: dtype == "bfloat16" and is_faster})
    try:
        yield
    finally:
        tf.config.optimizer.set_experimental_options({_OPTION: before})


@cache
def has_instructions() -> bool:
    """Whether the CPU has instructions for products in bfloat16; false if that is not known."""
    try:
        words = Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    except OSError:
        return False
    return not _INSTRUCTIONS.isdisjoint(words)
