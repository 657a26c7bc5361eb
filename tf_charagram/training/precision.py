"""What a step computes in: products in bfloat16 where the processor has instructions for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import tensorflow as tf

# TensorFlow rewrites the graph only for a CPU with these instructions (AVX512-BF16, AMX), and only
# what it knows to bear it: products of matrices and convolutions, not sums, logarithms or losses.
_OPTION = "auto_mixed_precision_onednn_bfloat16"


@contextmanager
def products_in(dtype: str) -> Iterator[None]:
    """Lets graphs that run inside compute products of matrices and convolutions in a type.

    On a GPU nothing changes: float32 products already go through its tensor cores, as TF32.

    Args:
        dtype: `"float32"`; or `"bfloat16"` where the CPU is made for it.
    """
    before = tf.config.optimizer.get_experimental_options().get(_OPTION, False)
    tf.config.optimizer.set_experimental_options({_OPTION: dtype == "bfloat16"})
    try:
        yield
    finally:
        tf.config.optimizer.set_experimental_options({_OPTION: before})
